// Card play of `rules` in suit and grand games. Every legal card is described by the expected result of the trick and
// by its loss for the hand, and weighted (skat/rules_weights.hpp explains how the weights were found).
#include "skat/rules_player.hpp"
#include "skat/rules_weights.hpp"

namespace trickformer::skat {
namespace {

// These constants were tuned one at a time, by playing the same deals with and without a change. Of two values, the
// first is for the soloist and the second for a defender. The first four constants weight the locations of unseen
// cards: how much likelier the soloist holds a card than the partner does, and how much likelier he has discarded it.
constexpr double kTrumpWithSoloist = 1.45, kTrumpInSkat = 0.02, kAceWithSoloist = 1.29, kTenInSkat = 1.76;
// Card points that a seat adds to a trick when it ducks, when it takes it, and when it adds points for its partner.
constexpr double kGiven[2] = {0.25, -0.2}, kTaking[2] = {3.94, 3.49}, kSmeared[2] = {4.96, 4.45};
constexpr double kPointsInSkat = 5;         // estimate of the card points in the skat for a seat that has not seen it
constexpr double kDecides[2] = {11.8, 13};  // bonus for a trick that decides the game
// probability that the third seat can still beat the second seat's better card
constexpr double kBeatsTwice[2] = {0.5, 0.23};

constexpr Cards higher(Cards card) { return ~(card | (card - 1)); }

// Forecast of a trick for the own side: value in card points, and probability of winning it.
struct Outlook {
  double gain, wins;
};

class Play {
 public:
  explicit Play(const SeatView& v)
      : v_(v),
        kind_(v.contract.kind),
        trump_(trumps(kind_)),
        me_(v.seat),
        solo_(v.soloist()),
        role_(me_ == solo_ ? 0 : 1),
        in_trick_(v.num_plays % kPlayers),
        unseen_(v.unseen() | v.shown) {
    place_cards();
    trumps_against_ = against(trump_);
    for (int i = 1; i <= in_trick_; ++i) trick_points_ += kPoints[v.plays[v.num_plays - i] % 8];
    for (int i = 0; i < v.num_plays; i += kPlayers)
      if (!(trump_ & bit(v.plays[i]))) led_[v.player[i]] |= 1u << v.plays[i] / 8;
    soloists_ = v.points + (v.laid ? card_points(v.laid) : kPointsInSkat);
    defenders_ = card_points(v.played[0] | v.played[1] | v.played[2]) - trick_points_ - v.points;
  }

  int choose(CardThoughts* thoughts) const {
    const int situation = 6 * (kind_ == Kind::kGrand) + 3 * role_ + in_trick_;
    int best = -1;
    double most = 0;
    for (Cards rest = legal_plays(kind_, v_.hand, v_.lead()); rest;) {
      const int card = take_lowest(rest);
      double f[kFeatures] = {}, worth = 0;
      describe(card, f);
      for (int i = 0; i < kFeatures; ++i) worth += kWeights[i][situation] * f[i];
      if (thoughts) {
        thoughts->worth[card] = float(worth / 10);
        thoughts->gain[card] = float(f[kGain] / 3);
        thoughts->wins[card] = float(f[kWins]);
      }
      if (best < 0 || worth > most) {
        best = card;
        most = worth;
      }
    }
    return best;
  }

  // The features of playing a card.
  void describe(int card, double f[kFeatures]) const {
    const auto [gain, wins] = outlook(card);
    const double points = kPoints[card % 8] / 10.0, late = v_.num_plays / 30.0;
    const bool takes = in_trick_ == 0 || strength(kind_, v_.lead(), card) > strength(kind_, v_.lead(), v_.best_card);
    f[kGain] = gain / 10;
    f[kGainLate] = gain / 10 * late;
    f[kWins] = wins;
    f[kWinsLate] = wins * late;
    f[kTakes] = takes;
    f[kRank] = card % 8 / 8.0;
    if (trump_ & bit(card)) {
      const double over = against(above(card));
      f[kTrump] = 1;
      f[kTrumpLate] = late;
      f[kTrumpHeight] = trumps_against_ > 0.01 ? 1 - over / trumps_against_ : 1;
      f[kTrumpHigh] = over < 0.01;
      f[kTrumpPoints] = points;
      f[kTrumpsOwn] = count(v_.hand & trump_) / 5.0;
      f[kTrumpsAgainst] = trumps_against_ / 5;
      f[kJack] = card % 8 == 7;
      return;
    }
    const Cards suit = suit_cards(card / 8) & ~trump_, own = v_.hand & suit;
    const int length = count(own);
    const double over = against(above(card)), ruff = ruffed(suit);
    const bool high = over < 0.01;
    f[kSidePoints] = points;
    f[kSidePointsLate] = points * late;
    f[kHigh] = high;
    f[kHighLate] = high * late;
    f[kHighRuffed] = high * ruff;
    f[kPointsNotHigh] = points * std::min(over, 1.0);
    f[kRuffed] = ruff;
    f[kLastOfSuit] = length == 1 && v_.hand & trump_;
    f[kSuitLength] = length / 5.0;
    f[kSuitAgainst] = against(suit) / 5;
    const Cards ten = suit & Cards{0x20202020};
    f[kUnguards] = own & ten && !(ten & bit(card)) && length == 2 && against(above(lowest(ten))) > 0.01;
    f[kUnderOwnHigh] = own & above(card) && against(above(highest(own))) < 0.01;
    const Cards top = suit & unseen_ & above(card);
    f[kOver] = over / 3;
    f[kPointsOut] = card_points(suit & unseen_) / 20.0;
    f[kFresh] = !(suit & (v_.played[0] | v_.played[1] | v_.played[2]));
    if (role_ == 0) return;
    const int partner = kPlayers - me_ - solo_;
    f[kPartnerRuffs] = none(partner, suit) * (1 - none(partner, trump_));
    f[kPartnerTop] = top ? chance_[partner][highest(top)] : 0;
    f[kPartnerLed] = led_[partner] >> card / 8 & 1;
    f[kSoloistNext] = (me_ + 1) % kPlayers == solo_ ? length / 5.0 : 0;
    f[kSoloistVoid] = none(solo_, suit);
    f[kSoloistLed] = led_[solo_] >> card / 8 & 1;
  }

