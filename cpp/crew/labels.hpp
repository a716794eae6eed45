// What the actions of a decision are worth in the deal as it was: labels for action values.
#pragma once
#include <cstdint>
#include <vector>

#include "core/label.hpp"
#include "crew/tracker.hpp"

namespace trickformer::crew {

// Labels of the decisions of `seat` in a game (history: [kHistory]) at which it had a choice: of each legal action the
// mean of two guesses at how likely success is after it, with all cards as they are (but see below). One is a solver's, who takes the
// four for one player with open hands: 1 if it finds a way, 0 if there is none, kUnknownWorth if it has not found out
// at once. The other is the share of `playouts` that succeed in which four scripted players, who see their own hands
// only, go on, and now and then err. What cannot succeed at all is worth 0 by both.
//
// The solver tells what can still be done, which scripted players often fail to do; they tell what is likely to be
// done, and what a message is worth, which open hands do not need.
//
// With `worlds` the mean is over that many deals that explain what the seat saw, drawn uniformly, with one game played on
// in each: what a card is worth differs more from deal to deal than from one way of going on to the next.
//
// A decision is labelled with chance `share`; its actions meet the same random numbers. Results follow from seed and
// stream. They are appended. Throws std::invalid_argument on a history that breaks the rules, and std::out_of_range on
// one of a mission that is not in the book.
void label(const Logbook& book, const std::uint8_t* history, int seat, const LabelOptions& options, std::uint64_t seed,
           std::uint64_t stream, std::vector<Label>& out);

}  // namespace trickformer::crew
