// Mines: one player opens the cells of a grid. An opened cell shows how many of its up to eight neighbours are mines,
// and a mine ends the game. Cells are numbered row by row. A set of cells is one word on boards of up to 64 cells, and
// 2, 4 or 8 words on larger ones; everything that holds such sets is a template over their type.
//
// The rule of the first move defines where mines may lie once the first opened cell is known: anywhere, not in that
// cell, or neither there nor in its neighbours. The mines are a uniformly random set among the allowed cells, so the
// rule is part of the prior. After the first cell is open, its number contains this information and the rule adds
// nothing.
//
// With the cascade, a cell that shows 0 also opens its neighbours. This adds no rule to the prior: the numbers alone
// determine which layouts are consistent.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>

#include "core/wide.hpp"

namespace trickformer::mines {

template <int kCount>
using CellSet = std::conditional_t<kCount == 1, std::uint64_t, Wide<kCount>>;

template <typename Cells>
inline constexpr int kWords = sizeof(Cells) / 8;
template <typename Cells>
inline constexpr int kRoom = 64 * kWords<Cells>;  // largest number of cells of a board whose sets have this type

inline constexpr int kMaxCells = 512;
inline constexpr int kMine = 9;  // takes the place of a number: the cell was a mine

enum class FirstMove : std::uint8_t { kAny, kSafe, kNoNeighbours };

// The neighbours of each cell as a table. On larger boards they are computed, because every state would copy a large
// table.
template <typename Cells>
struct Neighbours {};
template <>
struct Neighbours<std::uint64_t> {
  std::uint64_t of[64] = {};
};

template <typename Cells>
struct Board {
  std::uint16_t rows = 0, cols = 0, mines = 0;
  FirstMove first_move = FirstMove::kAny;
  bool cascade = false;  // whether a cell that shows 0 opens its neighbours
  Cells all{};
  Neighbours<Cells> neighbours;

