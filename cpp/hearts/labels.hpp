// Labels for action values: the value of each card of a decision, measured by playouts with known cards.
#pragma once
#include <cstdint>
#include <vector>

#include "core/isa.hpp"
#include "core/label.hpp"
#include "hearts/types.hpp"

namespace trickformer::hearts {

// Labels of the decisions of `seat` in a whole hand (history: [117], OpenSpiel's actions) at which it had a choice. The
// label of a legal card is the mean v(o) of the own seat over `playouts`. The rollout network in the options, or else
// the script, plays them, from the true deal or from deals that are consistent with the seat's view. A decision is
// labelled with probability `share`. All cards of a decision get the same random numbers. Results depend only on seed
// and stream, and are appended. Throws std::invalid_argument on a history that breaks the rules.
void label(const Rules& rules, const std::uint8_t* history, int seat, const LabelOptions& options, std::uint64_t seed,
           std::uint64_t stream, std::vector<Label>& out);

inline constexpr int kMaxLabels = 13 + 12 + 11 + 13 * 14 / 2;  // largest number of labels in one hand of a seat

// As `label`, without a check of the history. Returns the number of labels.
using LabelHand = int(const Rules&, const std::uint8_t*, int, const LabelOptions&, std::uint64_t, std::uint64_t,
                      Label*);
TRICKFORMER_PER_ISA(LabelHand, label_hand);

}  // namespace trickformer::hearts
