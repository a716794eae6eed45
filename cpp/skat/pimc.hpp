// Card play in Skat by perfect-information Monte Carlo (Algorithm 2 of the GO-MCTS paper) on weighted worlds, each
// solved with open cards.
#pragma once
#include "skat/inference.hpp"
#include "skat/solver.hpp"

namespace trickformer::skat {

struct PimcOptions {
  std::size_t worlds = 160;     // solved for a decision; equal ones are solved once
  std::size_t oversample = 32;  // uniform worlds drawn for each of them where they are weighted; 0: uniform
  BidModel model = {};
};

struct PimcResult {
  int card = -1;
  double value = 0;                           // of that card: the own result less the mean of the others'
  std::array<double, kNumCards> values = {};  // by card, in the same units; of legal cards
  std::size_t worlds = 0;                     // different ones
  double effective = 0;                       // effective sample size of the uniform worlds behind them
  std::uint64_t nodes = 0;
};

// The card of the seat on turn with the highest mean over worlds of what the game then brings under open best play.
//
// While hands are long, a world is asked only whether card points suffice: first for the threshold that decides most,
// and after the first trick for others as long as several cards are equally good. Later it is solved for the exact card
// points. Either way card points beyond what the score counts break ties, at kPointWorth a point, so that a game that
// open cards have decided is still played out with care; what is then left of a tie is decided by the scripted player,
// then by the lowest card points.
PimcResult pimc_card(const Deals& deals, const Evaluation& evaluation, const PimcOptions& options, const Stakes& stakes,
                     std::uint64_t seed, Solver& solver);

// What the game is worth to the soloist, in the units of Stakes, if he ends with these card points; schwarz is taken to
// mean all 120 or none of them.
double worth(const SeatView& view, Cards soloists_cards, int points, const Stakes& stakes);

inline constexpr double kPointWorth = 0.1;

}  // namespace trickformer::skat
