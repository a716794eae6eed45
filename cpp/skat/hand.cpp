#include "skat/hand.hpp"

#include <array>
#include <cmath>

#include "skat/evaluation.hpp"

namespace trickformer::skat {
namespace {

// Features of a hand, as counts; those of the side suits come first.
enum Feature {
  kAce,         // ace
  kTenWithAce,  // ten, with the ace
  kTenGuarded,  // ten, not alone, without the ace
  kTenBare,     // ten alone
  kKingHigh,    // king with ace or ten
  kLoser,       // card that is not an ace, a ten under the ace or a king under both
  kVoid,        // no card
  kSingleton,   // one card that is not an ace
  kLongAce,     // number of cards beyond three, with the ace
  kTrumps,      // trumps
  kNumJacks,    // jacks
  kClubsJack,   // jack of clubs
  kSpadesJack,  // jack of spades
  kTrumpAce,    // ace of trumps
  kTrumpTen,    // ten of trumps
  kLaidPoints,  // card points laid away
  kForehand,    // the soloist leads first
  kOne,         // constant 1
  kFeatures
};

// Weights of the log odds of winning: of ten cards to be played, in a suit game and in grand; of ten cards before the
// skat is seen, in either. Fitted by logistic regression on 400,000 games of `rules` in which any seat picked up and
// played any contract.
enum Judged { kSuitGame, kGrandGame, kSuitBid, kGrandBid, kJudged };
constexpr double kWeights[kFeatures][kJudged] = {
    {2.11, 2.00, 1.23, 1.33},        // kAce
    {0.45, 0.75, 0.46, 0.56},        // kTenWithAce
    {0.87, 0.97, 0.47, 0.61},        // kTenGuarded
    {-0.36, 0.53, 0.51, 0.54},       // kTenBare
    {0.12, 0.03, 0.11, 0.05},        // kKingHigh
    {0.10, -0.15, 0.07, -0.07},      // kLoser
    {1.26, 0.59, 0.29, 0.11},        // kVoid
    {0.51, 0.33, 0.17, 0.11},        // kSingleton
    {-0.01, 0.09, 0.12, 0.08},       // kLongAce
    {1.47, 1.10, 1.12, 0.79},        // kTrumps
    {0.60, 1.10, 0.41, 0.79},        // kNumJacks
    {0.67, 0.86, 0.47, 0.59},        // kClubsJack
    {0.36, 0.13, 0.26, 0.10},        // kSpadesJack
    {0.94, 0.00, 0.64, 0.00},        // kTrumpAce
    {0.72, 0.00, 0.50, 0.00},        // kTrumpTen
    {0.08, 0.09, 0.00, 0.00},        // kLaidPoints
    {0.10, 0.25, 0.07, 0.20},        // kForehand
    {-14.78, -10.32, -8.54, -5.94},  // kOne
};
constexpr double kNullBase = 1.98, kNullDanger = 0.444, kNullBidBase = 1.85, kNullBidDanger = 0.197;
constexpr double kSchneiderGap = 3.7;  // how much lower the log odds of 90 card points are than of 61, for the soloist
// Before the skat is seen, several contracts are possible, and the skat will help one of them. So the value of the hand
// is a soft maximum of the contracts' scores, kHope * log(sum of exp(score / kHope)). kHopeScale fits its mean to the
// mean result of games with a free choice of contract.
constexpr double kHope = 40, kHopeScale = 0.915;
constexpr int kDefendersGain = 40;  // points that each defender gets for a lost game

// The log odds as a sum over suits. Those of side suits are tabulated by the set of the cards 7 8 9 Q K 10 A, bits 0 to
// 6.
class Judge {
 public:
  explicit Judge(Judged which) {
    for (int i = 0; i < kFeatures; ++i) w_[i] = kWeights[i][which];
    for (unsigned suit = 0; suit < side_.size(); ++suit) side_[suit] = side_suit(suit);
  }

  double logit(Kind kind, Cards held, Cards laid, bool forehand) const {
    double sum = w_[kOne] + forehand * w_[kForehand] + card_points(laid) * w_[kLaidPoints];
    for (int suit = 0; suit < 4; ++suit) {
      const unsigned cards = held >> (8 * suit) & 0x7f;
      if (suit == int(kind))
        sum += (cards >> 6 & 1) * w_[kTrumpAce] + (cards >> 5 & 1) * w_[kTrumpTen];
      else
        sum += side_[cards];
    }
    return sum + count(held & trumps(kind)) * w_[kTrumps] + count(held & kJacks) * w_[kNumJacks] +
           (held >> 31 & 1) * w_[kClubsJack] + (held >> 23 & 1) * w_[kSpadesJack];
  }

 private:
  double side_suit(unsigned suit) const {
    const bool ace = suit >> 6 & 1, ten = suit >> 5 & 1, king = suit >> 4 & 1;
    const int n = std::popcount(suit);
    double sum = ace * w_[kAce] + (king && (ace || ten)) * w_[kKingHigh];
    if (ten) sum += w_[ace ? kTenWithAce : n > 1 ? kTenGuarded : kTenBare];
    sum += (n - ace - (ace && ten) - (ace && ten && king)) * w_[kLoser];
    return sum + (n == 0) * w_[kVoid] + (n == 1 && !ace) * w_[kSingleton] + (ace && n > 3 ? n - 3 : 0) * w_[kLongAce];
  }

