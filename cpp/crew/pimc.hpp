// Perfect-information Monte Carlo for The Crew (Algorithm 2 of the GO-MCTS paper). A mission has one score for all
// players. So the value of a world is whether the four can still succeed in it with open hands.
#pragma once
#include "crew/solver.hpp"
#include "crew/worlds.hpp"

namespace trickformer::crew {

struct PimcOptions {
  int worlds = 20;
  // cards tried for each action in a world; if they are not enough, the value is kUnknownWorth
  std::uint64_t nodes = 2000;
};

struct PimcResult {
  int action = -1;
  double value = 0;  // share of worlds in which the mission can succeed after this action
  int worlds = 0;    // number of worlds solved; 0 if the scripted player decided
};

inline constexpr double kUnknownWorth = 0.5;

// Returns whether the four can succeed in a world after an action, once the tricks have begun as described below: 1, 0
// or kUnknownWorth. seed: for the chance moves until then.
double could_succeed(State world, int action, std::uint64_t seed, const Draws& draws, std::uint64_t nodes,
                     Solver& solver);

// Returns the action of the seat on turn after which most worlds can still succeed. Ties go to the action of `rules`,
// or among cards to the one that `rules` values most. All actions are tried in the same worlds. An action that cannot
// catch up any more is dropped. Sampling stops when one action is left, or when half of the worlds have not separated
// any two.
//
// Before the tricks, `rules` makes the remaining statements in each world, and chance the remaining chance moves.
// Messages, passes, tokens and the choice of the silent member are left to `rules`, because a solver with open hands
// cannot see their value.
//
// log_odds: null, or [kNumCards][kPlaces], the odds for drawing worlds; see Deals.
PimcResult pimc(const SeatView& view, const PimcOptions& options, std::uint64_t seed, Solver& solver,
                const double* log_odds = nullptr);

}  // namespace trickformer::crew