  int cells() const { return rows * cols; }
  int safe() const { return cells() - mines; }
};

inline namespace TRICKFORMER_ISA {

// Calls f with the first cell and the number of cells of each row of the square around a cell.
template <typename Cells, typename F>
void each_strip(const Board<Cells>& board, int cell, F f) {
  const int row = cell / board.cols, col = cell % board.cols;
  const int left = col > 0, length = 1 + left + (col + 1 < board.cols);
  for (int r = row - (row > 0); r <= row + (row + 1 < board.rows); ++r) f(r * board.cols + col - left, length);
}

// The neighbours of a cell.
template <typename Cells>
Cells around(const Board<Cells>& board, int cell) {
  if constexpr (std::unsigned_integral<Cells>) {
    return board.neighbours.of[cell];
  } else {
    Cells found{};
    each_strip(board, cell, [&](int first, int length) {
      for (int i = first; i < first + length; ++i) found.word[i / 64] |= std::uint64_t{1} << i % 64;
    });
    return found ^ bit<Cells>(cell);
  }
}

// The cells where mines may lie once `first` is the first cell opened; -1: nothing is open yet.
template <typename Cells>
Cells allowed(const Board<Cells>& board, int first) {
  if (first < 0 || board.first_move == FirstMove::kAny) return board.all;
  Cells free = bit<Cells>(first);
  if (board.first_move == FirstMove::kNoNeighbours) free |= around(board, first);
  return board.all & ~free;
}

// Number of neighbours of a cell that are mines in a layout; the cell itself does not count.
template <typename Cells>
int number(const Board<Cells>& board, const Cells& layout, int cell) {
  if constexpr (std::unsigned_integral<Cells>) {
    return count(board.neighbours.of[cell] & layout);
  } else {
    int n = 0;
    each_strip(board, cell, [&](int first, int length) {
      const int word = first / 64, shift = first % 64;
      std::uint64_t strip = layout.word[word] >> shift;
      if (shift > 61 && word + 1 < kWords<Cells>) strip |= layout.word[word + 1] << (64 - shift);
      n += count(strip & ((std::uint64_t{1} << length) - 1));
    });
    return n - has(layout, cell);
  }
}

// Throws std::invalid_argument unless the mines fit whatever cell is opened first.
template <typename Cells>
Board<Cells> new_board(int rows, int cols, int mines, FirstMove first_move, bool cascade) {
  Board<Cells> board;
  board.rows = std::uint16_t(rows);
  board.cols = std::uint16_t(cols);
  board.mines = std::uint16_t(mines);
  board.first_move = first_move;
  board.cascade = cascade;
  for (int cell = 0; cell < rows * cols; ++cell) board.all |= bit<Cells>(cell);
  if constexpr (std::unsigned_integral<Cells>)
    for (int cell = 0; cell < rows * cols; ++cell) {
      each_strip(board, cell, [&](int first, int length) {
        for (int i = first; i < first + length; ++i) board.neighbours.of[cell] |= bit<Cells>(i);
      });
      board.neighbours.of[cell] ^= bit<Cells>(cell);
    }
  int room = rows * cols - 1;  // at least one cell is free of mines
  for (int cell = 0; cell < rows * cols; ++cell)
    if (const int left = count(allowed(board, cell)); left < room) room = left;
  if (room < 1)
    throw std::invalid_argument(
        "this board and first move leave no room for a mine; choose a larger board or another first move");
  if (mines < 1 || mines > room)
    throw std::invalid_argument("this board and first move leave room for 1 to " + std::to_string(room) + " mines");
  return board;
}

// A uniformly random set of n cells out of `from`, which has that many.
template <typename Cells>
Cells random_cells(Cells from, int n, Rng& rng) {
  Cells drawn{};
  for (int left = count(from); n; --n, --left) {
    const Cells cell = bit<Cells>(nth(from, int(rng.below(std::uint32_t(left)))));
    drawn |= cell;
    from ^= cell;
  }
  return drawn;
}

}  // namespace TRICKFORMER_ISA

// The player's observation: the cells opened so far, in order, and the number that each has shown.
template <typename Cells>
struct Observation {
  using Number = std::conditional_t<(kRoom<Cells> > 256), std::uint16_t, std::uint8_t>;  // type of a cell's index

  Cells opened{};                   // without a mine
  Cells exploded{};                 // the mine that ended the game, if any
  Cells allowed{};                  // cells where the rule of the first move allows mines
  std::int16_t rows = 0, cols = 0;  // of the board
  Number n = 0;                     // number of opened cells in `cell` and `shown`
  Number cell[kRoom<Cells>] = {};
  std::uint8_t shown[kRoom<Cells>] = {};
};

// A game: the mines, and the opened cells. `layout` is empty until the mines are laid.
template <typename Cells>
struct State {
  Board<Cells> board;
  Cells layout{};
  Observation<Cells> observation;

