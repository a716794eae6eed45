// Training samples of the evaluation: hands that a player might play, and their results with open cards.
#pragma once
#include <cstddef>

#include "skat/evaluation.hpp"

namespace trickformer::skat {

// Samples `first` .. `first + n - 1` of the series `seed` for one model; entries: uint16 [n, kEvaluationFeatures];
// target: float [n].
//
// Known::kLaid and kHand: a random deal with a random seat as the soloist. The suit and the discards are drawn by the
// odds of the given evaluation. A hand is kept with a probability that depends on its odds, so that most samples are
// neither hopeless nor certain. The target is 1 if the soloist wins against best play of all three with open cards (61
// card points; null: no trick). This is not a result of play; the calibration of the evaluation corrects the
// difference. Known::kBefore: ten random cards and a declaration of the family; the target is Prospects::mean_chance.
void samples(const Evaluation& evaluation, Known known, int family, std::uint64_t seed, std::uint64_t first,
             std::size_t n, std::uint16_t* entries, float* target);

}  // namespace trickformer::skat
