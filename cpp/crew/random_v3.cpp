#if defined(__x86_64__)
#define TRICKFORMER_ISA v3
#include "crew/random.inl"

namespace trickformer::crew::detail {
void random_games_v3(std::span<const Mission> missions, std::uint64_t seed, std::uint64_t first, std::size_t n, int tries,
                     std::uint8_t* history, std::int8_t* result) {
  random_games_here(missions, seed, first, n, tries, history, result);
}
}  // namespace trickformer::crew::detail
#endif
