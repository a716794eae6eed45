#include "crew/solver.hpp"

#include <algorithm>
#include <stdexcept>

#include "crew/solver_table.hpp"

namespace trickformer::crew {

const char* fault(const State& s, bool has_draws) {
  if (s.over()) return nullptr;
  if (s.phase < Phase::kRadio || s.owned < s.mission.tasks)
    return "a position can be solved once the tasks are given away and cards passed on";
  if (!has_draws && s.mission.has(Rule::kDraw) && (s.num_plays < kPlayers || s.phase == Phase::kDraw))
    return "draws are missing: a position before the draw needs them";
  return nullptr;
}

SolverTable::SolverTable(int log2_entries)
    : shift(64 - log2_entries), keys(new std::uint64_t[std::size_t{1} << log2_entries]()) {}

void SolverTable::forget() {
  if (++stamp >> 16) {
    std::fill_n(keys.get(), std::size_t{1} << (64 - shift), 0);
    stamp = 1;
  }
}

Solver::Solver(int log2_entries) : table_(std::make_unique<SolverTable>(log2_entries)) {}
Solver::~Solver() = default;
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;

Verdict Solver::can_succeed(const State& state, std::uint64_t max_nodes, const std::optional<Draws>& draws) {
  if (const char* what = fault(state, draws.has_value())) throw std::invalid_argument(what);
  nodes_ = 0;
  line_.clear();
  if (state.over()) return state.result > 0 ? Verdict::kYes : Verdict::kNo;
  return search(*table_, state, max_nodes, draws ? &*draws : nullptr, nodes_, line_);
}

}  // namespace trickformer::crew
