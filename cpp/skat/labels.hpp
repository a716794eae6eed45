// What the actions of a decision are worth in the deal as it was: labels for action values.
#pragma once
#include <cstdint>
#include <vector>

#include "core/label.hpp"
#include "skat/evaluation.hpp"
#include "skat/random.hpp"

namespace trickformer::skat {

// Labels of the decisions of `seat` in a whole game (history: [kHistory]) at which it had a choice: of each legal
// action the own seat's v(o) (GO-MCTS paper, equation 5), all with the true cards. A decision is labelled with chance
// `share`.
//
// With few cards left it is what best play with open cards brings. Before, it is the mean over `playouts`: `rules` goes
// on in every seat, one card in sixteen at random, until few cards are left, and best play tells the rest. The actions
// of a decision meet the same random numbers. Where many calls or discards are legal, some of them are labelled, the
// one taken and that of `rules` among them.
//
// With `worlds` there are so many deals instead of playouts, drawn by what was said (draw_worlds), of which the true one is
// but one: cards are worth what PIMC takes them to be, and before the cards are played there is one playout in each.
// evaluation: what the worlds are weighted by; may be null without `worlds`.
//
// Results follow from seed and stream. They are appended. Throws std::invalid_argument on a history that breaks the
// rules or ends early, or if `worlds` comes without an evaluation.
void label(bool seeger, const Evaluation* evaluation, const std::uint8_t* history, int seat,
           const LabelOptions& options, std::uint64_t seed, std::uint64_t stream, std::vector<Label>& out);

}  // namespace trickformer::skat