 private:
  bool side(int p) const { return p == solo_; }  // of the soloist
  int places(int p) const { return p == solo_ && v_.shown ? 0 : kHand - count(v_.played[p]); }

  // chance_[p][card]: probability that seat p holds an unseen card.
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

  // Cards that beat a card of the same suit, or a trump.
  Cards above(int card) const {
    if (card % 8 == 7) return kJacks & higher(bit(card));
    const Cards suit = suit_cards(card / 8) & ~kJacks & higher(bit(card));
    return trump_ & bit(card) ? suit | kJacks : suit;
  }

  // Probability that a seat can beat `best` in a trick that `lead` opened.
  double beats(int p, int lead, int best) const {
    const Cards follow = followers(kind_, lead);
    if (follow & trump_) return 1 - none(p, above(best));
    if (!(follow & bit(best))) return none(p, follow) * (1 - none(p, above(best)));
    const double is_void = none(p, follow);
    return 1 - none(p, above(best)) + is_void * (1 - none(p, trump_));
  }

  // Points of the card that a seat adds to a trick when it wants to add many, or few.
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

  // Value of the trick for the own side, in card points, after `seen` cards of it. `better`: an unknown card has beaten
  // `best`.
  Outlook rest_of_trick(int seen, int lead, int best, int owner, bool better, double points) const {
    if (seen == kPlayers) {
      const double decided = worth(owner, points);
      return side(owner) == side(me_) ? Outlook{decided, 1} : Outlook{-decided, 0};
    }
    const int p = (me_ + seen - in_trick_) % kPlayers;
    const Cards follow = followers(kind_, lead);
    double beat = beats(p, lead, best);
    if (side(p) == side(owner)) {
      const double safe = seen == kPlayers - 1 ? 1 : 1 - beats((p + 1) % kPlayers, lead, best);
      points += safe * throws_in(p, follow, true) + (1 - safe) * throws_in(p, follow, false);
      return rest_of_trick(seen + 1, lead, best, owner, better, points);
    }
    if (better) beat *= kBeatsTwice[role_];
    const Outlook gives = rest_of_trick(seen + 1, lead, best, owner, better, points + throws_in(p, follow, false));
    const Outlook takes = rest_of_trick(seen + 1, lead, best, p, true, points + kTaking[role_]);
    return {beat * takes.gain + (1 - beat) * gives.gain, beat * takes.wins + (1 - beat) * gives.wins};
  }

  // Points that decide the game count more.
  double worth(int owner, double points) const {
    const double needs = side(owner) ? 61 - soloists_ : 60 - defenders_;
    return points + (needs > 0 && points >= needs ? kDecides[role_] : 0);
  }

  Outlook outlook(int card) const {
    const int lead = in_trick_ ? v_.lead() : card;
    const bool takes = in_trick_ == 0 || strength(kind_, lead, card) > strength(kind_, lead, v_.best_card);
    return rest_of_trick(in_trick_ + 1, lead, takes ? card : v_.best_card, takes ? me_ : v_.best_seat, false,
                         trick_points_ + kPoints[card % 8]);
  }

  // Probability that the other side ruffs a side suit that is led now.
  double ruffed(Cards suit) const {
    double safe = 1;
    for (int p = 0; p < kPlayers; ++p)
      if (side(p) != side(me_)) safe *= 1 - none(p, suit) * (1 - none(p, trump_));
    return 1 - safe;
  }

  // Number of unseen cards that the other side may hold.
  double against(Cards cards) const {
    double n = 0;
    for (Cards rest = cards & unseen_; rest;) {
      const int card = take_lowest(rest);
      for (int p = 0; p < kPlayers; ++p)
        if (side(p) != side(me_)) n += chance_[p][card];
    }
    return n;
  }

  const SeatView& v_;
  Kind kind_;
  Cards trump_;
  int me_, solo_, role_, in_trick_;
  Cards unseen_;
  double trick_points_ = 0;              // points in the current trick
  double soloists_ = 0, defenders_ = 0;  // points taken; the soloist's include the skat
  unsigned led_[kPlayers] = {};          // side suits that a seat has led
  double chance_[kPlayers][kNumCards] = {};
  double trumps_against_ = 0;  // number of unseen trumps that the other side may hold
};

}  // namespace

int rules_card(const SeatView& view, CardThoughts* thoughts) { return Play(view).choose(thoughts); }

}  // namespace trickformer::skat
