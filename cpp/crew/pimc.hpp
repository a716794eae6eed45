// The Crew by perfect-information Monte Carlo (Algorithm 2 of the GO-MCTS paper): a mission has one score for all, so
// that a world is solved by asking whether the four can still succeed in it with open hands.
#pragma once
#include "crew/solver.hpp"
#include "crew/worlds.hpp"

namespace trickformer::crew {

struct PimcOptions {
  int worlds = 20;
  std::uint64_t nodes = 2000;  // cards tried for an action in a world; not enough of them count as kUnknownWorth
};

struct PimcResult {
  int action = -1;
  double value = 0;  // share of worlds in which the mission can succeed after that action
  int worlds = 0;    // solved; 0 where the scripted player decided
};

inline constexpr double kUnknownWorth = 0.5;

// Whether the four can succeed in a world after that action, once the tricks have begun as below: 1, 0 or
// kUnknownWorth. seed: of what chance turns up until then.
double could_succeed(State world, int action, std::uint64_t seed, const Draws& draws, std::uint64_t nodes,
                     Solver& solver);

// The action of the seat on turn after which most worlds can still succeed; of equal ones that of `rules`, or of equal
// cards the one that `rules` likes best. All actions are asked about the same worlds; one that cannot catch up any more
// is asked about no further, and worlds are drawn no further once one is left, or half of them tell none apart.
//
// Before the tricks, `rules` says what is still to be said in each world, and chance turns up what is still to be
// turned up. Messages, passes, tokens and the silent member are left to `rules`: open hands see little worth in them.
//
// log_odds: null, or [kNumCards][kPlaces], by which worlds are drawn; see Deals.
PimcResult pimc(const SeatView& view, const PimcOptions& options, std::uint64_t seed, Solver& solver,
                const double* log_odds = nullptr);

}  // namespace trickformer::crew
