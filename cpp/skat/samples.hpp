// What the evaluation learns from: hands that somebody might play, and what came of them with open cards.
#pragma once
#include <cstddef>

#include "skat/evaluation.hpp"

namespace trickformer::skat {

// Samples `first` .. `first + n - 1` of the series `seed` for one model; entries: uint16 [n, kFeatures]; target: float
// [n].
//
// Known::kLaid and kHand: a random deal, a random seat as the soloist, the suit, the cards laid away and whether the
// hand is kept at all drawn by the evaluation given, so that most hands kept are neither hopeless nor sure. The target
// is 1 where the soloist wins against open best play of all three (61 card points; null: no trick). That is no result
// of play: the evaluation's calibration makes up for it. Known::kBefore: ten random cards and a declaration of the
// family; the target is Prospects::mean_chance.
void samples(const Evaluation& evaluation, Known known, int family, std::uint64_t seed, std::uint64_t first,
             std::size_t n, std::uint16_t* entries, float* target);

}  // namespace trickformer::skat
