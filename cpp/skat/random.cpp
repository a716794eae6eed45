#include "skat/random.inl"

namespace trickformer::skat {

void random_games(bool seeger, std::uint64_t seed, std::uint64_t first, std::size_t n, std::uint8_t* history,
                  std::int16_t* score) {
#if defined(__x86_64__)
  static const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  if (v3) return detail::random_games_v3(seeger, seed, first, n, history, score);
#endif
  random_games_here(seeger, seed, first, n, history, score);
}

}  // namespace trickformer::skat
