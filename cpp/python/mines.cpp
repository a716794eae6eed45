// Python bindings of Mines: rules, observations, exact counts, draws, search and the optimal player. Layouts are passed
// as uint64, a bit for each cell, and as several words on boards beyond 64 cells.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
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

using AnyBoard = Any<Board>;
using AnyObservation = Any<Observation>;
using AnyState = Any<State>;
using AnyCounter = Any<Counter>;
using AnySolver = Any<Solver>;

// Sets of cells, or numbers of layouts: uint64 [n] on boards of one word, else [n, words], the lowest word first.
template <typename Cells>
Out<std::uint64_t> to_numpy(const std::vector<Cells>& values) {
  constexpr std::size_t kNumWords = kWords<Cells>;
  auto out = kNumWords == 1 ? make<std::uint64_t>({values.size()}) : make<std::uint64_t>({values.size(), kNumWords});
  for (std::size_t i = 0; i < values.size(); ++i) store(values[i], out.data() + i * kNumWords);
  return out;
}

nb::int_ to_python(std::uint64_t number) { return nb::int_(number); }

template <int N>
nb::int_ to_python(const Wide<N>& number) {
  const nb::bytes bytes(reinterpret_cast<const char*>(number.word), sizeof(number));  // the machine is little-endian
  return nb::int_(nb::handle(reinterpret_cast<PyObject*>(&PyLong_Type)).attr("from_bytes")(bytes, "little"));
}

template <typename Cells>
std::vector<int> cells_of(Cells cells) {
  std::vector<int> out;
  while (any(cells)) out.push_back(take_lowest(cells));
  return out;
}

template <typename Cells>
int cell_of(const Board<Cells>& board, int cell) {
  return int(checked(cell, std::size_t(board.cells()), "cell"));
}

// Returns whether a signal such as Ctrl-C has arrived; then its exception is set.
bool interrupted() {
  nb::gil_scoped_acquire acquired;
  return PyErr_CheckSignals() != 0;
}

int words_of(const AnyBoard& board) {
  return std::visit([]<typename Cells>(const Board<Cells>&) { return kWords<Cells>; }, board);
}

AnyObservation observation_of(const AnyBoard& any_board, const std::vector<int>& cells, const std::vector<int>& shown) {
  if (cells.size() != shown.size()) throw nb::value_error("shown must have one number for each opened cell");
  return std::visit(
      [&]<typename Cells>(const Board<Cells>& board) -> AnyObservation {
        Observation<Cells> observation = new_observation(board);
        for (std::size_t i = 0; i < cells.size(); ++i) {
          const int cell = cell_of(board, cells[i]);
          if (any(observation.exploded) || has(observation.opened, cell))
            throw nb::value_error("a cell is opened twice, or after a mine");
          if (shown[i] < 0 || shown[i] > kMine)
            throw nb::value_error("an opened cell must show 0 to 8, or 9 for a mine");
          open(board, observation, cell, shown[i]);
        }
        return observation;
      },
      any_board);
}

// Plays the cascade of the cells that were opened as number `first` or later, if the board has the cascade.
template <typename Cells>
void open_cascade_from(State<Cells>& s, int first) {
  if (s.board.cascade) open_cascade(s.board, s.observation, s.layout, first, [](int) {});
}

template <typename Cells>
void lay(State<Cells>& s, const std::vector<int>& cells) {
  Cells layout{};
  for (int cell : cells) layout |= bit<Cells>(cell_of(s.board, cell));
  if (s.is_laid() || count(layout) != s.board.mines || any(layout & ~s.observation.allowed))
    throw nb::value_error("all mines must be laid at once, in cells that the rule of the first move allows");
  if (!s.observation.n && s.board.first_move != FirstMove::kAny)
    throw nb::value_error("mines are laid after the first cell is opened, and not in that cell");
  s.layout = layout;
  if (!s.observation.n) return;
  s.observation.shown[0] = std::uint8_t(number(s.board, layout, s.observation.cell[0]));
  open_cascade_from(s, 0);
}

// A first cell that is opened before the mines are laid gets its number, and its cascade, when they are laid.
template <typename Cells>
void open_cell(State<Cells>& s, int cell) {
  cell_of(s.board, cell);
  if (s.over() || has(s.observation.opened, cell)) throw nb::value_error("this cell cannot be opened in this state");
  if (!s.is_laid() && (s.observation.n || s.board.first_move == FirstMove::kAny))
    throw nb::value_error("the mines have not been laid yet");
  const int before = s.observation.n;
  open(s.board, s.observation, cell, has(s.layout, cell) ? kMine : number(s.board, s.layout, cell));
  if (s.is_laid()) open_cascade_from(s, before);
}

