// Perfect-information Monte Carlo for Hearts: Algorithm 2 of the GO-MCTS paper with the deal sampler.
#pragma once
#include <cstdint>

#include "core/isa.hpp"
#include "hearts/uct.hpp"
#include "hearts/worlds.hpp"

namespace trickformer::hearts {

struct PimcOptions : UctOptions {  // `runs` are per world
  int worlds = 50;
  bool uct = true;  // false: every action gets the same number of playouts
  // Outputs for each world, or null. values: float [worlds][kNumCards], the value of each card, unchanged if the card
  // was not tried. holders: int8 [worlds][kNumCards], the holder of each card, unchanged if it has none.
  float* values = nullptr;
  std::int8_t* holders = nullptr;
};

struct PimcResult {
  double value[kNumCards] = {};         // by card: mean over worlds, in units of v(o)
  std::int64_t visits[kNumCards] = {};  // by card: simulations over all worlds; 0 if the card was not tried
};

// Values of the cards that the seat of the view may pass or play. It must have a move (Deals::may_act). World i uses
// the random stream (seed, i). Results are the same on every machine.
using Pimc = PimcResult(const Deals& deals, const PimcOptions& options, std::uint64_t seed);
TRICKFORMER_PER_ISA(Pimc, pimc);

}  // namespace trickformer::hearts
