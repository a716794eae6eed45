#if defined(__x86_64__)
#define TRICKFORMER_ISA v3
#include "skat/random.inl"

namespace trickformer::skat::detail {
void random_games_v3(bool seeger, std::uint64_t seed, std::uint64_t first, std::size_t n, std::uint8_t* history,
                     std::int16_t* score) {
  random_games_here(seeger, seed, first, n, history, score);
}
}  // namespace trickformer::skat::detail
#endif
