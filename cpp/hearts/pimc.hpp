// Perfect-information Monte Carlo for Hearts: Algorithm 2 of the GO-MCTS paper on the deal sampler.
#pragma once
#include <cstddef>
#include <cstdint>

#include "hearts/types.hpp"

namespace trickformer::hearts {

struct Deals;

struct PimcOptions {
  int worlds = 50;
  int runs = 2000;             // simulations a world
  double c = 0.4;              // exploration of UCT
  bool uct = true;             // false: every action gets the same number of playouts
  bool light_playouts = true;  // false: uniformly random
};

// One node of a UCT tree: the position after `card`. Children stand together, in the order in which they were
// first tried.
struct UctNode {
  std::int64_t sum = 0;       // of rewards of the seat that chose `card`, in units of v(o) / 78
  Cards untried = 0;
  std::int32_t visits = 0, first = -1;  // first child, -1 where the node is a leaf
  std::uint8_t card = 0, children = 0;
};

struct PimcResult {
  double value[kNumCards] = {};        // by card: mean over worlds, in units of v(o)
  std::int64_t visits[kNumCards] = {}; // by card: simulations over all worlds; 0 where the card was not tried
};

// Values of what the seat on turn may pass or play; its view must have more than no card to choose from. World
// i is drawn from, and evaluated with, the stream (seed, i). Results are the same on every machine.
PimcResult pimc(const Deals& deals, const PimcOptions& options, std::uint64_t seed);

namespace detail {
using Pimc = void(const Deals&, const PimcOptions&, std::uint64_t, UctNode*, const double*, PimcResult&);
#if defined(__x86_64__)
Pimc pimc_v3;
#endif
}  // namespace detail

}  // namespace trickformer::hearts
