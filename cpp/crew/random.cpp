#include "crew/random.inl"

namespace trickformer::crew {

void random_games(std::span<const Mission> missions, std::uint64_t seed, std::uint64_t first, std::size_t n, int tries,
                  std::uint8_t* history, std::int8_t* result) {
#if defined(__x86_64__)
  static const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  if (v3) return detail::random_games_v3(missions, seed, first, n, tries, history, result);
#endif
  random_games_here(missions, seed, first, n, tries, history, result);
}

}  // namespace trickformer::crew
