#include "hanabi/labels.inl"

#include <stdexcept>

#include "hanabi/tables.hpp"
#include "core/tracker.hpp"

namespace trickformer::hanabi {
namespace {

void check(const Rules& rules, const std::uint8_t* history) {
  if (!is_deck(rules, history)) throw std::invalid_argument("a deck holds every card");
  State s = new_game(rules, history);
  const std::uint8_t *action = history + rules.deck(), *end = action + longest(rules);
  for (; action != end && !s.over() && *action != 255; ++action) {
    check_action(*action < rules.actions() && legal(s) >> *action & 1, *action);
    apply(s, *action);
  }
}

}  // namespace

void label(const Table& table, const std::uint8_t* history, int seat, const LabelOptions& options, std::uint64_t seed,
           std::uint64_t stream, std::vector<Label>& out) {
  check(table.rules(), history);
  detail::LabelGame* label_game = label_here;
#if defined(__x86_64__)
  static const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  if (v3) label_game = detail::label_v3;
#endif
  label_game(table, history, seat, options, seed, stream, out);
}

}  // namespace trickformer::hanabi
