// What the actions of a decision are worth with the hands as they were: labels for action values.
#pragma once
#include <cstdint>
#include <vector>

#include "core/isa.hpp"
#include "core/label.hpp"
#include "hanabi/tokens.hpp"

namespace trickformer::hanabi {

// Labels of the decisions of `seat` in a game (history: as `encode` takes it) at which it had a choice: of each legal
// action the mean v(o) over `playouts` games that go on with it, all seats `smart`. The hands are the true ones. The
// deck is in its true order in the first playout and shuffled in the others, alike for all actions of a decision. A
// decision is labelled with chance `share`. Results follow from seed and stream; they are appended. Throws
// std::invalid_argument on a history that breaks the rules.
void label(const Codec& table, const std::uint8_t* history, int seat, const LabelOptions& options, std::uint64_t seed,
           std::uint64_t stream, std::vector<Label>& out);

// Without a check of the history.
using LabelGame = void(const Codec&, const std::uint8_t*, int, const LabelOptions&, std::uint64_t, std::uint64_t,
                       std::vector<Label>&);
TRICKFORMER_PER_ISA(LabelGame, label_game);

}  // namespace trickformer::hanabi
