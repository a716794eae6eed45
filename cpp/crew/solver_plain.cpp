#include "crew/solver_plain.hpp"

#include <stdexcept>

namespace trickformer::crew {

static Verdict search(const State& s, std::uint64_t max_nodes, const Draws* draws, std::uint64_t& nodes) {
  if (s.over()) return s.result > 0 ? Verdict::kYes : Verdict::kNo;
  State next = s;
  if (s.phase == Phase::kRadio || s.phase == Phase::kRadioCard) {
    next.phase = Phase::kPlay;
    next.current = s.leader;
    return search(next, max_nodes, draws, nodes);
  }
  Cards choices = legal(s);
  if (s.phase == Phase::kDraw) {
    apply(next, nth(choices, int((*draws)[s.step] * count(choices))));
    return search(next, max_nodes, draws, nodes);
  }
  while (choices) {
    if (nodes == max_nodes) return Verdict::kUnknown;
    ++nodes;
    next = s;
    apply(next, take_lowest(choices));
    if (const Verdict found = search(next, max_nodes, draws, nodes); found != Verdict::kNo) return found;
  }
  return Verdict::kNo;
}

Verdict plain_can_succeed(const State& state, std::uint64_t max_nodes, const std::optional<Draws>& draws,
                          std::uint64_t& nodes) {
  if (const char* what = fault(state, draws.has_value())) throw std::invalid_argument(what);
  nodes = 0;
  return search(state, max_nodes, draws ? &*draws : nullptr, nodes);
}

}  // namespace trickformer::crew
