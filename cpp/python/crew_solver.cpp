// Python bindings of The Crew's solver.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "crew/solver.hpp"
#include "crew/solver_plain.hpp"
#include "python/guarded.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::crew;

namespace {

using Given = std::optional<std::vector<double>>;

Draws draws_of(const double* given) {
  Draws draws;
  std::copy(given, given + kPlayers, draws.begin());
  for (double x : draws)
    if (!(x >= 0 && x < 1)) throw nb::value_error("draws must be at least 0 and below 1");
  return draws;
}

std::optional<Draws> draws_of(const Given& given) {
  if (!given) return {};
  if (given->size() != kPlayers) throw nb::value_error("draws must be four numbers, one per seat");
  return draws_of(given->data());
}

std::optional<bool> to_python(Verdict answer) {
  return answer == Verdict::kUnknown ? std::nullopt : std::optional(answer == Verdict::kYes);
}

}  // namespace

void bind_crew_solver(nb::module_& parent) {
  nb::module_ m = nb::borrow<nb::module_>(parent.attr("crew"));
  Guarded<Solver>(m, "Solver", "Solver that decides whether a mission can still succeed with open hands.")
      .def(nb::init<>())
      .def(
          "can_succeed",
          [](Solver& self, const State& state, std::uint64_t max_nodes, const Given& draws) {
            const auto given = draws_of(draws);
            const State own = state;  // a copy, because another thread may change the original
            Verdict answer;
            {
              nb::gil_scoped_release release;
              answer = self.can_succeed(own, max_nodes, given);
            }
            return to_python(answer);
          },
          "state"_a, "max_nodes"_a, "draws"_a = nb::none(),
          "Return whether some line of play fulfils the mission: True, False, or None if the search stopped after "
          "trying `max_nodes` cards. If cards are still to be drawn, `draws` gives, by seat, a number in [0, 1): the "
          "relative position of the drawn card among the right neighbour's drawable cards in order. Raises ValueError "
          "if tasks or cards are still to be passed out, or if draws are missing.")
      .def(
          "can_succeed_each",
          [](Solver& self, const std::vector<const State*>& states, std::uint64_t max_nodes,
             const std::optional<In2<double>>& draws) {
            if (draws && (draws->shape(0) != states.size() || draws->shape(1) != kPlayers))
              throw nb::value_error("draws must be float64 [n, 4], one row per state");
            if (std::count(states.begin(), states.end(), nullptr))
              throw nb::value_error("states must not contain None");
            std::vector<State> own;
            for (const State* state : states) own.push_back(*state);
            std::vector<std::optional<Draws>> given(states.size());
            for (std::size_t i = 0; draws && i < states.size(); ++i) given[i] = draws_of(draws->data() + kPlayers * i);
            auto answers = make<std::int8_t>({states.size()});
            auto nodes = make<std::int64_t>({states.size()});
            {
              nb::gil_scoped_release release;
              for (std::size_t i = 0; i < states.size(); ++i) {
                const Verdict answer = self.can_succeed(own[i], max_nodes, given[i]);
                answers.data()[i] = answer == Verdict::kUnknown ? std::int8_t(-1) : answer == Verdict::kYes;
                nodes.data()[i] = std::int64_t(self.nodes());
              }
            }
            return std::make_pair(answers, nodes);
          },
          "states"_a, "max_nodes"_a, "draws"_a = nb::none(),
          "Run can_succeed on many states, each with its own `max_nodes` and its row of draws, float64 [n, 4]. Returns "
          "the answers, int8 [n] (1 yes, 0 no, -1 unknown), and the numbers of cards tried, int64 [n].")
      .def_prop_ro(
          "nodes", [](const Solver& self) { return self.nodes(); }, "Number of cards tried for the last position.")
      .def_prop_ro(
          "line", [](const Solver& self) { return std::vector<int>(self.line().begin(), self.line().end()); },
          "Cards that fulfil the mission from the last position, in order of play; empty if none are known.");
  m.def(
      "plain_can_succeed",
      [](const State& state, std::uint64_t max_nodes, const Given& draws) {
        const auto given = draws_of(draws);
        const State own = state;
        std::uint64_t nodes = 0;
        Verdict answer;
        {
          nb::gil_scoped_release release;
          answer = plain_can_succeed(own, max_nodes, given, nodes);
        }
        return std::make_pair(to_python(answer), nodes);
      },
      "state"_a, "max_nodes"_a, "draws"_a = nb::none(),
      "Return the answer of can_succeed and the number of cards tried, by trying every card in order. It is the "
      "reference of the tests and the baseline of benchmarks.crew_solver.");
}
