// Card play of `rules` in null: the soloist ducks. The defenders lead suits in which a low card may leave the trick
// with the soloist.
#include "skat/rules_player.hpp"

#include "skat/hand.hpp"

namespace trickformer::skat {
namespace {

// Order of the ranks 7 8 9 Q K 10 A J in null: 7 8 9 10 J Q K A.
constexpr int kNullRank[8] = {0, 1, 2, 5, 6, 3, 7, 4};

}  // namespace

int rules_null_card(const SeatView& v, CardThoughts* thoughts) {
  const int lead = v.lead(), me = v.seat, solo = v.soloist(), in_trick = v.num_plays % kPlayers;
  const Cards legal = legal_plays(Kind::kNull, v.hand, lead), unseen = v.unseen() | v.shown;
  const bool last = in_trick == kPlayers - 1;
  int best = -1;
  double most = 0;
  for (Cards rest = legal; rest;) {
    const int card = take_lowest(rest), suit = card / 8, rank = kNullRank[card % 8];
    const unsigned own = null_suit(v.hand, suit), others = null_suit(unseen, suit);
    const int under = std::popcount(others & ((1u << rank) - 1)), over = std::popcount(others >> rank);
    const bool follows = in_trick && suit == lead / 8;
    const int best_rank = in_trick ? kNullRank[v.best_card % 8] : -1;
    double worth = 0;
    if (me == solo) {
      // The highest card that stays below; otherwise the card whose loss makes the rest of the hand safest.
      const bool ducks = in_trick && (!follows || rank < best_rank);
      worth = null_danger(own, others) - null_danger(own & ~(1u << rank), others) + 0.01 * rank;
      // The risk that the card keeps the trick rises with the lower cards of others and falls with their higher ones.
      const double kept = 100.0 * under / (under + over + 0.5) + 100.0 / (in_trick ? 1 << over : 1 << 2 * over);
      if (!ducks) worth -= last ? 200 : kept;
    } else {
      const unsigned his = v.shown ? null_suit(v.shown, suit) : others;
      const bool solo_acts = in_trick == 0 || (in_trick == 1 && (me + 1) % kPlayers == solo);
      const bool his_trick = in_trick && v.best_seat == solo;
      const bool can_hold = !(v.cannot[solo] & suit_cards(suit)) && his;
      if (his_trick) {  // stay below him, as high as possible; a partner still to play may do so too
        worth = !follows || rank < best_rank ? 50 + rank : rank - 100;
      } else if (solo_acts) {
        if (in_trick && !follows) {
          worth = 10 - 3 * std::popcount(own) + 0.5 * rank;
        } else {
          // Low cards leave the trick with him if he has the suit and few lower cards.
          const int his_under = std::popcount(his & ((1u << rank) - 1));
          worth = (can_hold ? 6.0 : -6.0) - (v.shown ? 6.0 : 2.0) * his_under - 0.5 * rank - 0.7 * std::popcount(own);
        }
      } else {  // the trick is ours: discard short suits, and high cards of suits that will be led low
        worth = follows ? double(rank) : 10 - 3 * std::popcount(own) + 0.5 * rank;
      }
    }
    if (thoughts) thoughts->worth[card] = float(worth / 100);
    if (best < 0 || worth > most) {
      best = card;
      most = worth;
    }
  }
  return best;
}

}  // namespace trickformer::skat