// Throws if no layout is consistent with the observation. Returns the counter for the exact method, which draws from it.
// The other methods need no counter and may be used if there are too many layouts to count.
std::optional<AnyCounter> count_layouts(const AnyBoard& board, const AnyObservation& observation, int method) {
  std::optional<AnyCounter> counter;
  try {
    on_board(board, observation, [&]<typename Cells>(const Board<Cells>& b, const Observation<Cells>& s) {
      nb::gil_scoped_release release;
      counter.emplace(std::in_place_type<Counter<Cells>>, b, s);
    });
  } catch (const std::runtime_error&) {
    if (Method(method) == Method::kExact) throw;
    return std::nullopt;
  }
  if (!std::visit([](const auto& c) { return any(c.layouts()); }, *counter))
    throw nb::value_error("no layout of mines explains what was seen");
  if (Method(method) != Method::kExact) counter.reset();
  return counter;
}

void bind_rules(nb::module_& m) {
  nb::class_<AnyBoard> board(
      m, "Board",
      "A board: its grid, its number of mines, its rule for the first move (an index into FIRST_MOVES), and whether a "
      "cell that shows 0 also opens its neighbours (`cascade`). Raises ValueError if the board cannot be played.");
  bind_copies(board, "Board");
  board
      .def(
          "__init__",
          [](AnyBoard* self, int rows, int cols, int mines, int first_move, bool cascade) {
            new (self) AnyBoard(new_board(rows, cols, mines, FirstMove(checked(first_move, 3, "first move")), cascade));
          },
          "rows"_a, "cols"_a, "mines"_a, "first_move"_a, "cascade"_a = false)
      .def(
          "allowed_cells",
          [](const AnyBoard& any_board, int first) {
            return std::visit([&](const auto& b) { return cells_of(allowed(b, cell_of(b, first))); }, any_board);
          },
          "first"_a, "Return the cells that may hold a mine if the cell `first` is opened first, ascending.")
      .def(
          "around",
          [](const AnyBoard& any_board, int cell) {
            return std::visit([&](const auto& b) { return cells_of(around(b, cell_of(b, cell))); }, any_board);
          },
          "cell"_a, "Return the neighbours of a cell, ascending.");

  nb::class_<AnyState> state(m, "State", "State of a game: the mines, once they are laid, and the opened cells.");
  bind_copies(state, "State");
  state
      .def(
          "__init__",
          [](AnyState* self, const AnyBoard& any_board) {
            std::visit(
                [&]<typename Cells>(const Board<Cells>& b) {
                  new (self) AnyState(State<Cells>{b, Cells{}, new_observation(b)});
                },
                any_board);
          },
          "board"_a)
      .def(
          "lay",
          [](AnyState& any_state, const std::vector<int>& cells) {
            std::visit([&](auto& s) { lay(s, cells); }, any_state);
          },
          "cells"_a, "Lay all mines in these cells. Raises ValueError if the rules do not allow them.")
      .def(
          "open", [](AnyState& any_state, int cell) { std::visit([&](auto& s) { open_cell(s, cell); }, any_state); },
          "cell"_a,
          "Open a cell. With the cascade, a 0 opens its neighbours. Raises ValueError if it cannot be opened.")
      .def_prop_ro(
          "is_laid",
          [](const AnyState& any_state) { return std::visit([](const auto& s) { return s.is_laid(); }, any_state); })
      .def_prop_ro(
          "over",
          [](const AnyState& any_state) { return std::visit([](const auto& s) { return s.over(); }, any_state); })
      .def_prop_ro("layout",
                   [](const AnyState& any_state) {
                     return std::visit([](const auto& s) { return cells_of(s.layout); }, any_state);
                   })
      .def_prop_ro(
          "score",
          [](const AnyState& any_state) {
            return std::visit([](const auto& s) { return int(s.observation.n); }, any_state);
          },
          "Number of opened cells without a mine.")
      .def_prop_ro(
          "unopened_cells",
          [](const AnyState& any_state) {
            return std::visit(
                [](const auto& s) { return cells_of(s.board.all & ~s.observation.opened & ~s.observation.exploded); },
                any_state);
          })
      .def_prop_ro(
          "opened_cells",
          [](const AnyState& any_state) {
            return std::visit(
                [](const auto& s) {
                  std::vector<std::pair<int, int>> out;
                  for (int i = 0; i < s.observation.n; ++i)
                    out.emplace_back(s.observation.cell[i], s.observation.shown[i]);
                  if (any(s.observation.exploded)) out.emplace_back(lowest(s.observation.exploded), kMine);
                  return out;
                },
                any_state);
          },
          "Opened cells in order, each as (cell, number shown); 9 is a mine.");

  nb::class_<AnyObservation>(m, "Observation",
                             "Observation of the player: the opened cells in order, and the number that each has "
                             "shown, 9 for a mine. Raises ValueError if no game can show this.")
      .def(
          "__init__",
          [](AnyObservation* self, const AnyBoard& b, const std::vector<int>& cells, const std::vector<int>& shown) {
            new (self) AnyObservation(observation_of(b, cells, shown));
          },
          "board"_a, "cells"_a, "shown"_a);
  m.def(
      "is_consistent",
      [](const AnyBoard& board, const AnyObservation& observation, In<std::uint64_t> layouts) {
        const int words = words_of(board);
        if (words == 1 ? layouts.ndim() != 1 : layouts.ndim() != 2 || layouts.shape(1) != std::size_t(words))
          throw nb::value_error(
              words == 1 ? "layouts of this board must be uint64 [n]"
                         : ("layouts of this board must be uint64 [n, " + std::to_string(words) + "]").c_str());
        auto out = make<bool>({layouts.shape(0)});
        on_board(board, observation, [&]<typename Cells>(const Board<Cells>& b, const Observation<Cells>& s) {
          for (std::size_t i = 0; i < layouts.shape(0); ++i) {
            const Cells layout = load<Cells>(layouts.data() + i * words);
            out.data()[i] = !any(layout & ~b.all) && count(layout) == b.mines && is_consistent(b, s, layout);
          }
        });
        return out;
      },
      "board"_a, "observation"_a, "layouts"_a,
      "Return bool [n]: whether each layout is consistent with an observation. Layouts are bit sets of mines: uint64 "
      "[n] on boards of up to 64 cells, else uint64 [n, words], the lowest word first.");
}

