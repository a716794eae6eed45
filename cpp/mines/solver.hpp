// Optimal play by dynamic programming over all possible observations.
//
// All layouts that are consistent with an observation are equally likely. So the sum over them of the cells still to be
// opened is an integer, and the best action maximizes it. Three things keep the search small without changing a value.
// A cell that is safe in all layouts is opened at once: this costs nothing, scores, and gives information. An action
// cannot score more than all that is left in every layout that it survives; actions with a bound below the best value
// so far are skipped. The same observations in another order are the same position.
//
// The cascade changes no value, so the search leaves it out. Its cells are safe in all layouts, and optimal play opens
// them next at once.
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
  // Largest numbers of positions and layouts in memory.
  Solver(const Board<Cells>& board, std::size_t positions, std::size_t layouts);
  ~Solver();

  struct Value {
    // number of consistent layouts, given that this cell is the first if the rule depends on it
    std::uint64_t layouts = 0;
    std::uint64_t sum = 0;  // sum over them of the cells opened from here on, this one included, with optimal play
  };

  // The value of opening `cell`. Throws std::runtime_error if the position is too large.
  Value open(const Observation<Cells>& observation, int cell);

  std::size_t positions() const;
  const Board<Cells>& board() const { return board_; }

 private:
  struct Memory;
  using Key = std::array<std::uint64_t, 4 * kWords<Cells>>;  // four bits per cell: 0 unopened, else its number + 1

  static Key with(Key key, int cell, int shown);
  std::uint64_t best(const Cells* layouts, std::size_t n, const Cells& opened, const Key& key, std::size_t depth);
  std::uint64_t open(const Cells* layouts, std::size_t n, const Cells& opened, const Key& key, std::size_t depth,
                     int cell);

  Board<Cells> board_;
  std::size_t most_layouts_;
  std::unique_ptr<Memory> memory_;
  std::vector<std::vector<Cells>> scratch_;  // by depth: layouts, sorted by what they show
};

}  // namespace trickformer::mines
