// Mines: one player opens the cells of a grid; a cell shows how many of its up to eight neighbours are mines, and a
// mine ends the game. Boards have up to 64 cells, numbered row by row, so that a set of cells is one word.
//
// The rule of the first move says where mines may lie once it is known which cell is opened first: anywhere, not in
// that cell, or neither there nor in its neighbours. Mines are a uniformly random set of that many cells among those,
// so the rule is part of the prior. Once a cell is open, its number says the same, and the rule adds nothing.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

#include "core/bits.hpp"

namespace trickformer::mines {

using Cells = std::uint64_t;

inline constexpr int kMaxCells = 64;
inline constexpr int kMine = 9;  // in the place of a number: the cell was a mine

enum class FirstMove : std::uint8_t { kAny, kSafe, kNoNeighbours };

struct Board {
  std::uint8_t rows = 0, cols = 0, mines = 0;
  FirstMove first_move = FirstMove::kAny;
  Cells all = 0;
  Cells around[kMaxCells] = {};  // the neighbours of each cell

  int cells() const { return rows * cols; }
  int safe() const { return cells() - mines; }
};

inline namespace TRICKFORMER_ISA {

inline constexpr Cells bit(int cell) { return Cells{1} << cell; }

// Where mines may lie once `first` was opened first; -1: nothing is open yet.
inline Cells allowed(const Board& board, int first) {
  if (first < 0 || board.first_move == FirstMove::kAny) return board.all;
  const Cells free = bit(first) | (board.first_move == FirstMove::kNoNeighbours ? board.around[first] : 0);
  return board.all & ~free;
}

inline int number(const Board& board, Cells layout, int cell) { return count(board.around[cell] & layout); }

// Throws std::invalid_argument for a board that cannot be played, whatever cell is opened first.
inline Board new_board(int rows, int cols, int mines, FirstMove first_move) {
  if (rows < 1 || cols < 1 || rows > kMaxCells || cols > kMaxCells || rows * cols > kMaxCells)
    throw std::invalid_argument("a board has from 1 to 64 cells");
  Board board;
  board.rows = std::uint8_t(rows);
  board.cols = std::uint8_t(cols);
  board.mines = std::uint8_t(mines);
  board.first_move = first_move;
  board.all = ~Cells{0} >> (kMaxCells - rows * cols);
  for (int cell = 0; cell < rows * cols; ++cell)
    for (int other = 0; other < rows * cols; ++other) {
      const int down = other / cols - cell / cols, right = other % cols - cell % cols;
      if (other != cell && down * down <= 1 && right * right <= 1) board.around[cell] |= bit(other);
    }
  int room = rows * cols - 1;  // at least one cell is free of mines
  for (int cell = 0; cell < rows * cols; ++cell)
    if (const int left = count(allowed(board, cell)); left < room) room = left;
  if (room < 1) throw std::invalid_argument("this board and first move leave no room for a mine");
  if (mines < 1 || mines > room)
    throw std::invalid_argument("this board and first move leave room for 1 to " + std::to_string(room) + " mines");
  return board;
}

// A uniformly random set of n cells out of `from`, which has that many.
inline Cells random_cells(Cells from, int n, Rng& rng) {
  Cells drawn = 0;
  for (int left = count(from); n; --n, --left) {
    const Cells cell = bit(nth(from, int(rng.below(std::uint32_t(left)))));
    drawn |= cell;
    from ^= cell;
  }
  return drawn;
}

}  // namespace TRICKFORMER_ISA

// What the player has seen: the cells opened so far, in order, and what each has shown.
struct Observation {
  Cells opened = 0;    // without a mine
  Cells exploded = 0;  // the mine that ended the game, if any
  Cells allowed = 0;   // where the rule of the first move lets mines lie
  std::uint8_t n = 0;  // numbers seen
  std::uint8_t cell[kMaxCells] = {}, shown[kMaxCells] = {};
};

// A game: where the mines are, and what was opened. `layout` is empty until the mines are laid.
struct State {
  Board board;
  Cells layout = 0;
  Observation observation;

  bool is_laid() const { return layout != 0; }
  bool over() const { return observation.exploded || (is_laid() && observation.n == board.safe()); }
};

inline namespace TRICKFORMER_ISA {

inline Observation new_observation(const Board& board) {
  Observation observation;
  observation.allowed = board.all;
  return observation;
}

inline void open(const Board& board, Observation& observation, int cell, int shown) {
  if (!observation.opened) observation.allowed = allowed(board, cell);
  if (shown == kMine) {
    observation.exploded = bit(cell);
    return;
  }
  observation.opened |= bit(cell);
  observation.cell[observation.n] = std::uint8_t(cell);
  observation.shown[observation.n++] = std::uint8_t(shown);
}

// Whether a layout of the right number of mines explains an observation: its likelihood, which is 0 or 1.
inline bool is_consistent(const Board& board, const Observation& observation, Cells layout) {
  if (layout & (observation.opened | ~observation.allowed) || (layout & observation.exploded) != observation.exploded)
    return false;
  for (int i = 0; i < observation.n; ++i)
    if (number(board, layout, observation.cell[i]) != observation.shown[i]) return false;
  return true;
}

}  // namespace TRICKFORMER_ISA

}  // namespace trickformer::mines