void bind_beliefs(nb::module_& m) {
  nb::class_<AnyCounter>(m, "Counter",
                         "Exact counts of the layouts that are consistent with the opened cells. Raises RuntimeError "
                         "if a board of more than 64 cells takes too much memory.")
      .def(
          "__init__",
          [](AnyCounter* self, const AnyBoard& board, const AnyObservation& observation) {
            on_board(board, observation, [&]<typename Cells>(const Board<Cells>& b, const Observation<Cells>& s) {
              nb::gil_scoped_release release;
              new (self) AnyCounter(std::in_place_type<Counter<Cells>>, b, s);
            });
          },
          "board"_a, "observation"_a)
      .def_prop_ro(
          "layouts",
          [](const AnyCounter& any_counter) {
            return std::visit([](const auto& c) { return to_python(c.layouts()); }, any_counter);
          },
          "Number of consistent layouts.")
      .def(
          "mines",
          [](const AnyCounter& any_counter) {
            return std::visit([](const auto& c) { return to_numpy(c.mines()); }, any_counter);
          },
          "Return the number of consistent layouts with a mine in each cell: uint64 [cells] on boards of up to 64 "
          "cells, else uint64 [cells, words], the lowest word first.")
      .def(
          "all",
          [](const AnyCounter& any_counter, std::uint64_t limit) {
            return std::visit(
                [&]<typename Cells>(const Counter<Cells>& c) {
                  std::uint64_t n[kWords<Cells>], most[kWords<Cells>] = {limit};
                  store(c.layouts(), n);
                  if (load<Cells>(most) < c.layouts()) throw nb::value_error("there are more layouts than limit");
                  std::vector<Cells> found;
                  {
                    nb::gil_scoped_release release;
                    check_room(n[0], sizeof(Cells));
                    found.reserve(n[0]);
                    c.each([&](const Cells& layout) { found.push_back(layout); });
                    std::sort(found.begin(), found.end(), [](const Cells& a, const Cells& b) { return a < b; });
                  }
                  return to_numpy(found);
                },
                any_counter);
          },
          "limit"_a,
          "Return all consistent layouts, ascending: uint64 [n], or uint64 [n, words] on boards of more than 64 cells. "
          "Raises ValueError if there are more than `limit`.");
  m.def(
      "sample",
      [](const AnyBoard& b, const AnyObservation& observation, int method, int domain, std::uint64_t trials,
         std::uint64_t seed, std::size_t n) {
        checked(method, 4, "method");
        checked(domain, 2, "domain");
        const std::optional<AnyCounter> counter = count_layouts(b, observation, method);
        const auto words = std::size_t(words_of(b));
        auto out = words == 1 ? make<std::uint64_t>({n}) : make<std::uint64_t>({n, words});
        {
          nb::gil_scoped_release release;
          sample(b, observation, counter ? &*counter : nullptr, Method(method), Domain(domain), trials, seed, n,
                 &interrupted, out.data());
        }
        if (PyErr_Occurred()) throw nb::python_error();
        return out;
      },
      "board"_a, "observation"_a, "method"_a, "domain"_a, "trials"_a, "seed"_a, "n"_a,
      "Draw n layouts, uint64 [n], or uint64 [n, words] on boards of more than 64 cells. method: an index into "
      "METHODS. domain: an index into DOMAINS, the set from which proposals are drawn. trials: the number of steps of "
      "a random walk; for rejection, the number of draws after which it gives up and returns 0, or 0 for no limit. "
      "Raises ValueError if no layout is consistent with the opened cells, RuntimeError if there are too many for "
      "exact drawing.");
}

