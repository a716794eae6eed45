#if defined(__x86_64__)
#define TRICKFORMER_ISA v3
#include "hearts/players.inl"

namespace trickformer::hearts::detail {
void mixed_hands_v3(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n, const Cast& cast,
                    std::uint8_t* history, std::int8_t* score, std::uint8_t* seated) {
  mixed_hands_here(rules, seed, first, n, cast, history, score, seated);
}
}  // namespace trickformer::hearts::detail
#endif
