#include "mines/count.hpp"

#include <map>
#include <stdexcept>

namespace trickformer::mines {

namespace {

// Pascal's triangle up to 64; the largest entry is 64 over 32.
constexpr auto kChoose = [] {
  std::array<std::array<std::uint64_t, kMaxCells + 1>, kMaxCells + 1> c{};
  for (int n = 0; n <= kMaxCells; ++n) {
    c[n][0] = 1;
    for (int k = 1; k <= n; ++k) c[n][k] = c[n - 1][k - 1] + (k < n ? c[n - 1][k] : 0);
  }
  return c;
}();

int lack(const std::array<std::uint64_t, 4>& lacks, int cell) { return int(lacks[cell / 16] >> 4 * (cell % 16) & 15); }

}  // namespace

Counter::Counter(const Board& board, const Observation& observation)
    : known_(observation.exploded), mines_(board.mines - count(observation.exploded)) {
  if ((observation.opened | observation.exploded | observation.allowed) & ~board.all)
    throw std::invalid_argument("what was seen is of another board");
  const Cells unknown = observation.allowed & ~observation.opened & ~observation.exploded;
  if (observation.exploded & ~observation.allowed) return;
  Lacks lacks{};
  for (int i = 0; i < observation.n; ++i) {
    const int cell = observation.cell[i], left = observation.shown[i] - number(board, known_, cell);
    if (left < 0 || left > count(board.around[cell] & unknown)) return;
    lacks[cell / 16] |= std::uint64_t(left) << 4 * (cell % 16);
  }
  group(board, observation, unknown);
  walk(board, lacks);
  count_back();
  if (!layers_[0].nodes.empty()) total_ = ways(0, 0)[mines_];
}

// Groups in order: those around the first number, then those around the numbers that share a group with it, and so
// on.
void Counter::group(const Board& board, const Observation& observation, Cells unknown) {
  Cells grouped = 0, waiting = observation.opened, near = 0;
  while (waiting) {
    const int at = lowest(near & waiting ? near & waiting : waiting);
    waiting ^= bit(at);
    for (Cells rest = board.around[at] & unknown & ~grouped; rest;) {
      Group g;
      g.numbers = board.around[lowest(rest)] & observation.opened;
      for (Cells cells = rest; cells;)
        if (const int cell = take_lowest(cells); (board.around[cell] & observation.opened) == g.numbers)
          g.cells |= bit(cell);
      rest &= ~g.cells;
      grouped |= g.cells;
      near |= g.numbers;
      groups_.push_back(g);
    }
  }
  if (unknown & ~grouped) groups_.push_back({unknown & ~grouped, 0});
}

void Counter::walk(const Board& board, Lacks lacks) {
  layers_.resize(groups_.size() + 1);
  layers_[0].nodes.push_back(lacks);
  Cells later = 0;
  for (const Group& g : groups_) later |= g.cells;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Group& g = groups_[i];
    const int size = count(g.cells);
    later &= ~g.cells;
    Layer &layer = layers_[i], &after = layers_[i + 1];
    layer.next.assign(layer.nodes.size() * (size + 1), -1);
    std::map<Lacks, int> known;
    for (std::size_t node = 0; node < layer.nodes.size(); ++node)
      for (int k = 0; k <= size && k <= mines_; ++k) {
        Lacks left = layer.nodes[node];
        bool possible = true;
        for (Cells rest = g.numbers; rest && possible;) {
          const int cell = take_lowest(rest), lacking = lack(left, cell) - k;
          possible = lacking >= 0 && lacking <= count(board.around[cell] & later);
          left[cell / 16] -= std::uint64_t(k) << 4 * (cell % 16);
        }
        if (!possible) continue;
        const auto [at, fresh] = known.emplace(left, int(after.nodes.size()));
        if (fresh) after.nodes.push_back(left);
        layer.next[node * (size + 1) + k] = at->second;
      }
  }
}

