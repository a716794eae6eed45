// What a hand of Skat is worth to a learned evaluation: bids, the cards laid away, the declaration.
#pragma once
#include "skat/evaluation.hpp"
#include "skat/seat_view.hpp"

namespace trickformer::skat {

inline constexpr int kSkats = 231;  // pairs that ten cards leave to chance

// A contract, the two cards laid away for it (none: by hand) and its expected result in the units of Stakes.
struct Offer {
  int declaration = int(Kind::kGrand);
  Cards laid = 0;
  double chance = 0, score = -1e9;
};

// Ten cards before the skat: an expectimax over the 231 skats, the 66 ways to lay two of twelve cards away and the
// seven contracts, and the contracts by hand. Schneider and schwarz are left out: a game is worth what is certain with
// the skat known, a bid that this does not cover is lost.
class Prospects {
 public:
  Prospects(const Evaluation& evaluation, Cards ten, int seat, const Stakes& stakes);

  double picking_up(int bid) const;
  Offer by_hand(int bid) const;
  double score(int bid) const { return std::max(picking_up(bid), by_hand(bid).score); }
  // Mean over skats of the best chance that a declaration has after laying away.
  double mean_chance(int declaration) const;

 private:
  Stakes stakes_;
  std::array<float, kSkats * kDeclarations> chance_;
  std::array<std::int16_t, kSkats * kDeclarations> value_, hand_value_;
  std::array<double, kDeclarations> hand_chance_;
};

// The highest log odds of each declaration over the 66 ways to lay two of twelve cards away, and which those are;
// `already` are among them.
struct Laying {
  double logit[kDeclarations];
  Cards laid[kDeclarations];
};
Laying best_laying(const Evaluation& evaluation, Cards twelve, Cards already, int seat);

// The best contract with twelve cards; those of `already` are laid away (at most two). Ties: the first declaration,
// then the lowest cards.
Offer best_offer(const Evaluation& evaluation, Cards twelve, Cards already, int bid, int seat, const Stakes& stakes);

// What a seat says before the cards are played: the next call or holding up to the highest bid that is worth more than
// `passing`, and 18 in forehand when all have passed if it is worth more than nothing; then the best contract. Nothing
// is announced in hand games.
struct AuctionChoice {
  int action = kPass;
  double value = 0;  // what is then expected, in the units of Stakes
};
// `prospects`: of the ten cards dealt to the view's seat.
AuctionChoice say_by(const Evaluation& evaluation, const Prospects& prospects, const SeatView& view,
                     const Stakes& stakes, double passing);

}  // namespace trickformer::skat