  std::array<double, kFeatures> w_;
  std::array<double, 128> side_;
};

// For ten cards to be played, and before the skat is seen; for a suit game, and for grand. The initialisers only add
// constants, so they cannot throw.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
const Judge kGame[2] = {Judge(kSuitGame), Judge(kGrandGame)}, kBid[2] = {Judge(kSuitBid), Judge(kGrandBid)};

double null_logit(Cards held, double base, double slope) {
  int danger = 0;
  for (int suit = 0; suit < 4; ++suit) {
    const unsigned own = null_suit(held, suit);
    danger += null_danger(own, 0xff & ~own);
  }
  return base - slope * danger;
}

double expected(double chance, double value) {
  return chance * (value + 50) - (1 - chance) * (2 * value + 50 + kDefendersGain);
}

// The expected score of a suit or grand game. A bid above the certain value can be reached by schneider only.
double expected(Kind kind, double logit, Cards twelve, bool hand, Level level, int bid) {
  const int base = kBase[int(kind)];
  const double schneider = sigmoid(logit - kSchneiderGap);
  int value = base * (std::abs(matadors(kind, twelve)) + 1 + hand);
  if (level == Level::kSchneider) return value + 2 * base < bid ? -1e6 : expected(schneider, value + 2 * base);
  if (value < bid)
    return value + base < bid ? expected(0, covering_value(kind, bid)) : expected(schneider, value + base);
  return expected(sigmoid(logit), value) + schneider * base;
}

void better(Choice& best, const Choice& other) {
  if (other.score > best.score) best = other;
}

void add_nulls(Choice& best, double logit, Cards laid, bool hand, int bid) {
  for (const bool ouvert : {false, true}) {
    const int value = null_value(hand, ouvert);
    if (value < bid) continue;
    // An ouvert hand is played against perfectly, so the game must be nearly safe.
    const double chance = sigmoid(ouvert ? 2 * logit - 5 : logit);
    better(best, {Kind::kNull, ouvert ? Level::kOuvert : Level::kNone, laid, expected(chance, value)});
  }
}

}  // namespace

unsigned null_suit(Cards cards, int suit) {
  const unsigned set = cards >> (8 * suit) & 0xff;  // 7 8 9 Q K 10 A J
  return (set & 0x07) | (set >> 5 & 1) << 3 | (set >> 7 & 1) << 4 | (set >> 3 & 3) << 5 | (set >> 6 & 1) << 7;
}

int null_danger(unsigned own, unsigned others) {
  int danger = 0, below = 0;
  for (unsigned rest = own; rest; rest &= rest - 1, ++below)
    danger += std::max(0, std::popcount(others & ((rest & -rest) - 1)) - below);
  return danger;
}

Choice choose_contract(Cards twelve, Cards already, int bid, bool forehand) {
  Choice best;
  for (Cards first = twelve; first;) {
    const Cards a = bit(take_lowest(first));
    for (Cards second = first; second;) {
      const Cards laid = a | bit(take_lowest(second)), held = twelve & ~laid;
      if (already & ~laid) continue;
      for (int k = 0; k <= int(Kind::kGrand); ++k) {
        const Kind kind = Kind(k);
        if (laid & ~already & kJacks) continue;
        const double logit = kGame[kind == Kind::kGrand].logit(kind, held, laid, forehand);
        better(best, {kind, Level::kNone, laid, expected(kind, logit, twelve, false, Level::kNone, bid)});
      }
      add_nulls(best, null_logit(held, kNullBase, kNullDanger), laid, false, bid);
    }
  }
  return best;
}

Choice choose_hand_contract(Cards ten, int bid, bool forehand) {
  Choice best;
  for (int k = 0; k <= int(Kind::kGrand); ++k)
    for (const Level level : {Level::kNone, Level::kSchneider}) {
      const Kind kind = Kind(k);
      const double logit = kGame[kind == Kind::kGrand].logit(kind, ten, 0, forehand);
      better(best, {kind, level, 0, expected(kind, logit, ten, true, level, bid)});
    }
  add_nulls(best, null_logit(ten, kNullBase, kNullDanger), 0, true, bid);
  return best;
}

Prospect prospect(Cards ten, bool forehand) {
  constexpr int kContracts = int(Kind::kNull) + 1;
  int values[kContracts];
  double scores[kContracts];
  for (int k = 0; k <= int(Kind::kGrand); ++k) {
    const Kind kind = Kind(k);
    values[k] = kBase[k] * (std::abs(matadors(kind, ten)) + 1);
    scores[k] = expected(sigmoid(kBid[kind == Kind::kGrand].logit(kind, ten, 0, forehand)), values[k]);
  }
  const int null = int(Kind::kNull);
  values[null] = null_value(false, false);
  scores[null] = expected(sigmoid(null_logit(ten, kNullBidBase, kNullBidDanger)), values[null]);
  // Each contract that is still possible after a bid is one more chance that the skat helps.
  const auto with_skat = [&](int bid) {
    double sum = 0;
    for (int k = 0; k < kContracts; ++k)
      if (values[k] >= bid) sum += std::exp(scores[k] / kHope);
    return kHopeScale * kHope * std::log(sum);
  };
  Prospect p{0, with_skat(0)};
  for (const int value : values)
    if (value > p.limit && with_skat(value) > 0) p.limit = value;
  return p;
}

}  // namespace trickformer::skat
