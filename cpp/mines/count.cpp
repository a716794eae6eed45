#include "mines/count.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "core/binomials.hpp"

namespace trickformer::mines {

namespace {

// Size limits of a graph. Boards of one word stay far below.
constexpr std::size_t kMostNodes = 1'000'000;
constexpr std::size_t kMostBytes = std::size_t{1} << 28;

// Pascal's triangle up to 64; the largest entry is 64 over 32.
constexpr Binomials<65> kChoose;

template <std::size_t N>
int lack(const std::array<std::uint64_t, N>& lacks, int cell) {
  return int(lacks[cell / 16] >> 4 * (cell % 16) & 15);
}

[[noreturn]] void refuse() {
  throw std::runtime_error("too many partial layouts: more than " + std::to_string(kMostNodes) + ", or more than " +
                           std::to_string(kMostBytes >> 20) + " MiB of memory");
}

// The cell that comes first along the longer side of the board. This keeps the border short between the groups before
// and after a point in the order.
template <typename Cells>
int first_cell(const Board<Cells>& board, Cells cells) {
  if (std::unsigned_integral<Cells> || board.rows >= board.cols) return lowest(cells);
  int best = -1, least = std::numeric_limits<int>::max();
  while (any(cells)) {
    const int cell = take_lowest(cells), place = cell % board.cols * board.rows + cell / board.cols;
    if (place < least) {
      least = place;
      best = cell;
    }
  }
  return best;
}

}  // namespace

template <typename Cells>
Counter<Cells>::Counter(const Board<Cells>& board, const Observation<Cells>& observation)
    : known_(observation.exploded), mines_(board.mines - count(observation.exploded)), cells_(board.cells()) {
  const Cells unknown = observation.allowed & ~observation.opened & ~observation.exploded;
  if (any(observation.exploded & ~observation.allowed)) return;
  Lacks lacks{};
  for (int i = 0; i < observation.n; ++i) {
    const int cell = observation.cell[i], left = observation.shown[i] - number(board, known_, cell);
    if (left < 0 || left > count(around(board, cell) & unknown)) return;
    lacks[cell / 16] |= std::uint64_t(left) << 4 * (cell % 16);
  }
  group(board, observation, unknown);
  if (!walk(board, lacks)) return;
  add_binomials();
  count_back();
  if (layers_[0].holds(mines_)) total_ = layers_[0].ways[layers_[0].at(0, mines_)];
}

// Orders the groups: first those around the first number, then those around the numbers that share a group with it, and
// so on.
template <typename Cells>
void Counter<Cells>::group(const Board<Cells>& board, const Observation<Cells>& observation, const Cells& unknown) {
  Cells grouped{}, waiting = observation.opened, near{};
  while (any(waiting)) {
    const Cells touched = near & waiting;
    const int at = first_cell(board, any(touched) ? touched : waiting);
    waiting ^= bit<Cells>(at);
    for (Cells rest = around(board, at) & unknown & ~grouped; any(rest);) {
      Group g;
      g.numbers = around(board, lowest(rest)) & observation.opened;
      for (Cells cells = rest; any(cells);)
        if (const int cell = take_lowest(cells); (around(board, cell) & observation.opened) == g.numbers)
          g.cells |= bit<Cells>(cell);
      rest &= ~g.cells;
      grouped |= g.cells;
      near |= g.numbers;
      groups_.push_back(g);
    }
  }
  if (any(unknown & ~grouped)) groups_.push_back({unknown & ~grouped, {}});
  for (Group& g : groups_) g.size = count(g.cells);
}

template <typename Cells>
bool Counter<Cells>::walk(const Board<Cells>& board, const Lacks& lacks) {
  struct Node {
    Lacks lacks;
    int fewest, most;  // numbers of mines before it
  };
  struct Number {
    int cell;
    int later;  // cells around it that belong to later groups
  };
  layers_.resize(groups_.size() + 1);
  std::vector<Node> nodes{{lacks, 0, 0}}, after;
  std::unordered_map<Lacks, int, HashWords> known;
  std::vector<Number> numbers;
  Cells later{};
  for (const Group& g : groups_) later |= g.cells;
  std::size_t total = 0, bytes = 0;
  for (std::size_t i = 0;; ++i) {
    Layer& layer = layers_[i];
    int fewest = mines_, most = 0;
    for (const Node& node : nodes) {
      fewest = std::min(fewest, node.fewest);
      most = std::max(most, node.most);
    }
    layer.nodes = int(nodes.size());
    const bool last = i == groups_.size();
    layer.least = last ? 0 : std::max(0, mines_ - most);
    layer.most = last ? 0 : mines_ - fewest;
    total += nodes.size();
    bytes += nodes.size() * layer.row() * sizeof(Cells);
    if (total > kMostNodes || bytes > kMostBytes) refuse();
    if (last) return true;

    const Group& g = groups_[i];
    later &= ~g.cells;
    numbers.clear();
    for (Cells rest = g.numbers; any(rest);) {
      const int cell = take_lowest(rest);
      numbers.push_back({cell, count(around(board, cell) & later)});
    }
    layer.next.assign(nodes.size() * (g.size + 1), -1);
    known.clear();
    after.clear();
    for (std::size_t node = 0; node < nodes.size(); ++node)
      for (int k = 0; k <= g.size && nodes[node].fewest + k <= mines_; ++k) {
        Lacks left = nodes[node].lacks;
        bool possible = true;
        for (const Number& n : numbers) {
          const int lacking = lack(left, n.cell) - k;
          possible = lacking >= 0 && lacking <= n.later;
          if (!possible) break;
          left[n.cell / 16] -= std::uint64_t(k) << 4 * (n.cell % 16);
        }
        if (!possible) continue;
        const int fewer = nodes[node].fewest + k, more = std::min(nodes[node].most + k, mines_);
        const auto [at, fresh] = known.emplace(left, int(after.size()));
        if (fresh) {
          if (total + after.size() >= kMostNodes) refuse();
          after.push_back({left, fewer, more});
        } else {
          Node& same = after[at->second];
          same.fewest = std::min(same.fewest, fewer);
          same.most = std::max(same.most, more);
        }
        layer.next[node * (g.size + 1) + k] = at->second;
      }
    if (after.empty()) return false;
    nodes.swap(after);
  }
}

template <typename Cells>
const Cells* Counter<Cells>::choose(int n) const {
  if constexpr (std::unsigned_integral<Cells>)
    return kChoose.of[n];
  else
    return binomials_[n].data();
}

template <typename Cells>
void Counter<Cells>::add_binomials() {
  if constexpr (!std::unsigned_integral<Cells>) {
    int largest = 0;
    for (const Group& g : groups_) largest = std::max(largest, g.size);
    std::vector<bool> needed(largest + 1);
    for (const Group& g : groups_) needed[g.size] = needed[g.size - 1] = true;
    binomials_.resize(largest + 1);
    std::vector<Cells> row(std::min(largest, mines_) + 1);
    row[0] = bit<Cells>(0);
    for (int n = 0; n <= largest; ++n) {
      if (n)
        for (std::size_t k = row.size(); --k > 0;) row[k] += row[k - 1];
      if (needed[n]) binomials_[n] = row;
    }
  }
}

template <typename Cells>
template <typename F>
void Counter<Cells>::each_left(std::size_t layer, int k, F f) const {
  const Layer &here = layers_[layer], &after = layers_[layer + 1];
  for (int left = std::max(here.least, after.least + k); left <= std::min(here.most, after.most + k); ++left) f(left);
}

template <typename Cells>
void Counter<Cells>::count_back() {
  layers_.back().ways.assign(layers_.back().nodes, bit<Cells>(0));  // its only node lacks nothing, with no mines left
  for (std::size_t i = groups_.size(); i-- > 0;) {
    Layer& layer = layers_[i];
    const Layer& following = layers_[i + 1];
    const Cells* sets = choose(groups_[i].size);
    layer.ways.assign(std::size_t(layer.nodes) * layer.row(), Cells{});
    for (int node = 0; node < layer.nodes; ++node)
      for (int k = 0; k <= groups_[i].size; ++k) {
        const int to = next(i, node, k);
        if (to < 0) continue;
        each_left(i, k, [&](int left) {
          layer.ways[layer.at(node, left)] += sets[k] * following.ways[following.at(to, left - k)];
        });
      }
  }
}

template <typename Cells>
std::vector<Cells> Counter<Cells>::mines() const {
  std::vector<Cells> found(cells_);
  for (Cells rest = known_; any(rest);) found[take_lowest(rest)] = total_;
  if (!any(total_)) return found;
  // [nodes, mines left]: partial layouts that reach a node.
  std::vector<Cells> here{bit<Cells>(0)}, after;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Layer &layer = layers_[i], &following = layers_[i + 1];
    const int size = groups_[i].size;
    const Cells *sets = choose(size), *others = choose(size - 1);
    after.assign(std::size_t(following.nodes) * following.row(), Cells{});
    Cells in_one{};  // layouts in which one given cell of the group is a mine
    for (int node = 0; node < layer.nodes; ++node)
      for (int k = 0; k <= size; ++k) {
        const int to = next(i, node, k);
        if (to < 0) continue;
        each_left(i, k, [&](int left) {
          const Cells &reached = here[layer.at(node, left)], &more = following.ways[following.at(to, left - k)];
          if (!any(reached) || !any(more))
            return;  // incomplete layouts are skipped, because their counts have no bound
          after[following.at(to, left - k)] += sets[k] * reached;
          if (k) in_one += others[k - 1] * reached * more;
        });
      }
    for (Cells rest = groups_[i].cells; any(rest);) found[take_lowest(rest)] = in_one;
    here.swap(after);
  }
  return found;
}

