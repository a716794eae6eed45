#include "skat_hand.hpp"

#include <array>
#include <cmath>

namespace trickformer::skat {
namespace {

// What a hand is judged by: counts, summed over its suits.
enum Feature {
  kAce, kTenWithAce, kTenGuarded, kTenBare, kKingHigh, kLoser, kVoid, kSingleton, kLongAce,  // side suits
  kTrumps, kNumJacks, kClubsJack, kSpadesJack, kTrumpAce, kTrumpTen,
  kLaidPoints, kForehand, kOne, kFeatures
};
using Weights = std::array<double, kFeatures>;

constexpr Weights kSuitGame = {2.35, 0.60, 0.88, -0.84, 0.16, 0.07, 1.76, 0.21, 0.02, 1.38, 0.68, 0.72, 0.48, 0.99, 0.66, 0.09, 0.05, -14.96};
constexpr Weights kSuitBid = {1.59, 0.61, 0.49, 1.14, 0.12, 0.14, 0.70, 0.04, -0.00, 1.07, 0.45, 0.50, 0.32, 0.67, 0.44, 0.00, 0.03, -9.69};
constexpr Weights kGrandGame = {2.20, 0.88, 1.30, -0.46, 0.10, -0.00, 0.93, 0.30, 0.17, 1.03, 1.03, 0.98, 0.20, 0.00, 0.00, 0.10, 0.18, -11.68};
constexpr Weights kGrandBid = {1.47, 0.72, 0.72, 0.68, 0.09, 0.05, 0.49, 0.14, 0.02, 0.73, 0.73, 0.69, 0.15, 0.00, 0.00, 0.00, 0.15, -7.05};
constexpr double kNullBase = 1.60, kNullDanger = 0.408, kNullBidBase = 1.54, kNullBidDanger = 0.185;
constexpr double kSchneiderGap = 4.2, kBidFrom = -25, kHope = 40, kHopeScale = 0.91, kHopeBase = 13.7;

constexpr int kDefendersGain = 40;  // that a lost game gives each of the others

double chance_of(double logit) { return 1 / (1 + std::exp(-logit)); }

// A side suit of the cards 7 8 9 Q K 10 A, as bits 0 to 6.
double side_suit(unsigned suit, const Weights& w) {
  const bool ace = suit >> 6 & 1, ten = suit >> 5 & 1, king = suit >> 4 & 1;
  const int n = std::popcount(suit);
  double sum = ace * w[kAce] + (king && (ace || ten)) * w[kKingHigh];
  if (ten) sum += w[ace ? kTenWithAce : n > 1 ? kTenGuarded : kTenBare];
  sum += (n - ace - (ace && ten) - (ace && ten && king)) * w[kLoser];
  sum += (n == 0) * w[kVoid] + (n == 1 && !ace) * w[kSingleton] + (ace && n > 3 ? n - 3 : 0) * w[kLongAce];
  return sum;
}

// The log-odds of winning with ten cards as linear in their features, the side suits tabulated.
class Judge {
 public:
  explicit Judge(const Weights& w) : w_(w) {
    for (unsigned suit = 0; suit < 128; ++suit) side_[suit] = side_suit(suit, w);
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
  Weights w_;
  std::array<double, 128> side_;
};

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

// A suit or grand game's expected score. A bid above the certain value is hoped to be reached by schneider, no more.
double expected(Kind kind, double logit, Cards twelve, bool hand, Level level, int bid) {
  const int base = kBase[int(kind)];
  const double schneider = chance_of(logit - kSchneiderGap);
  int value = base * (std::abs(matadors(kind, twelve)) + 1 + hand);
  if (level == Level::kSchneider) return value + 2 * base < bid ? -1e6 : expected(schneider, value + 2 * base);
  if (value < bid) return value + base < bid ? expected(0, raised(kind, bid)) : expected(schneider, value + base);
  return expected(chance_of(logit), value) + schneider * base;
}

void better(Choice& best, const Choice& other) {
  if (other.score > best.score) best = other;
}

void add_nulls(Choice& best, double logit, Cards laid, bool hand, int bid) {
  for (const bool ouvert : {false, true}) {
    const int value = null_value(hand, ouvert);
    if (value < bid) continue;
    // Shown cards are played against perfectly: an ouvert game has to be all but safe.
    const double chance = chance_of(ouvert ? 2 * logit - 5 : logit);
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
    scores[k] = expected(chance_of(kBid[kind == Kind::kGrand].logit(kind, ten, 0, forehand)), values[k]);
  }
  const int null = int(Kind::kNull);
  values[null] = null_value(false, false);
  scores[null] = expected(chance_of(null_logit(ten, kNullBidBase, kNullBidDanger)), values[null]);
  // The contracts that a bid leaves are so many chances that the skat helps one of them.
  const auto with_skat = [&](int bid) {
    double sum = 0;
    for (int k = 0; k < kContracts; ++k)
      if (values[k] >= bid) sum += std::exp(scores[k] / kHope);
    return kHopeScale * kHope * std::log(sum) + kHopeBase;
  };
  Prospect p{0, with_skat(0)};
  for (const int value : values)
    if (value > p.limit && with_skat(value) > kBidFrom) p.limit = value;
  return p;
}

}  // namespace trickformer::skat
