// How many layouts explain what was seen, exactly: the judge of the samplers, and a sampler itself.
//
// Cells with the same opened neighbours are interchangeable and form a group; all that matters is how many mines a
// group has. The groups are walked in an order that stays near what it has touched. After each, all that later groups
// need to know is what every number that is not yet settled still lacks, and the number of mines left. Partial
// layouts that agree in this are one node of a layered graph, and the layouts are its paths. Between components of
// the frontier no number is unsettled, so that the graph narrows to one node there: components cost the sum of their
// sizes, never the product. Cells that touch no number are the last group. No count exceeds that of 64 cells over 32,
// below 2^61.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "mines/rules.hpp"

namespace trickformer::mines {

class Counter {
 public:
  // Throws where the observation is of another board.
  Counter(const Board& board, const Observation& observation);

  std::uint64_t layouts() const { return total_; }

  // In how many of the layouts each cell is a mine, uint64 [cells].
  std::vector<std::uint64_t> mines() const;

  // A uniformly random layout, a function of the seed; there must be one.
  Cells draw(std::uint64_t seed) const;

  // Every layout, each once.
  void each(const std::function<void(Cells)>& visit) const;

 private:
  using Lacks = std::array<std::uint64_t, 4>;  // by cell, in four bits each: mines that an unsettled number still lacks

  struct Group {
    Cells cells = 0;
    Cells numbers = 0;  // the opened cells that it touches
  };
  struct Layer {  // the nodes before one group
    std::vector<Lacks> nodes;
    std::vector<int> next;  // [nodes, size of the group + 1]: the node reached with k mines in the group; -1: none
    std::vector<std::uint64_t> ways;  // [nodes, mines + 1]: completions from the node with so many mines left
  };

  void group(const Board& board, const Observation& observation, Cells unknown);
  void walk(const Board& board, Lacks lacks);
  void count_back();
  const std::uint64_t* ways(std::size_t layer, int node) const {
    return layers_[layer].ways.data() + std::size_t(node) * (mines_ + 1);
  }
  int next(std::size_t layer, int node, int k) const {
    return layers_[layer].next[std::size_t(node) * (count(groups_[layer].cells) + 1) + k];
  }
  void each(std::size_t layer, int node, int left, Cells layout, const std::function<void(Cells)>& visit) const;

  Cells known_;  // mines that need no counting
  int mines_;    // those that do
  std::vector<Group> groups_;
  std::vector<Layer> layers_;  // one more than groups
  std::uint64_t total_ = 0;
};

}  // namespace trickformer::mines
