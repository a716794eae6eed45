// Card play of `rules` in suit and grand games: every legal card is priced by the card points that its trick should
// bring, less what the card is worth if it is kept.
#include "skat_rules_player.hpp"

namespace trickformer::skat {
namespace {

// Constants were found by playing deals twice and keeping what scored more, one constant and one side at a time.
// Where the cards lie: how much likelier a card is with the soloist than with the partner, or in the skat laid away.
constexpr double kTrumpWithSoloist = 1.45, kTrumpInSkat = 0.02, kAceWithSoloist = 1.29, kTenInSkat = 1.76;
// Card points that a seat adds to a trick: when it gives way, when it takes it, when it throws in for its partner.
constexpr double kGiven[2] = {0.25, -0.2}, kTaking[2] = {3.94, 3.49}, kSmeared[2] = {4.96, 4.45};
constexpr double kPointsInSkat = 5;  // where it is not known
constexpr double kDecides[2] = {11.8, 13};  // extra, of a trick that decides who wins
constexpr double kBeatsTwice[2] = {0.5, 0.23};  // how often the third seat can still beat the second's better card
// Worth of a trump kept.
constexpr double kTrumpKept[2] = {3.54, -0.28}, kTrumpRank[2] = {0.81, 8.35}, kTrumpMaster[2] = {14.97, 13.28};
// Worth of a side suit card kept: the points a later trick brings besides, and the chances of cards that are not high yet.
constexpr double kLaterTrick[2] = {7.1, 11.83}, kGuarded[2] = {0.32, 0.43}, kUnguarded[2] = {-0.11, -0.05};
constexpr double kSecondRound[2] = {0.57, 0.74}, kLost[2] = {1.38, 0.58}, kStaysHigh[2] = {1.35, 1.04};
constexpr double kVoidWorth[2] = {0.88, 0.13};
// Leads.
constexpr double kDrawTrump = 8.91, kDrawEach = 1.68, kDefenderTrump = -3.4;
constexpr double kLongToSoloistLast = -0.16, kLongToSoloistNext = -0.36, kSoloistLong = 0.17;

constexpr Cards higher(Cards card) { return ~(card | (card - 1)); }

class Play {
 public:
  explicit Play(const SeatView& v)
      : v_(v), kind_(v.contract.kind), trump_(trumps(kind_)), me_(v.seat), solo_(v.soloist()),
        role_(me_ == solo_ ? 0 : 1), in_trick_(v.num_plays % kPlayers), unseen_(v.unseen() | v.shown) {
    place_cards();
    for (int i = 1; i <= in_trick_; ++i) trick_points_ += kPoints[v.plays[v.num_plays - i] % 8];
    soloists_ = v.points + (v.laid ? card_points(v.laid) : kPointsInSkat);
    defenders_ = card_points(v.played[0] | v.played[1] | v.played[2]) - trick_points_ - v.points;
  }

  int choose() const {
    int best = -1;
    double most = 0;
    for (Cards rest = legal_plays(kind_, v_.hand, v_.lead()); rest;) {
      const int card = take_lowest(rest);
      const double worth = gain(card) - kept(card) + (in_trick_ ? 0 : lead_bonus(card));
      if (best < 0 || worth > most) {
        best = card;
        most = worth;
      }
    }
    return best;
  }

 private:
  bool side(int p) const { return p == solo_; }  // of the soloist
  int places(int p) const { return p == solo_ && v_.shown ? 0 : kHand - count(v_.played[p]); }

  // chance_[p][card]: that a seat holds an unseen card.
  void place_cards() {
    const int skat = v_.hidden_in_skat();
    const bool laid_away = skat && !v_.contract.hand;
    for (Cards rest = unseen_; rest;) {
      const int card = take_lowest(rest);
      double weight[kPlayers] = {}, sum = 0;
      if (v_.shown & bit(card)) {
        chance_[solo_][card] = 1;
        continue;
      }
      const bool trump = trump_ & bit(card);
      for (int p = 0; p < kPlayers; ++p) {
        if (p == me_ || v_.cannot[p] & bit(card)) continue;
        weight[p] = places(p);
        if (role_ && side(p)) weight[p] *= trump ? kTrumpWithSoloist : card % 8 == 6 ? kAceWithSoloist : 1;
        sum += weight[p];
      }
      double hidden = skat;
      if (laid_away) hidden *= trump ? kTrumpInSkat : card % 8 == 6 ? 0.2 : card % 8 == 5 ? kTenInSkat : 1.5;
      sum += hidden;
      for (int p = 0; p < kPlayers; ++p) chance_[p][card] = sum > 0 ? weight[p] / sum : 0;
    }
  }

  double none(int p, Cards cards) const {
    double none = 1;
    for (Cards rest = cards & unseen_; rest;) none *= 1 - chance_[p][take_lowest(rest)];
    return none;
  }

  // Cards that beat one of the same suit or trumps.
  Cards above(int card) const {
    if (card % 8 == 7) return kJacks & higher(bit(card));
    const Cards suit = suit_cards(card / 8) & ~kJacks & higher(bit(card));
    return trump_ & bit(card) ? suit | kJacks : suit;
  }

  // The chance that a seat can beat `best` in a trick that `lead` opened.
  double beats(int p, int lead, int best) const {
    const Cards follow = followers(kind_, lead);
    if (follow & trump_) return 1 - none(p, above(best));
    if (!(follow & bit(best))) return none(p, follow) * (1 - none(p, above(best)));
    const double is_void = none(p, follow);
    return 1 - none(p, above(best)) + is_void * (1 - none(p, trump_));
  }