  bool is_laid() const { return any(layout); }
  bool over() const { return any(observation.exploded) || (is_laid() && observation.n == board.safe()); }
};

// A value for a board of any size.
template <template <typename> typename T>
using Any = std::variant<T<CellSet<1>>, T<CellSet<2>>, T<CellSet<4>>, T<CellSet<8>>>;

inline namespace TRICKFORMER_ISA {

template <typename Cells>
Observation<Cells> new_observation(const Board<Cells>& board) {
  Observation<Cells> observation;
  observation.allowed = board.all;
  observation.rows = std::int16_t(board.rows);
  observation.cols = std::int16_t(board.cols);
  return observation;
}

template <typename Cells>
void open(const Board<Cells>& board, Observation<Cells>& observation, int cell, int shown) {
  if (!any(observation.opened)) observation.allowed = allowed(board, cell);
  if (shown == kMine) {
    observation.exploded = bit<Cells>(cell);
    return;
  }
  observation.opened |= bit<Cells>(cell);
  observation.cell[observation.n] = typename Observation<Cells>::Number(cell);
  observation.shown[observation.n++] = std::uint8_t(shown);
}

// Plays the cascade after a move. It opens the neighbours of every open cell that shows 0, beginning with the cell that
// was opened as number `first`. It calls f with the number of each cell that it opens. The layout determines the
// numbers. Cells are opened in a fixed order, so the numbers shown so far determine the next cell: the neighbours of
// the earliest 0 come first, in ascending order. The cascade stops when the number of open cells equals the number of
// safe cells, because a layout that is not consistent with the observation could open more.
template <typename Cells, typename F>
void open_cascade(const Board<Cells>& board, Observation<Cells>& observation, const Cells& layout, int first, F f) {
  for (int i = first; i < observation.n; ++i) {
    if (observation.shown[i]) continue;
    for (Cells rest = around(board, observation.cell[i]) & ~observation.opened; any(rest);) {
      if (observation.n == board.safe()) return;
      const int cell = take_lowest(rest), shown = number(board, layout, cell);
      open(board, observation, cell, shown);
      f(shown);
    }
  }
}

// Returns the open cells after `cell`, which is not a mine of the layout, and its cascade.
template <typename Cells>
Cells with_cascade(const Board<Cells>& board, const Cells& layout, Cells opened, int cell) {
  opened |= bit<Cells>(cell);
  for (Cells waiting = bit<Cells>(cell); any(waiting);) {
    const int at = take_lowest(waiting);
    if (number(board, layout, at)) continue;
    const Cells fresh = around(board, at) & ~opened;
    opened |= fresh;
    waiting |= fresh;
  }
  return opened;
}

// Returns whether a layout with the right number of mines is consistent with an observation, that is, its likelihood, 0
// or 1.
template <typename Cells>
bool is_consistent(const Board<Cells>& board, const Observation<Cells>& observation, const Cells& layout) {
  if (any(layout & (observation.opened | ~observation.allowed)) || any(observation.exploded & ~layout)) return false;
  for (int i = 0; i < observation.n; ++i)
    if (number(board, layout, observation.cell[i]) != observation.shown[i]) return false;
  return true;
}

// Throws std::invalid_argument unless the mines fit whatever cell is opened first.
inline Any<Board> new_board(int rows, int cols, int mines, FirstMove first_move, bool cascade) {
  if (rows < 1 || cols < 1 || rows > kMaxCells || cols > kMaxCells || rows * cols > kMaxCells)
    throw std::invalid_argument("a board has from 1 to " + std::to_string(kMaxCells) + " cells");
  const auto make = [&]<int kCount>() -> Any<Board> {
    return new_board<CellSet<kCount>>(rows, cols, mines, first_move, cascade);
  };
  const int words = (rows * cols + 63) / 64;
  return words == 1   ? make.template operator()<1>()
         : words == 2 ? make.template operator()<2>()
         : words <= 4 ? make.template operator()<4>()
                      : make.template operator()<8>();
}

// Returns the observation of a board. Throws std::invalid_argument if it is of another board.
template <typename Cells>
const Observation<Cells>& observation_on(const Board<Cells>& board, const Any<Observation>& observation) {
  const auto* seen = std::get_if<Observation<Cells>>(&observation);
  if (!seen || seen->rows != board.rows || seen->cols != board.cols)
    throw std::invalid_argument("the observation is of another board; use the board of the game");
  return *seen;
}

// Calls f with a board and its observation in their own types. Throws std::invalid_argument if they do not fit.
template <typename F>
decltype(auto) on_board(const Any<Board>& board, const Any<Observation>& observation, F f) {
  return std::visit([&](const auto& b) -> decltype(auto) { return f(b, observation_on(b, observation)); }, board);
}

}  // namespace TRICKFORMER_ISA

}  // namespace trickformer::mines
