// Labels for action values: the value of each action of a decision, in the true deal or in sampled deals.
#pragma once
#include <cstdint>
#include <vector>

#include "core/label.hpp"
#include "crew/tracker.hpp"

namespace trickformer::crew {

// Labels of the decisions of `seat` in a game (history: [kHistory]) at which it had a choice. The label of a legal
// action is the mean of two estimates of the probability of success after it, with the true cards. The first estimate
// is the solver's, which treats the four as one player with open hands: 1 if it finds a way, 0 if there is none,
// kUnknownWorth if it stops without an answer. The second is the share of `playouts` that succeed. Four scripted
// players, who see only their own hands and now and then err, play them. An action after which success is impossible
// has value 0 in both.
//
// The two estimates complement each other. The solver shows whether the mission can still succeed with best play. The
// playouts estimate how often scripted players succeed, and the value of a message, which open hands do not need.
//
// With `worlds`, the true cards are replaced by `playouts` deals, drawn uniformly from those consistent with the
// seat's view. In each deal, the solver runs and one playout is played. The label is the mean over the deals. The value
// of a card differs more from deal to deal than from one playout to the next.
//
// A decision is labelled with probability `share`. All its actions get the same random numbers. Results depend only on
// seed and stream, and are appended. Throws std::invalid_argument on a history that breaks the rules, and
// std::out_of_range if the mission is not in the book.
void label(const Logbook& book, const std::uint8_t* history, int seat, const LabelOptions& options, std::uint64_t seed,
           std::uint64_t stream, std::vector<Label>& out);

}  // namespace trickformer::crew
