#if defined(__x86_64__)
#define TRICKFORMER_ISA v3
#include "hearts/random.inl"

namespace trickformer::hearts::detail {
void random_hands_v3(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n,
                     std::uint8_t* history, std::int8_t* score) {
  random_hands_here(rules, seed, first, n, history, score);
}
}  // namespace trickformer::hearts::detail
#endif
