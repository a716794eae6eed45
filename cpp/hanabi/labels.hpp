// Labels for action values: the value of each action of a decision, with the hands as they were.
#pragma once
#include <cstdint>
#include <vector>

#include "core/label.hpp"
#include "hanabi/tokens.hpp"

namespace trickformer::hanabi {

// Labels of the decisions of `seat` in a game (history: as `encode` takes it) at which it had a choice. The label of a
// legal action is the mean v(o) over `playouts` games that continue with it, with `smart` in all seats and true hands.
// The deck has its true order in the first playout. It is shuffled in the others, in the same way for all actions of a
// decision. A decision is labelled with probability `share`. Results depend only on seed and stream; they are appended.
// Throws std::invalid_argument on a history that breaks the rules.
void label(const Codec& codec, const std::uint8_t* history, int seat, const LabelOptions& options, std::uint64_t seed,
           std::uint64_t stream, std::vector<Label>& out);

}  // namespace trickformer::hanabi