  // Points of the card that a seat plays to a trick where it wants many, or few.
  double throws_in(int p, Cards follow, bool many) const {
    constexpr int kOrder[2][6] = {{0, 7, 3, 4, 5, 6}, {6, 5, 4, 3, 7, 0}};
    double sum = 0, left = 1;
    for (const int rank : kOrder[many]) {
      const double miss = none(p, follow & (rank ? Cards{0x01010101} << rank : Cards{0x07070707}));
      sum += left * (1 - miss) * kPoints[rank];
      left *= miss;
    }
    return sum + left * (many ? kSmeared : kGiven)[role_];
  }

  // Worth of the trick to the own side, in card points, after `seen` cards of it; `better`: a card not known has beaten
  // `best`.
  double rest_of_trick(int seen, int lead, int best, int owner, bool better, double points) const {
    if (seen == kPlayers) return side(owner) == side(me_) ? worth(owner, points) : -worth(owner, points);
    const int p = (me_ + seen - in_trick_) % kPlayers;
    const Cards follow = followers(kind_, lead);
    double beat = beats(p, lead, best);
    if (side(p) == side(owner)) {
      const double safe = seen == kPlayers - 1 ? 1 : 1 - beats((p + 1) % kPlayers, lead, best);
      points += safe * throws_in(p, follow, true) + (1 - safe) * throws_in(p, follow, false);
      return rest_of_trick(seen + 1, lead, best, owner, better, points);
    }
    if (better) beat *= kBeatsTwice[role_];
    const double gives =
        rest_of_trick(seen + 1, lead, best, owner, better, points + throws_in(p, follow, false));
    const double takes = rest_of_trick(seen + 1, lead, best, p, true, points + kTaking[role_]);
    return beat * takes + (1 - beat) * gives;
  }

  // Points that decide the game count for more.
  double worth(int owner, double points) const {
    const double needs = side(owner) ? 61 - soloists_ : 60 - defenders_;
    return points + (needs > 0 && points >= needs ? kDecides[role_] : 0);
  }

  double gain(int card) const {
    const int lead = in_trick_ ? v_.lead() : card;
    const bool takes = in_trick_ == 0 || strength(kind_, lead, card) > strength(kind_, lead, v_.best_card);
    return rest_of_trick(in_trick_ + 1, lead, takes ? card : v_.best_card, takes ? me_ : v_.best_seat, false,
                         trick_points_ + kPoints[card % 8]);
  }

  // The chance that a side suit led now is ruffed by the other side.
  double ruffed(Cards suit) const {
    double safe = 1;
    for (int p = 0; p < kPlayers; ++p)
      if (side(p) != side(me_)) safe *= 1 - none(p, suit) * (1 - none(p, trump_));
    return 1 - safe;
  }

  // Unseen cards that the other side may hold, in number.
  double against(Cards cards) const {
    double n = 0;
    for (Cards rest = cards & unseen_; rest;) {
      const int card = take_lowest(rest);
      for (int p = 0; p < kPlayers; ++p)
        if (side(p) != side(me_)) n += chance_[p][card];
    }
    return n;
  }

  // What a card is worth in the hand.
  double kept(int card) const {
    const double points = kPoints[card % 8];
    if (trump_ & bit(card)) {
      const double over = against(above(card)), all = against(trump_);
      if (over < 0.01) return kTrumpMaster[role_];
      return kTrumpKept[role_] + kTrumpRank[role_] * (1 - over / all);
    }
    const Cards suit = suit_cards(card / 8) & ~trump_, own = v_.hand & suit;
    const double over = against(above(card) & suit);
    double wins;
    if (over < 0.01) {
      wins = 1 - ruffed(suit);
      for (int n = count(own & above(card)); n > 0; --n) wins *= kSecondRound[role_];
      wins *= kStaysHigh[role_];
    } else {
      wins = count(own & ~above(card)) - 1 >= over ? kGuarded[role_] : kUnguarded[role_];
      wins *= 1 - ruffed(suit);
    }
    double worth = wins * (points + kLaterTrick[role_]) - (1 - wins) * points * kLost[role_];
    if (count(own) == 1 && v_.hand & trump_) worth -= kVoidWorth[role_];
    return worth;
  }

  double lead_bonus(int card) const {
    const bool trump = trump_ & bit(card);
    if (role_ == 0) return trump ? (against(trump_) > 0.01 ? kDrawTrump + kDrawEach * count(v_.hand & trump_) : 0) : 0;
    if (trump) return kDefenderTrump;
    const int length = count(v_.hand & suit_cards(card / 8) & ~trump_);
    const bool next = (me_ + 1) % kPlayers == solo_;
    return length * (next ? kLongToSoloistNext : kLongToSoloistLast) +
           kSoloistLong * none(solo_, suit_cards(card / 8) & ~trump_);
  }

  const SeatView& v_;
  Kind kind_;
  Cards trump_;
  int me_, solo_, role_, in_trick_;
  Cards unseen_;
  double trick_points_ = 0;  // that lie in the trick under way
  double soloists_ = 0, defenders_ = 0;  // points taken, the soloist's with the skat
  double chance_[kPlayers][kNumCards] = {};
};

}  // namespace

int rules_card(const SeatView& view) { return Play(view).choose(); }

}  // namespace trickformer::skat
