#include "hearts/random.inl"

namespace trickformer::hearts {

void random_hands(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n, std::uint8_t* history,
                  std::int8_t* score) {
#if defined(__x86_64__)
  static const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  if (v3) return detail::random_hands_v3(rules, seed, first, n, history, score);
#endif
  random_hands_here(rules, seed, first, n, history, score);
}

}  // namespace trickformer::hearts
