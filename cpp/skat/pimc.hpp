// Card play in Skat by perfect-information Monte Carlo (Algorithm 2 of the GO-MCTS paper) on weighted worlds, each
// solved with open cards.
#pragma once
#include "skat/inference.hpp"
#include "skat/solver.hpp"

namespace trickformer::skat {

struct PimcOptions {
  std::size_t worlds = 160;     // worlds solved for a decision; equal ones are solved once
  std::size_t oversample = 32;  // uniform worlds drawn for each of them if worlds are weighted; 0: no weights
  BidModel model = {};
};

struct PimcResult {
  int card = -1;
  double value = 0;                           // of that card: the own result less the mean of the others'
  std::array<double, kNumCards> values = {};  // by legal card, in the same units
  std::size_t worlds = 0;                     // number of different worlds
  double effective = 0;                       // effective sample size of the uniform worlds behind them
};

// The card of the seat on turn with the highest mean over worlds of the game's result under open best play.
//
// While hands are long, the solver tests only whether card points reach a threshold: first the threshold that decides
// most, and after the first trick others as long as several cards are equally good. Later it computes exact card
// points. In either case, card points that do not change the score break ties, at kPointWorth per point. So a game that
// is decided with open cards is still played with care. The scripted player breaks the remaining ties, then the lowest
// card points.
PimcResult pimc_card(const Deals& deals, const Evaluation& evaluation, const PimcOptions& options, const Stakes& stakes,
                     std::uint64_t seed, Solver& solver);

// The value of the game for the soloist, in the units of Stakes, if he ends with these card points. 120 or 0 points
// count as schwarz.
double worth(const SeatView& view, Cards soloists_cards, int points, const Stakes& stakes);

inline constexpr double kPointWorth = 0.1;

}  // namespace trickformer::skat
