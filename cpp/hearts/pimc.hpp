// Perfect-information Monte Carlo for Hearts: Algorithm 2 of the GO-MCTS paper on the deal sampler.
#pragma once
#include <cstdint>

#include "core/isa.hpp"
#include "hearts/uct.hpp"
#include "hearts/worlds.hpp"

namespace trickformer::hearts {

struct PimcOptions : UctOptions {  // `runs` of each world
  int worlds = 50;
  bool uct = true;  // false: every action gets the same number of playouts
  // Where to say what was found in each world, or null: float [worlds][kNumCards], by card the value, left as it is
  // where the card was not tried; int8 [worlds][kNumCards], who holds each card, left as it is where nobody does.
  float* values = nullptr;
  std::int8_t* holders = nullptr;
};

struct PimcResult {
  double value[kNumCards] = {};         // by card: mean over worlds, in units of v(o)
  std::int64_t visits[kNumCards] = {};  // by card: simulations over all worlds; 0 where the card was not tried
};

// Values of what the seat of the view may pass or play, which must be something (Deals::may_act). World i is drawn
// from, and evaluated with, the stream (seed, i). Results are the same on every machine.
using Pimc = PimcResult(const Deals& deals, const PimcOptions& options, std::uint64_t seed);
TRICKFORMER_PER_ISA(Pimc, pimc);

}  // namespace trickformer::hearts
