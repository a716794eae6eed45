// Worlds of Skat weighted by the actions of the others: a model of how players bid, discard and declare, and importance
// resampling of uniform worlds by it. It follows Kermit's inference (Buro et al. 2009, section 4), which weights worlds
// by what the bids of the soloist and the defenders imply about their hands.
#pragma once
#include <vector>

#include "skat/bidding.hpp"
#include "skat/worlds.hpp"

namespace trickformer::skat {

// Parameters of the model of how others bid. Temperatures are in Seeger-Fabian points.
struct BidModel {
  double passing = -15;  // value of passing to other players
  double bid = 20;       // temperature of bidding on
  double choice = 10;    // temperature of discards and declaration
  double floor = 0.15;   // share of uniformly random choices, so that no world is ruled out
};

// A seat's calls in the auction, as indices of calls. Its highest bid lies between the two.
struct BidRange {
  int accepted = -1;     // highest call that it made or held
  int refused = kCalls;  // lowest call that it refused to make or hold; kCalls: none
};
std::array<BidRange, kPlayers> bid_ranges(const SeatView& view);

// Expected value of ten cards at a bid with the best contract, by the model before the skat is seen. It falls with the
// bid.
double prospect_before(const Evaluation& evaluation, Cards ten, int seat, int bid, const Stakes& stakes);

// Probability of a seat's actions in the auction, given its ten cards. In the model, the highest call that a seat goes
// to is random, from none to all. So the probabilities of all possible actions sum to 1.
double bid_chance(const Evaluation& evaluation, const BidModel& model, const BidRange& said, Cards ten, int seat,
                  const Stakes& stakes);
// Probability that a soloist picks up or plays a hand game as he did, and makes his declaration, given the ten cards
// that he keeps.
double declared_chance(const Evaluation& evaluation, const BidModel& model, const SeatView& view, const World& world,
                       const Stakes& stakes);
// Probability of all actions of the other seats in this world, in auction and declaration.
double spoken_chance(const Evaluation& evaluation, const BidModel& model, const SeatView& view, const World& world,
                     const Stakes& stakes);
// The factor that another soloist's two discards add to declared_chance, which takes them as given. It is the
// probability of these discards with this declaration, among all choices with his twelve cards, divided by the
// probability of the declaration with the ten cards kept. 1 if nobody discarded. The product of both counts nothing
// twice.
double laid_chance(const Evaluation& evaluation, const BidModel& model, const SeatView& view, const World& world,
                   const Stakes& stakes);

struct WeightedWorlds {
  std::vector<World> worlds;   // they differ in the cards now held or in the skat
  std::vector<double> weight;  // sums to 1
  double effective = 0;        // number of uniform draws that would give the same precision
};

// At most `n` different worlds. They are n uniform draws; or, if oversample > 0, the result of systematic resampling
// from oversample * n uniform draws (all that differ, if these are n or fewer). Weights are spoken_chance times
// laid_chance. The latter is slow. So if another seat has discarded, resampling by the former first reduces the draws
// to kSecond * n.
inline constexpr std::size_t kSecond = 4;
WeightedWorlds draw_worlds(const Deals& deals, const Evaluation& evaluation, const BidModel& model,
                           const Stakes& stakes, std::size_t n, std::size_t oversample, Rng& rng);

}  // namespace trickformer::skat
