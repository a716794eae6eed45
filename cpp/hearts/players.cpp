#include "hearts/players.inl"

namespace trickformer::hearts {

void mixed_hands(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n, const Cast& cast,
                 std::uint8_t* history, std::int8_t* score, std::uint8_t* seated) {
#if defined(__x86_64__)
  static const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  if (v3) return detail::mixed_hands_v3(rules, seed, first, n, cast, history, score, seated);
#endif
  mixed_hands_here(rules, seed, first, n, cast, history, score, seated);
}

}  // namespace trickformer::hearts
