// Sampled worlds as arrays, built for each instruction set.
#include "hearts/sampler.hpp"
#include "hearts/worlds.hpp"

namespace trickformer::hearts::built::TRICKFORMER_ISA {

void sample_worlds(const Deals& deals, std::uint64_t seed, std::uint64_t first, std::size_t n, std::int16_t* hidden) {
  World w;
  for (std::size_t i = 0; i < n; ++i, hidden += kHidden) {
    Rng rng(seed, first + i);
    draw(deals, rng, w);
    for (int card = 0; card < kNumCards; ++card)
      hidden[card] =
          std::int16_t((w.dealt[1] >> card & 1) + 2 * (w.dealt[2] >> card & 1) + 3 * (w.dealt[3] >> card & 1));
    for (int j = 0; j < kPlayers * kPass; ++j)
      hidden[kNumCards + j] = std::int16_t(w.passes[j] == kNoAction ? -1 : w.passes[j]);
  }
}

}  // namespace trickformer::hearts::built::TRICKFORMER_ISA
