// Worlds of Skat weighted by what the others have said: a model of how players bid, lay away and declare, and
// importance resampling of uniform worlds by it. After Kermit's inference (Buro et al. 2009, section 4), which weights
// worlds by what the soloist's and the defenders' bids say about their hands.
#pragma once
#include <vector>

#include "skat/bidding.hpp"
#include "skat/worlds.hpp"

namespace trickformer::skat {

// How far the model trusts its own idea of how others bid. Temperatures are in Seeger-Fabian points.
struct BidModel {
  double passing = -15;  // what passing is worth to others
  double bid = 20;       // temperature of going on in the auction
  double choice = 10;    // of what is laid away and declared
  double floor = 0.15;   // share of choices made blindly, each as likely: no world is ruled out
};

// A seat's calls in the auction, as indices of calls: its highest bid lies between the two.
struct BidRange {
  int accepted = -1;     // the highest call that it made or held
  int refused = kCalls;  // the call that it would not make or hold; kCalls: none
};
std::array<BidRange, kPlayers> bid_ranges(const SeatView& view);

// What ten cards expect from the best contract at a bid, by the model before the skat; falls with the bid.
double prospect_before(const Evaluation& evaluation, Cards ten, int seat, int bid, const Stakes& stakes);

// Probability of what a seat said in the auction, given its ten cards. The highest call that a seat goes to is a random
// number between none and all of them, so the probabilities of all that it can say sum to 1.
double bid_chance(const Evaluation& evaluation, const BidModel& model, const BidRange& said, Cards ten, int seat,
                  const Stakes& stakes);
// Probability that a soloist picks up or plays hand as he did, and declares what he did, given the ten cards that he
// keeps.
double declared_chance(const Evaluation& evaluation, const BidModel& model, const SeatView& view, const World& world,
                       const Stakes& stakes);
// Of all that the seats other than the view's own have said, in this world: auction and declaration.
double spoken_chance(const Evaluation& evaluation, const BidModel& model, const SeatView& view, const World& world,
                     const Stakes& stakes);
// What the two cards that another soloist laid away add to declared_chance, which takes them as given: the probability of
// laying these away and declaring what he did, of all that he could do with his twelve, over that of declaring it with
// the ten that he kept. 1 where nobody laid away. The product of the two counts nothing twice.
double laid_chance(const Evaluation& evaluation, const BidModel& model, const SeatView& view, const World& world,
                   const Stakes& stakes);

struct WeightedWorlds {
  std::vector<World> worlds;   // different in the cards now held and in the skat
  std::vector<double> weight;  // sums to 1
  double effective = 0;        // how many uniform draws from the weighted worlds would be worth as much
};

// At most `n` different worlds: n uniform draws; or, where oversample > 0, of oversample * n uniform draws those that
// systematic resampling leaves (all that differ, where they are n or fewer). Weights are spoken_chance times
// laid_chance. The latter is slow, so where another seat has laid cards away, resampling by the former leaves kSecond * n
// first.
inline constexpr std::size_t kSecond = 4;
WeightedWorlds draw_worlds(const Deals& deals, const Evaluation& evaluation, const BidModel& model,
                           const Stakes& stakes, std::size_t n, std::size_t oversample, Rng& rng);

}  // namespace trickformer::skat
