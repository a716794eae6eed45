// A learned estimate of the probability that a hand of Skat wins a contract. It is a generalized linear model whose
// features are table entries (Buro, "From Simple Features to Sophisticated Evaluation Functions", 1998). It follows
// Kermit's bidding (Buro, Long, Furtak & Sturtevant, "Improving State Evaluation, Inference, and Search in Trick-Based
// Card Games", 2009, section 3).
#pragma once
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "skat/rules.hpp"

namespace trickformer::skat {

// The information at the time of the estimate: ten cards with two discards; ten cards with the skat untouched, to be
// played as a hand game; ten cards before the skat is picked up.
enum class Known : std::uint8_t { kLaid, kHand, kBefore };

inline constexpr int kFamilies = 3, kModels = 9;  // model = known * 3 + family
// entries that are summed for a hand; unused ones are the last entry, always 0
inline constexpr int kEvaluationFeatures = 9;
inline constexpr int kEntries = 672;     // size of a model's tables
inline constexpr int kDeclarations = 7;  // four suits, grand, null, null ouvert
inline constexpr int kCalibrations = 8;  // after discarding: suit, grand, null, ouvert; as a hand game: the same

constexpr int family_of(int declaration) { return declaration < 4 ? 0 : declaration == 4 ? 1 : 2; }
constexpr int model_of(Known known, int declaration) { return 3 * int(known) + family_of(declaration); }
constexpr Kind kind_of(int declaration) { return Kind(std::min(declaration, int(Kind::kNull))); }

// The value of results for the soloist: own points less the mean of the others', under the scoring of the table.
struct Stakes {
  double win = 50, loss = 90;  // added to the value won, and to twice the value lost: 50 own and 40 for each defender
};
constexpr Stakes stakes(bool seeger) { return seeger ? Stakes{} : Stakes{0, 0}; }

// The certain value of a declared contract, without schneider and schwarz. `cards`: the soloist's, with the skat.
inline int certain_value(int declaration, bool hand, Cards cards) {
  if (declaration >= int(Kind::kNull)) return null_value(hand, declaration == kNullOuvert);
  return kBase[declaration] * (std::abs(matadors(Kind(declaration), cards)) + 1 + hand);
}

// Expected result of a contract that is won with probability `p`. A contract that cannot cover the bid is lost in any
// case.
inline double expected(double p, int declaration, int value, int bid, const Stakes& s) {
  if (value < bid)
    return -2.0 * (declaration < int(Kind::kNull) ? covering_value(Kind(declaration), bid) : value) - s.loss;
  return p * (value + s.win) - (1 - p) * (2.0 * value + s.loss);
}

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

class Evaluation {
 public:
  // weights: float [kModels, kEntries]; calibration: float [kCalibrations, 2], shift and scale of the logit. Throws
  // std::invalid_argument on other sizes.
  Evaluation(std::span<const float> weights, std::span<const float> calibration);

  // Log odds of winning by the model. ten: the soloist's cards; laid: card points of the discards (Known::kLaid); seat:
  // 0 is forehand.
  double logit(Known known, int declaration, Cards ten, int laid, int seat) const;
  // The same, calibrated to results of play (Known::kBefore is fitted to calibrated probabilities).
  double calibrated(Known known, int declaration, double logit) const {
    if (known == Known::kBefore) return logit;
    const int row = 4 * (known == Known::kHand) + (declaration < 4 ? 0 : declaration - 3);
    return double(calibration_[std::size_t(2 * row)]) + double(calibration_[std::size_t(2 * row + 1)]) * logit;
  }
  double chance(Known known, int declaration, Cards ten, int laid, int seat) const {
    return sigmoid(calibrated(known, declaration, logit(known, declaration, ten, laid, seat)));
  }

 private:
  std::vector<float> weights_, calibration_;
};

// The entries that are summed for a hand in the tables of its model.
void evaluation_features(Known known, int declaration, Cards ten, int laid, int seat,
                         std::uint16_t out[kEvaluationFeatures]);

}  // namespace trickformer::skat