template <typename Cells>
Cells Counter<Cells>::draw(std::uint64_t seed) const {
  if (!any(total_)) throw std::logic_error("there is no layout to draw");
  Rng rng(seed);
  Cells layout = known_;
  int node = 0, left = mines_;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Layer &layer = layers_[i], &following = layers_[i + 1];
    const Cells* sets = choose(groups_[i].size);
    Cells at = below(layer.ways[layer.at(node, left)], rng);
    for (int k = 0; k <= groups_[i].size; ++k) {
      const int to = next(i, node, k);
      if (to < 0 || !following.holds(left - k)) continue;
      const Cells here = sets[k] * following.ways[following.at(to, left - k)];
      if (!(at < here)) {
        at -= here;
        continue;
      }
      layout |= random_cells(groups_[i].cells, k, rng);
      node = to;
      left -= k;
      break;
    }
  }
  return layout;
}

template <typename Cells>
void Counter<Cells>::each(const std::function<void(const Cells&)>& visit) const {
  if (any(total_)) each(0, 0, mines_, known_, visit);
}

template <typename Cells>
void Counter<Cells>::each(std::size_t layer, int node, int left, const Cells& layout,
                          const std::function<void(const Cells&)>& visit) const {
  if (layer == groups_.size()) return visit(layout);
  const Layer& following = layers_[layer + 1];
  const Cells cells = groups_[layer].cells;
  const int size = groups_[layer].size;
  for (int k = 0; k <= size && k <= left; ++k) {
    const int to = next(layer, node, k);
    if (to < 0 || !following.holds(left - k) || !any(following.ways[following.at(to, left - k)])) continue;
    // Visits every set of k cells of the group: chosen indices in ascending order, the lowest changing fastest.
    std::array<int, kRoom<Cells> + 1> chosen;
    for (int i = 0; i < k; ++i) chosen[i] = i;
    chosen[k] = size;
    for (;;) {
      Cells mines = layout;
      for (int i = 0; i < k; ++i) mines |= bit<Cells>(nth(cells, chosen[i]));
      each(layer + 1, to, left - k, mines, visit);
      int i = 0;
      while (i < k && chosen[i] + 1 == chosen[i + 1]) ++i;
      if (i == k) break;
      ++chosen[i];
      for (int j = 0; j < i; ++j) chosen[j] = j;
    }
  }
}

template class Counter<CellSet<1>>;
template class Counter<CellSet<2>>;
template class Counter<CellSet<4>>;
template class Counter<CellSet<8>>;

}  // namespace trickformer::mines
