// What the cards of a decision are worth, by playing on from known cards: labels for action values.
#pragma once
#include <cstdint>
#include <vector>

#include "core/isa.hpp"
#include "core/label.hpp"
#include "hearts/types.hpp"

namespace trickformer::hearts {

// Labels of the decisions of `seat` in a whole hand (history: [117], OpenSpiel's actions) at which it had a choice: of
// each legal card the mean v(o) of the own seat over `playouts`. The options' rollout network or the script plays them,
// from the deal as it was or from deals that explain what the seat saw. A decision is labelled with chance `share`; the
// cards of a decision meet the same random numbers. Results follow from seed and stream. They are appended. Throws
// std::invalid_argument on a history that breaks the rules.
void label(const Rules& rules, const std::uint8_t* history, int seat, const LabelOptions& options, std::uint64_t seed,
           std::uint64_t stream, std::vector<Label>& out);

inline constexpr int kMaxLabels = 13 + 12 + 11 + 13 * 14 / 2;  // of a seat's hand

// Without a check of the history. Returns their number.
using LabelHand = int(const Rules&, const std::uint8_t*, int, const LabelOptions&, std::uint64_t, std::uint64_t,
                      Label*);
TRICKFORMER_PER_ISA(LabelHand, label_hand);

}  // namespace trickformer::hearts