void bind_players(nb::module_& m) {
  nb::class_<SearchResult>(m, "SearchResult",
                           "Result of BSR-UCT: the best cell, its mean score (`value`), the numbers of simulations, of "
                           "layouts drawn and of inconsistent ones among them, and visits and mean score of each cell.")
      .def_ro("cell", &SearchResult::cell)
      .def_ro("value", &SearchResult::value)
      .def_ro("simulations", &SearchResult::simulations)
      .def_ro("n_layouts", &SearchResult::drawn)
      .def_ro("inconsistent", &SearchResult::inconsistent)
      .def_ro("visits", &SearchResult::visits)
      .def_ro("values", &SearchResult::values);
  m.def(
      "search",
      [](const AnyBoard& b, const AnyObservation& observation, int method, int domain, std::uint64_t simulations,
         double seconds, double c, double widening, std::uint64_t seed) {
        checked(method, 4, "method");
        checked(domain, 2, "domain");
        if (!(c >= 0 && std::isfinite(c)) || !(widening >= 0 && std::isfinite(widening)) || std::isnan(seconds))
          throw nb::value_error("c and widening must be finite and at least 0, and seconds a number");
        if (on_board(b, observation, [](const auto& of, const auto& s) { return any(s.exploded) || s.n == of.safe(); }))
          throw nb::value_error("the game is over");
        const std::optional<AnyCounter> counter = count_layouts(b, observation, method);
        SearchResult found;
        {
          nb::gil_scoped_release release;
          const SearchOptions options{Method(method), Domain(domain), simulations, seconds, c, widening, &interrupted};
          found = search(b, observation, counter ? &*counter : nullptr, options, seed);
        }
        if (PyErr_Occurred()) throw nb::python_error();
        return found;
      },
      "board"_a, "observation"_a, nb::kw_only(), "method"_a, "domain"_a, "simulations"_a, "seconds"_a, "c"_a,
      "widening"_a, "seed"_a,
      "Run BSR-UCT. method, domain: as for `sample`. simulations: limit of their number. seconds: limit of CPU time; 0 "
      "for none. c: exploration constant, in units of the score, which is the share of safe cells that are opened. "
      "widening: exponent w; after n visits of a node, ceil(n^w) actions are considered, or all if it is 0. Raises "
      "ValueError if the game is over or no layout is consistent with the opened cells, RuntimeError if there are too "
      "many layouts for exact drawing.");

  Guarded<AnySolver>(m, "Solver",
                     "Solver of optimal play by dynamic programming. It stores the positions that it has solved.")
      .def(
          "__init__",
          [](AnySolver* self, const AnyBoard& any_board, std::size_t positions, std::size_t layouts) {
            std::visit(
                [&]<typename Cells>(const Board<Cells>& board) {
                  new (self) AnySolver(std::in_place_type<Solver<Cells>>, board, positions, layouts);
                },
                any_board);
          },
          "board"_a, "positions"_a, "layouts"_a,
          "positions, layouts: the largest numbers of positions and of layouts that it may hold in memory.")
      .def(
          "open",
          [](AnySolver& any_solver, const AnyObservation& any_observation, int cell) {
            return std::visit(
                [&](auto& s) {
                  const auto& observation = observation_on(s.board(), any_observation);
                  if (any(observation.exploded) || has(observation.opened, cell_of(s.board(), cell)))
                    throw nb::value_error("this cell cannot be opened in this state");
                  nb::gil_scoped_release release;
                  const auto value = s.open(observation, cell);
                  return std::make_pair(value.layouts, value.sum);
                },
                any_solver);
          },
          "observation"_a, "cell"_a,
          "Return (layouts, sum). layouts: number of layouts that are consistent with the opened cells and, for this "
          "cell, with the rule of the first move. sum: over these layouts, the number of cells that optimal play still "
          "opens if it begins with this cell. Raises RuntimeError if the position is too large.")
      .def_prop_ro(
          "positions",
          [](const AnySolver& any_solver) {
            return std::visit([](const auto& s) { return s.positions(); }, any_solver);
          },
          "Number of positions that the solver has stored.");
}

}  // namespace

void bind_mines(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("mines", "Mines: rules, beliefs, search, optimal play.");
  m.attr("FIRST_MOVES") = nb::make_tuple("any", "safe", "no-neighbours");
  m.attr("METHODS") = nb::make_tuple("rejection", "metropolis", "inherited", "exact");
  m.attr("DOMAINS") = nb::make_tuple("rule", "board");
  m.attr("MINE") = kMine;
  bind_rules(m);
  bind_beliefs(m);
  bind_players(m);
}
