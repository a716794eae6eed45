#include "hanabi/labels.hpp"

#include <stdexcept>

#include "core/tracker.hpp"
#include "hanabi/tables.hpp"

namespace trickformer::hanabi {
namespace {

void check(const Rules& rules, const std::uint8_t* history) {
  if (!is_deck(rules, history))
    throw std::invalid_argument("these cards are no deck of the game; a deck holds every card");
  State s = new_game(rules, history);
  const std::uint8_t *action = history + rules.deck(), *end = action + longest(rules);
  for (; action != end && !s.over() && *action != 255; ++action) {
    check_action(*action < rules.actions() && legal(s) >> *action & 1, *action);
    apply(s, *action);
  }
}

}  // namespace

void label(const Codec& codec, const std::uint8_t* history, int seat, const LabelOptions& options, std::uint64_t seed,
           std::uint64_t stream, std::vector<Label>& out) {
  check(codec.rules(), history);
  label_game(codec, history, seat, options, seed, stream, out);
}

}  // namespace trickformer::hanabi
