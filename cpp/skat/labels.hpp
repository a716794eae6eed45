// Labels for action values: the value of each action of a decision, in the true deal or in sampled deals.
#pragma once
#include <cstdint>
#include <vector>

#include "core/label.hpp"
#include "skat/evaluation.hpp"
#include "skat/random.hpp"

namespace trickformer::skat {

// Labels of the decisions of `seat` in a whole game (history: [kHistory]) at which it had a choice. The label of a
// legal action is the own seat's v(o) (GO-MCTS paper, equation 5), with the true cards. A decision is labelled with
// probability `share`.
//
// With few cards left the label is the result of best play with open cards. Before that it is the mean over `playouts`:
// `rules` plays every seat, with one card in sixteen at random, until few cards are left, and best play ends the game.
// All actions of a decision get the same random numbers. If many calls or discards are legal, only some of them are
// labelled; the action taken and the action of `rules` are among them.
//
// With `worlds`, `playouts` deals that are weighted by the actions of the other seats (draw_worlds) take the place of
// the playouts. Then a card has its value by PIMC, and before card play there is one playout in each deal. evaluation:
// weights the worlds; may be null without `worlds`.
//
// Results depend only on seed and stream, and are appended. Throws std::invalid_argument on a history that breaks the
// rules or ends early, or if `worlds` is set without an evaluation.
void label(bool seeger, const Evaluation* evaluation, const std::uint8_t* history, int seat,
           const LabelOptions& options, std::uint64_t seed, std::uint64_t stream, std::vector<Label>& out);

}  // namespace trickformer::skat
