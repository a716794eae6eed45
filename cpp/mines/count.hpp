// Exact number of layouts that are consistent with an observation. It is the reference for the samplers, and a sampler
// itself.
//
// Cells with the same opened neighbours are interchangeable and form a group; only the number of mines in a group
// matters. The groups are visited in an order in which neighbouring groups are close together. After each group, later
// groups depend only on the mines that each unsettled number still lacks, and on the number of mines left. Partial
// layouts that agree in these are one node of a layered graph; the layouts are its paths. Between components of the
// frontier (the unopened cells that touch a number) no number is unsettled, so the graph narrows to one node there. The
// cost is therefore the sum over the components, not the product. Cells that touch no number form the last group. There
// are fewer layouts than sets of cells, so the number of layouts fits into the words of a set.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "mines/rules.hpp"

namespace trickformer::mines {

template <typename Cells>
class Counter {
 public:
  // Throws std::runtime_error if the graph is too large.
  Counter(const Board<Cells>& board, const Observation<Cells>& observation);

  const Cells& layouts() const { return total_; }

  // Number of layouts with a mine in each cell, [cells].
  std::vector<Cells> mines() const;

  // A uniformly random layout, determined by the seed. At least one layout must exist.
  Cells draw(std::uint64_t seed) const;

  // Visits every layout once.
  void each(const std::function<void(const Cells&)>& visit) const;

 private:
  // Number of mines that each unsettled number still lacks, four bits per cell.
  using Lacks = std::array<std::uint64_t, 4 * kWords<Cells>>;

  struct Group {
    Cells cells{};
    Cells numbers{};  // the opened cells that it touches
    int size = 0;
  };
  struct Layer {  // the nodes before one group
    int nodes = 0;
    int least = 0, most = -1;  // range of the number of mines left
    std::vector<int> next;     // [nodes, size of the group + 1]: the node reached with k mines in the group; -1: none
    std::vector<Cells> ways;   // [nodes, row]: completions from the node, by mines left

    int row() const { return most - least + 1; }
    bool holds(int left) const { return least <= left && left <= most; }
    std::size_t at(int node, int left) const { return std::size_t(node) * row() + left - least; }
  };

  void group(const Board<Cells>& board, const Observation<Cells>& observation, const Cells& unknown);
  bool walk(const Board<Cells>& board, const Lacks& lacks);  // false: no layout is possible
  void add_binomials();
  void count_back();
  const Cells* choose(int n) const;  // by k, the number of sets of k among n
  int next(std::size_t layer, int node, int k) const {
    return layers_[layer].next[std::size_t(node) * (groups_[layer].size + 1) + k];
  }
  // Calls f with each number of mines left before a group such that k of them can be in the group.
  template <typename F>
  void each_left(std::size_t layer, int k, F f) const;
  void each(std::size_t layer, int node, int left, const Cells& layout,
            const std::function<void(const Cells&)>& visit) const;

  Cells known_{};  // mines that need no counting
  int mines_;      // the other mines
  int cells_;
  std::vector<Group> groups_;
  std::vector<Layer> layers_;                  // one more than there are groups
  std::vector<std::vector<Cells>> binomials_;  // the rows of Pascal's triangle that the groups need
  Cells total_{};
};

}  // namespace trickformer::mines
