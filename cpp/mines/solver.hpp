// Optimal play by dynamic programming over all that can be seen.
//
// All layouts that explain what was seen are equally likely, so the sum over them of the cells that are still opened
// is an integer, and the best action maximizes it. Three things keep the search small and change no value. A cell
// without a mine in any layout is opened at once: that costs nothing, scores, and tells what it tells. An action
// cannot bring more than all that is left in every layout it survives; those that promise less than the best so far
// are passed over. And what was seen in another order is the same position.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "mines/rules.hpp"

namespace trickformer::mines {

template <typename Cells>
class Solver {
 public:
  // Positions and layouts that are held at most.
  Solver(const Board<Cells>& board, std::size_t positions, std::size_t layouts);
  ~Solver();

  struct Value {
    std::uint64_t layouts = 0;  // that explain what was seen, once this cell is the first where the rule asks for it
    std::uint64_t sum = 0;      // over these: the cells opened from here on, this one included, by the best play
  };

  // The value of opening `cell`. Throws std::runtime_error where the position is too large.
  Value open(const Observation<Cells>& observation, int cell);

  std::size_t positions() const;
  const Board<Cells>& board() const { return board_; }

 private:
  struct Memory;
  using Key = std::array<std::uint64_t, 4 * kWords<Cells>>;  // by cell, in four bits: 0 unopened, else its number + 1

  static Key with(Key key, int cell, int shown);
  std::uint64_t best(const Cells* layouts, std::size_t n, const Cells& opened, const Key& key, std::size_t depth);
  std::uint64_t open(const Cells* layouts, std::size_t n, const Cells& opened, const Key& key, std::size_t depth,
                     int cell);

  Board<Cells> board_;
  std::size_t most_layouts_;
  std::unique_ptr<Memory> memory_;
  std::vector<std::vector<Cells>> scratch_;  // by depth: layouts in the order of what they show
};

}  // namespace trickformer::mines
