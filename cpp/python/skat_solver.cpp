// Python bindings of the Skat solver. A batch of positions is passed as columns.
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <string>
#include <vector>

#include "python/bind.hpp"
#include "skat/solver.hpp"
#include "skat/solver_plain.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::skat;

namespace {

constexpr int kEnding = 15;  // largest number of cards, all hands together, for which every line of play can be tried

struct Positions {
  std::vector<SolverPosition> all;
};

void construct(Positions* self, In1<std::int8_t> kinds, In1<std::int8_t> soloist, In2<std::uint32_t> hands,
               In2<std::int8_t> tricks, In1<std::int8_t> leader, In2<std::int16_t> points) {
  const std::size_t n = kinds.size();
  if (soloist.size() != n || leader.size() != n || hands.shape(0) != n || hands.shape(1) != 3 || tricks.shape(0) != n ||
      tricks.shape(1) != 2 || points.shape(0) != n || points.shape(1) != 2)
    throw nb::value_error(
        "arrays of n positions must be kinds [n], soloist [n], hands [n, 3], tricks [n, 2], leader [n], points [n, 2]");
  std::vector<SolverPosition> all(n);
  for (std::size_t i = 0; i < n; ++i) {
    SolverPosition& p = all[i];
    if (kinds.data()[i] < 0 || kinds.data()[i] > int(Kind::kNull)) throw nb::value_error("a kind is 0 to 5");
    p.kind = Kind(kinds.data()[i]);
    p.soloist = soloist.data()[i];
    p.leader = leader.data()[i];
    for (std::size_t k = 0; k < 3; ++k) p.hands[k] = hands.data()[3 * i + k];
    for (std::size_t k = 0; k < 2; ++k) {
      p.trick[k] = tricks.data()[2 * i + k];
      p.points[k] = points.data()[2 * i + k];
    }
    if (const char* what = fault(p)) throw nb::value_error(("position " + std::to_string(i) + ": " + what).c_str());
  }
  new (self) Positions{std::move(all)};
}

template <typename T>
std::pair<Out<T>, Out<std::int64_t>> ask(const Positions& positions, Query query,
                                         const std::vector<std::int16_t>& limits, int threads) {
  const std::size_t n = positions.all.size();
  std::vector<SolverResult> results(n);
  {
    nb::gil_scoped_release release;
    solve(positions.all, query, limits, threads, results);
  }
  const bool moves = query == Query::kMovesAtLeast || query == Query::kMovesExact;
  auto nodes = make<std::int64_t>({n});
  auto values = moves ? make<T>({n, std::size_t(kNumCards)}) : make<T>({n});
  for (std::size_t i = 0; i < n; ++i) {
    nodes.data()[i] = std::int64_t(results[i].nodes);
    if (!moves) values.data()[i] = T(results[i].value);
    for (std::size_t card = 0; moves && card < kNumCards; ++card)
      values.data()[i * kNumCards + card] = T(results[i].moves[card]);
  }
  return std::make_pair(values, nodes);
}

}  // namespace