void Counter::count_back() {
  const std::size_t row = mines_ + 1;
  layers_.back().ways.assign(layers_.back().nodes.size() * row, 0);
  if (!layers_.back().nodes.empty()) layers_.back().ways[0] = 1;  // its only node lacks nothing, and no mine is left
  for (std::size_t i = groups_.size(); i-- > 0;) {
    Layer& layer = layers_[i];
    const int size = count(groups_[i].cells);
    layer.ways.assign(layer.nodes.size() * row, 0);
    for (std::size_t node = 0; node < layer.nodes.size(); ++node)
      for (int k = 0; k <= size; ++k) {
        const int to = next(i, int(node), k);
        if (to < 0) continue;
        for (int left = k; left <= mines_; ++left)
          layer.ways[node * row + left] += kChoose[size][k] * ways(i + 1, to)[left - k];
      }
  }
}

std::vector<std::uint64_t> Counter::mines() const {
  std::vector<std::uint64_t> found(kMaxCells, 0);
  for (Cells rest = known_; rest;) found[take_lowest(rest)] = total_;
  if (!total_) return found;
  const std::size_t row = mines_ + 1;
  // [nodes, mines + 1]: partial layouts that reach a node, by mines left.
  std::vector<std::uint64_t> here(row, 0), after;
  here[mines_] = 1;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const int size = count(groups_[i].cells);
    after.assign(layers_[i + 1].nodes.size() * row, 0);
    std::uint64_t in_one = 0;  // layouts in which one given cell of the group is a mine
    for (std::size_t node = 0; node < layers_[i].nodes.size(); ++node)
      for (int k = 0; k <= size; ++k) {
        const int to = next(i, int(node), k);
        if (to < 0) continue;
        for (int left = k; left <= mines_; ++left) {
          const std::uint64_t reached = here[node * row + left], more = ways(i + 1, to)[left - k];
          if (!reached || !more) continue;  // what cannot be completed is not counted: its numbers know no bound
          after[std::size_t(to) * row + left - k] += reached * kChoose[size][k];
          if (k) in_one += reached * kChoose[size - 1][k - 1] * more;
        }
      }
    for (Cells rest = groups_[i].cells; rest;) found[take_lowest(rest)] = in_one;
    here.swap(after);
  }
  return found;
}

Cells Counter::draw(std::uint64_t seed) const {
  if (!total_) throw std::logic_error("there is no layout to draw");
  Rng rng(seed);
  Cells layout = known_;
  int node = 0, left = mines_;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const int size = count(groups_[i].cells);
    std::uint64_t at = rng.below64(ways(i, node)[left]);
    for (int k = 0; k <= size; ++k) {
      const int to = next(i, node, k);
      if (to < 0 || k > left) continue;
      const std::uint64_t here = kChoose[size][k] * ways(i + 1, to)[left - k];
      if (at >= here) {
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

void Counter::each(const std::function<void(Cells)>& visit) const {
  if (total_) each(0, 0, mines_, known_, visit);
}

void Counter::each(std::size_t layer, int node, int left, Cells layout, const std::function<void(Cells)>& visit) const {
  if (layer == groups_.size()) return visit(layout);
  const Cells cells = groups_[layer].cells;
  const int size = count(cells);
  for (int k = 0; k <= size && k <= left; ++k) {
    const int to = next(layer, node, k);
    if (to < 0 || !ways(layer + 1, to)[left - k]) continue;
    // Every set of k of the group's cells: chosen indices that count upwards, the lowest fastest.
    std::array<int, kMaxCells + 1> chosen;
    for (int i = 0; i < k; ++i) chosen[i] = i;
    chosen[k] = size;
    for (;;) {
      Cells mines = 0;
      for (int i = 0; i < k; ++i) mines |= bit(nth(cells, chosen[i]));
      each(layer + 1, to, left - k, layout | mines, visit);
      int i = 0;
      while (i < k && chosen[i] + 1 == chosen[i + 1]) ++i;
      if (i == k) break;
      ++chosen[i];
      for (int j = 0; j < i; ++j) chosen[j] = j;
    }
  }
}

}  // namespace trickformer::mines
