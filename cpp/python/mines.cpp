// The Python face of Mines: rules, what was seen, exact counts, draws, search and the optimal player. Layouts go in
// and out as uint64, a bit for each cell.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <vector>

#include "mines/count.hpp"
#include "mines/search.hpp"
#include "mines/solver.hpp"
#include "python/guarded.hpp"

using namespace nb::literals;
using namespace trickformer;
using namespace trickformer::mines;

namespace {

Out<Cells> to_numpy(const std::vector<Cells>& values) {
  auto out = make<Cells>({values.size()});
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

std::vector<int> cells_of(Cells cells) { return cards_of(cells); }

int cell_of(const Board& board, int cell) { return int(checked(cell, std::size_t(board.cells()), "cell")); }

Observation observation_of(const Board& board, const std::vector<int>& cells, const std::vector<int>& shown) {
  if (cells.size() != shown.size()) throw nb::value_error("one number for each cell that was opened");
  Observation observation = new_observation(board);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const int cell = cell_of(board, cells[i]);
    if (observation.exploded || (observation.opened & bit(cell)))
      throw nb::value_error("no cell is opened twice, nor after a mine");
    if (shown[i] < 0 || shown[i] > kMine) throw nb::value_error("a cell shows 0 to 8, or 9 for a mine");
    open(board, observation, cell, shown[i]);
  }
  return observation;
}

void lay(State& s, const std::vector<int>& cells) {
  Cells layout = 0;
  for (int cell : cells) layout |= bit(cell_of(s.board, cell));
  if (s.is_laid() || count(layout) != s.board.mines || layout & ~s.observation.allowed)
    throw nb::value_error("mines are laid once, all of them, where the rule of the first move allows it");
  if (!s.observation.n && s.board.first_move != FirstMove::kAny)
    throw nb::value_error("the mines spare the first cell, and are laid once it is open");
  s.layout = layout;
  if (s.observation.n) s.observation.shown[0] = std::uint8_t(number(s.board, layout, s.observation.cell[0]));
}

// A first cell that is opened before the mines are laid gets its number from them.
void open_cell(State& s, int cell) {
  cell_of(s.board, cell);
  if (s.over() || s.observation.opened & bit(cell)) throw nb::value_error("this cell cannot be opened now");
  if (!s.is_laid() && (s.observation.n || s.board.first_move == FirstMove::kAny))
    throw nb::value_error("the mines are not laid");
  open(s.board, s.observation, cell, s.layout & bit(cell) ? kMine : number(s.board, s.layout, cell));
}

void check_consistent(const Board& board, const Observation& observation) {
  if (!Counter(board, observation).layouts()) throw nb::value_error("no layout of mines explains what was seen");
}

void bind_rules(nb::module_& m) {
  nb::class_<Board> board(m, "Board",
                          "A grid, its number of mines, and the rule of the first move: an index into "
                          "FIRST_MOVES. Raises ValueError for a board that cannot be played.");
  bind_copies(board, "Board");
  board
      .def(
          "__init__",
          [](Board* self, int rows, int cols, int mines, int first_move) {
            new (self) Board(new_board(rows, cols, mines, FirstMove(checked(first_move, 3, "first move"))));
          },
          "rows"_a, "cols"_a, "mines"_a, "first_move"_a)
      .def(
          "allowed_cells", [](const Board& b, int first) { return cells_of(allowed(b, cell_of(b, first))); }, "first"_a,
          "Where mines may lie once that cell is opened first, ascending.")
      .def("around", [](const Board& b, int cell) { return cells_of(b.around[cell_of(b, cell)]); }, "cell"_a);

  nb::class_<State> state(m, "State", "A game: the mines, once they are laid, and what was opened.");
  bind_copies(state, "State");
  state.def(
           "__init__", [](State* self, const Board& b) { new (self) State{b, 0, new_observation(b)}; }, "board"_a)
      .def("lay", &lay, "cells"_a, "Lay the mines. Raises ValueError where they cannot lie so.")
      .def("open", &open_cell, "cell"_a, "Open a cell. Raises ValueError where that is not allowed.")
      .def_prop_ro("is_laid", &State::is_laid)
      .def_prop_ro("over", &State::over)
      .def_prop_ro("layout", [](const State& s) { return cells_of(s.layout); })
      .def_prop_ro(
          "score", [](const State& s) { return int(s.observation.n); }, "cells opened without a mine")
      .def_prop_ro(
          "unopened_cells",
          [](const State& s) { return cells_of(s.board.all & ~s.observation.opened & ~s.observation.exploded); })
      .def_prop_ro(
          "opened_cells",
          [](const State& s) {
            std::vector<std::pair<int, int>> out;
            for (int i = 0; i < s.observation.n; ++i) out.emplace_back(s.observation.cell[i], s.observation.shown[i]);
            if (s.observation.exploded) out.emplace_back(lowest(s.observation.exploded), kMine);
            return out;
          },
          "(cell, number shown) of each opened cell, in order; 9 is a mine.");

  nb::class_<Observation>(
      m, "Observation",
      "What the player knows: cells in the order in which they were opened, and what each has shown, 9 "
      "for a mine. Raises ValueError for what no game can show.")
      .def(
          "__init__",
          [](Observation* self, const Board& b, const std::vector<int>& cells, const std::vector<int>& shown) {
            new (self) Observation(observation_of(b, cells, shown));
          },
          "board"_a, "cells"_a, "shown"_a);
  m.def(
      "is_consistent",
      [](const Board& b, const Observation& observation, In1<Cells> layouts) {
        auto out = make<bool>({layouts.size()});
        for (std::size_t i = 0; i < layouts.size(); ++i) {
          const Cells layout = layouts.data()[i];
          out.data()[i] = !(layout & ~b.all) && count(layout) == b.mines && is_consistent(b, observation, layout);
        }
        return out;
      },
      "board"_a, "observation"_a, "layouts"_a, "bool [n]: whether each layout is consistent with an observation.");
}

void bind_beliefs(nb::module_& m) {
  nb::class_<Counter>(m, "Counter", "The layouts that explain what was seen, counted exactly.")
      .def(nb::init<const Board&, const Observation&>(), "board"_a, "observation"_a)
      .def_prop_ro("layouts", &Counter::layouts, "How many there are.")
      .def(
          "mines", [](const Counter& c) { return to_numpy(c.mines()); },
          "uint64 [64]: in how many of them each cell is a mine.")
      .def(
          "all",
          [](const Counter& c, std::uint64_t limit) {
            if (c.layouts() > limit) throw nb::value_error("there are more layouts than that");
            std::vector<Cells> found;
            {
              nb::gil_scoped_release release;
              check_room(c.layouts(), sizeof(Cells));
              found.reserve(c.layouts());
              c.each([&](Cells layout) { found.push_back(layout); });
              std::sort(found.begin(), found.end());
            }
            return to_numpy(found);
          },
          "limit"_a, "All of them, uint64 [n], ascending. Raises ValueError where there are more than `limit`.");
  m.def(
      "sample",
      [](const Board& b, const Observation& observation, int method, int domain, std::uint64_t trials,
         std::uint64_t seed, std::size_t n) {
        checked(method, 4, "method");
        checked(domain, 2, "domain");
        check_consistent(b, observation);
        auto out = make<Cells>({n});
        nb::gil_scoped_release release;
        sample(b, observation, Method(method), Domain(domain), trials, seed, n, out.data());
        return out;
      },
      "board"_a, "observation"_a, "method"_a, "domain"_a, "trials"_a, "seed"_a, "n"_a,
      "n layouts, uint64 [n], by a method, an index into METHODS, that proposes them in a domain, an index into "
      "DOMAINS; walks make `trials` steps, and rejection gives up after so many draws with 0, if it is not 0. Raises "
      "ValueError where no layout explains what was seen.");
}

// Whether a signal such as Ctrl-C has come, whose exception is then set.
bool interrupted() {
  nb::gil_scoped_acquire acquired;
  return PyErr_CheckSignals() != 0;
}

void bind_players(nb::module_& m) {
  nb::class_<SearchResult>(m, "SearchResult")
      .def_ro("cell", &SearchResult::cell)
      .def_ro("value", &SearchResult::value)
      .def_ro("simulations", &SearchResult::simulations)
      .def_ro("n_layouts", &SearchResult::drawn)
      .def_ro("inconsistent", &SearchResult::inconsistent)
      .def_prop_ro("visits",
                   [](const SearchResult& r) { return std::vector<int>(std::begin(r.visits), std::end(r.visits)); })
      .def_prop_ro("values",
                   [](const SearchResult& r) { return std::vector<double>(std::begin(r.values), std::end(r.values)); });
  m.def(
      "search",
      [](const Board& b, const Observation& observation, int method, int domain, std::uint64_t simulations,
         double seconds, double c, double widening, std::uint64_t seed) {
        checked(method, 4, "method");
        checked(domain, 2, "domain");
        if (observation.exploded || observation.n == b.safe()) throw nb::value_error("the game is over");
        check_consistent(b, observation);
        SearchResult found;
        {
          nb::gil_scoped_release release;
          const SearchOptions options{Method(method), Domain(domain), simulations, seconds, c, widening, &interrupted};
          found = search(b, observation, options, seed);
        }
        if (PyErr_Occurred()) throw nb::python_error();
        return found;
      },
      "board"_a, "observation"_a, nb::kw_only(), "method"_a, "domain"_a, "simulations"_a, "seconds"_a, "c"_a,
      "widening"_a, "seed"_a,
      "BSR-UCT (cpp/mines/search.hpp). Raises ValueError where the game is over or no layout explains what was seen.");

  Guarded<Solver>(m, "Solver", "Optimal play by dynamic programming; it remembers what it has solved.")
      .def(nb::init<const Board&, std::size_t, std::size_t>(), "board"_a, "positions"_a, "layouts"_a)
      .def(
          "open",
          [](Solver& s, const Observation& observation, int cell) {
            if (observation.exploded || observation.opened & bit(cell_of(s.board(), cell)))
              throw nb::value_error("this cell cannot be opened now");
            nb::gil_scoped_release release;
            const Solver::Value value = s.open(observation, cell);
            return std::make_pair(value.layouts, value.sum);
          },
          "observation"_a, "cell"_a,
          "Layouts that explain what was seen (where the rule asks for it, once this cell is the first), and the sum "
          "over them of the cells opened from here on, this one included, by the best play. Raises RuntimeError where "
          "the position is too large.")
      .def_prop_ro("positions", &Solver::positions, "Positions that it remembers.");
}

}  // namespace

void bind_mines(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("mines", "Mines: rules, beliefs, search, optimal play");
  m.attr("FIRST_MOVES") = nb::make_tuple("any", "safe", "no-neighbours");
  m.attr("METHODS") = nb::make_tuple("rejection", "metropolis", "inherited", "exact");
  m.attr("DOMAINS") = nb::make_tuple("rule", "board");
  m.attr("MINE") = kMine;
  bind_rules(m);
  bind_beliefs(m);
  bind_players(m);
}