void bind_skat_solver(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("skat_solver", "Solver of Skat with open cards.");

  nb::class_<Positions>(
      m, "Positions",
      "Positions to solve. kinds: int8 [n], 0 to 3 for suits, 4 grand, 5 null. soloist, leader: int8 [n], seats; "
      "leader leads the current trick. hands: uint32 [n, 3], bit sets of cards. tricks: int8 [n, 2], the cards of the "
      "current trick, padded with -1. points: int16 [n, 2], card points so far of the soloist (with the skat) and of "
      "the defenders. Raises ValueError if a position is not possible.")
      .def("__init__", &construct, "kinds"_a, "soloist"_a, "hands"_a, "tricks"_a, "leader"_a, "points"_a)
      .def("__len__", [](const Positions& self) { return self.all.size(); });

  const auto each = [](const Positions& p, int limit) {
    return std::vector<std::int16_t>(p.all.size(), std::int16_t(std::clamp(limit, -1000, 1000)));
  };
  m.def(
      "at_least",
      [each](const Positions& p, int threshold, int threads) {
        return ask<std::int8_t>(p, Query::kAtLeast, each(p, threshold), threads);
      },
      "positions"_a, "threshold"_a = 61, "threads"_a = 1,
      "Return whether the soloist ends with at least `threshold` card points (null: takes no further trick), int8 [n], "
      "and the numbers of nodes, int64 [n].");
  m.def(
      "exact", [](const Positions& p, int threads) { return ask<std::int16_t>(p, Query::kExact, {}, threads); },
      "positions"_a, "threads"_a = 1,
      "Return the soloist's card points at the end, int16 [n] (null: 1 if the soloist takes no further trick, else 0), "
      "and the numbers of nodes, int64 [n].");
  m.def(
      "tricks_at_least",
      [each](const Positions& p, int n, int threads) {
        return ask<std::int8_t>(p, Query::kTricksAtLeast, each(p, n), threads);
      },
      "positions"_a, "n"_a, "threads"_a = 1,
      "Return whether the soloist takes at least n of the tricks that are not complete yet, int8 [n], and the numbers "
      "of nodes, int64 [n].");
  m.def(
      "moves_at_least",
      [each](const Positions& p, int threshold, int threads) {
        return ask<std::int8_t>(p, Query::kMovesAtLeast, each(p, threshold), threads);
      },
      "positions"_a, "threshold"_a = 61, "threads"_a = 1,
      "Return the answer of at_least after each card, int8 [n, 32] (1, 0, or -1 for an illegal card), and the numbers "
      "of nodes, int64 [n].");
  m.def(
      "moves_exact",
      [](const Positions& p, int threads) { return ask<std::int16_t>(p, Query::kMovesExact, {}, threads); },
      "positions"_a, "threads"_a = 1,
      "Return the answer of exact after each card, int16 [n, 32] (-1 for an illegal card), and the numbers of nodes, "
      "int64 [n].");

  m.def(
      "plain_at_least",
      [](const Positions& p, int threshold) {
        auto values = make<std::int8_t>({p.all.size()});
        auto nodes = make<std::int64_t>({p.all.size()});
        for (const SolverPosition& x : p.all)
          if (x.kind == Kind::kNull) throw nb::value_error("the plain solver does not support null");
        {
          nb::gil_scoped_release release;
          static thread_local PlainSolver solver;
          for (std::size_t i = 0; i < p.all.size(); ++i) {
            const std::uint64_t before = solver.nodes();
            values.data()[i] = solver.at_least(p.all[i], std::clamp(threshold, -1000, 1000));
            nodes.data()[i] = std::int64_t(solver.nodes() - before);
          }
        }
        return std::make_pair(values, nodes);
      },
      "positions"_a, "threshold"_a,
      "Return the result of at_least by a plain zero-window search, the baseline of benchmarks.skat_solver.");
  m.def(
      "minimax_moves",
      [](const Positions& p, bool tricks) {
        for (const SolverPosition& x : p.all)
          if (count(x.hands[0] | x.hands[1] | x.hands[2]) > kEnding)
            throw nb::value_error("every line of play is tried, so the hands may have at most 15 cards together");
        auto values = make<std::int16_t>({p.all.size(), std::size_t(kNumCards)});
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < p.all.size(); ++i) {
          const auto row = minimax_moves(p.all[i], tricks);
          std::copy(row.begin(), row.end(), values.data() + i * kNumCards);
        }
        return values;
      },
      "positions"_a, "tricks"_a,
      "Solve endings by trying every line of play. Returns int16 [n, 32]: the soloist's card points at the end after "
      "each card or, if `tricks` (and always in null), the number of tricks that the soloist still takes; -1 for an "
      "illegal card. It is the reference of the tests.");
}
