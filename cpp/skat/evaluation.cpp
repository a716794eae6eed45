#include "skat/evaluation.hpp"

#include <stdexcept>

namespace trickformer::skat {
namespace {

constexpr std::uint16_t kUnused = kEntries - 1;  // fills up the features of a hand; its weight is 0

// Offsets of the tables of each family. A table of two features has both in its name, and the second varies fastest:
// entry kJacksLength + 8 * jacks + length. Jacks, side suits and the trump suit are sets as bits, or numbers of cards in
// kTrumpsLosers, kTrumpsAces and kJacksLosers.
namespace suit {
constexpr int kJacksLength = 0, kTrumps = 128, kSide = 256, kLaid = 384, kSeat = 408, kTrumpsLosers = 412,
              kTrumpsAces = 604, kEnd = kTrumpsAces + 48;
}
namespace grand {
constexpr int kJacksSeat = 0, kSide = 48, kLaid = 176, kJacksLosers = 200, kAcesTens = 280, kSeatLosers = 305,
              kEnd = kSeatLosers + 48;
}
namespace null {
constexpr int kSuit = 0, kSeat = 256, kSeatDanger = 259, kEnd = kSeatDanger + 48;
}
static_assert(suit::kEnd < kEntries && grand::kEnd < kEntries && null::kEnd < kEntries);

// Cards of a side suit that may lose a trick, because they are not part of an unbroken row from the ace down. Indexed
// by the set of the seven cards 7 8 9 Q K 10 A.
struct Losers {
  std::uint8_t of[128] = {};
  constexpr Losers() {
    for (unsigned pattern = 0; pattern < 128; ++pattern) {
      int top = 0;
      while (top < 7 && pattern >> (6 - top) & 1) ++top;
      of[pattern] = std::uint8_t(std::popcount(pattern) - top);
    }
  }
};
constexpr Losers kLosers;

// Excess of a suit over the heights that are safe in null. The hand's j-th lowest card of the suit, j = 1, 2, ..., is
// safe if it is among the lowest 2 j - 1 of the suit's eight cards.
struct Danger {
  std::uint8_t of[256] = {};
  constexpr Danger() {
    constexpr int kFromBelow[8] = {0, 1, 2, 5, 7, 3, 4, 6};  // ranks of 7 8 9 10 J Q K A
    for (unsigned pattern = 0; pattern < 256; ++pattern) {
      int held = 0, worst = 0;
      for (int height = 0; height < 8; ++height) {
        if (!(pattern >> kFromBelow[height] & 1)) continue;
        worst = std::max(worst, height - 2 * held);
        ++held;
      }
      of[pattern] = std::uint8_t(worst);
    }
  }
};
constexpr Danger kDanger;

unsigned jacks_of(Cards cards) { return (cards >> 7 & 1) | (cards >> 14 & 2) | (cards >> 21 & 4) | (cards >> 28 & 8); }

unsigned pattern_of(Cards cards, int suit) { return cards >> (8 * suit) & 0x7f; }

}  // namespace

void evaluation_features(Known known, int declaration, Cards ten, int laid, int seat,
                         std::uint16_t out[kEvaluationFeatures]) {
  const int points = known == Known::kLaid ? std::min(laid, 22) : 23;  // 0 to 22 discarded; 23: no discards
  int n = 0;
  const auto add = [&](int entry) { out[n++] = std::uint16_t(entry); };
  if (declaration < 4) {
    const unsigned jacks = jacks_of(ten), trumps = pattern_of(ten, declaration);
    const int length = std::popcount(trumps), all = length + std::popcount(jacks);
    int losers = 0, aces = 0;
    add(suit::kJacksLength + int(jacks) * 8 + length);
    add(suit::kTrumps + int(trumps));
    for (int s = 0; s < 4; ++s) {
      if (s == declaration) continue;
      const unsigned side = pattern_of(ten, s);
      losers += kLosers.of[side];
      aces += int(side >> 6);
      add(suit::kSide + int(side));
    }
    add(suit::kLaid + points);
    add(suit::kSeat + seat);
    add(suit::kTrumpsLosers + all * 16 + losers);
    add(suit::kTrumpsAces + all * 4 + aces);
  } else if (declaration == int(Kind::kGrand)) {
    const unsigned jacks = jacks_of(ten);
    const int held = std::popcount(jacks);
    int losers = 0;
    add(grand::kJacksSeat + int(jacks) * 3 + seat);
    for (int s = 0; s < 4; ++s) {
      const unsigned side = pattern_of(ten, s);
      losers += kLosers.of[side];
      add(grand::kSide + int(side));
    }
    add(grand::kLaid + points);
    add(grand::kJacksLosers + held * 16 + losers);
    add(grand::kAcesTens + count(ten & 0x40404040u) * 5 + count(ten & 0x20202020u));
    add(grand::kSeatLosers + seat * 16 + losers);
  } else {
    int danger = 0;
    for (int s = 0; s < 4; ++s) {
      const unsigned pattern = ten >> (8 * s) & 0xff;
      danger += kDanger.of[pattern];
      add(null::kSuit + int(pattern));
    }
    add(null::kSeat + seat);
    add(null::kSeatDanger + seat * 16 + std::min(danger, 15));
  }
  while (n < kEvaluationFeatures) out[n++] = kUnused;
}

Evaluation::Evaluation(std::span<const float> weights, std::span<const float> calibration)
    : weights_(weights.begin(), weights.end()), calibration_(calibration.begin(), calibration.end()) {
  if (weights.size() != kModels * kEntries || calibration.size() != 2 * kCalibrations)
    throw std::invalid_argument("an evaluation has weights [9, 672] and a calibration [8, 2]");
  for (int model = 0; model < kModels; ++model) weights_[std::size_t(model * kEntries + kUnused)] = 0;
}

double Evaluation::logit(Known known, int declaration, Cards ten, int laid, int seat) const {
  std::uint16_t entry[kEvaluationFeatures];
  evaluation_features(known, declaration, ten, laid, seat, entry);
  const float* table = weights_.data() + std::size_t(model_of(known, declaration) * kEntries);
  double sum = 0;
  for (int i = 0; i < kEvaluationFeatures; ++i) sum += double(table[entry[i]]);
  return sum;
}

}  // namespace trickformer::skat
