// Bids, discards and declaration by a learned evaluation of a hand of Skat.
#pragma once
#include "skat/evaluation.hpp"
#include "skat/seat_view.hpp"

namespace trickformer::skat {

inline constexpr int kSkats = 231;  // pairs of cards that the skat may be, given ten cards

// A contract, its two discards (none: hand game) and its expected result in the units of Stakes.
struct Offer {
  int declaration = int(Kind::kGrand);
  Cards laid = 0;
  double chance = 0, score = -1e9;
};

// The prospects of ten cards before the skat is seen. Picking up is an expectimax over the 231 skats, the 66 ways to
// discard two of twelve cards and the seven contracts. Hand games are evaluated without it. Schneider and schwarz are
// left out: a game has the value that is certain once the skat is known, and it is lost if this value is below the bid.
class Prospects {
 public:
  Prospects(const Evaluation& evaluation, Cards ten, int seat, const Stakes& stakes);

  double picking_up(int bid) const;
  Offer by_hand(int bid) const;
  double score(int bid) const { return std::max(picking_up(bid), by_hand(bid).score); }
  // Mean over skats of the best probability of winning a declaration after discarding.
  double mean_chance(int declaration) const;

 private:
  Stakes stakes_;
  std::array<float, kSkats * kDeclarations> chance_;
  std::array<std::int16_t, kSkats * kDeclarations> value_, hand_value_;
  std::array<double, kDeclarations> hand_chance_;
};

// The best discards for each declaration: the highest log odds over the 66 ways to discard two of twelve cards, and the
// two cards. The cards of `already` are among them.
struct Laying {
  double logit[kDeclarations];
  Cards laid[kDeclarations];
};
Laying best_laying(const Evaluation& evaluation, Cards twelve, Cards already, int seat);

// The best contract with twelve cards, with `already` (at most two cards) among the discards. If scores are equal, the
// chance of winning decides, then the order of the declarations. Of equally good discards it takes the lowest cards.
Offer best_offer(const Evaluation& evaluation, Cards twelve, Cards already, int bid, int seat, const Stakes& stakes);

// An action of a seat before card play. The seat calls or holds up to the highest bid whose value exceeds `passing`.
// Forehand after two passes bids 18 if the expected result is above 0. The soloist then declares the best contract, and
// announces nothing in hand games.
struct AuctionChoice {
  int action = kPass;
  double value = 0;  // expected result, in the units of Stakes
};
// `prospects`: of the ten cards dealt to the view's seat.
AuctionChoice say_by(const Evaluation& evaluation, const Prospects& prospects, const SeatView& view,
                     const Stakes& stakes, double passing);

}  // namespace trickformer::skat
