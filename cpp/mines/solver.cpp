#include "mines/solver.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "mines/count.hpp"

namespace trickformer::mines {

namespace {

std::string to_text(std::uint64_t n) { return std::to_string(n); }

template <int N>
std::string to_text(const Wide<N>& n) {
  double sum = 0;
  for (int i = N; i-- > 0;) sum = 0x1p64 * sum + double(n.word[i]);
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", sum);
  return text;
}

}  // namespace

template <typename Cells>
struct Solver<Cells>::Memory {
  std::size_t most;
  std::unordered_map<Key, std::uint64_t, HashWords> sums;
};

template <typename Cells>
Solver<Cells>::Solver(const Board<Cells>& board, std::size_t positions, std::size_t layouts)
    : board_(board), most_layouts_(layouts), memory_(new Memory{positions, {}}), scratch_(board.cells() + 1) {}

template <typename Cells>
Solver<Cells>::~Solver() = default;

template <typename Cells>
std::size_t Solver<Cells>::positions() const {
  return memory_->sums.size();
}

template <typename Cells>
auto Solver<Cells>::with(Key key, int cell, int shown) -> Key {
  key[cell / 16] |= std::uint64_t(shown + 1) << 4 * (cell % 16);
  return key;
}

template <typename Cells>
auto Solver<Cells>::open(const Observation<Cells>& observation, int cell) -> Value {
  Observation<Cells> seen = observation;
  if (!observation.n) seen.allowed = allowed(board_, cell);
  const Counter<Cells> counter(board_, seen);
  std::uint64_t most[kWords<Cells>] = {most_layouts_};
  if (load<Cells>(most) < counter.layouts())
    throw std::runtime_error("too many layouts: " + to_text(counter.layouts()) + ", at most " +
                             std::to_string(most_layouts_) + " can be searched");
  std::vector<Cells> layouts;
  counter.each([&](const Cells& layout) { layouts.push_back(layout); });
  Key key{};
  for (int i = 0; i < observation.n; ++i) key = with(key, observation.cell[i], observation.shown[i]);
  return {layouts.size(), open(layouts.data(), layouts.size(), observation.opened, key, 0, cell)};
}

// Opens a cell in all layouts; layouts with a mine there add nothing.
template <typename Cells>
std::uint64_t Solver<Cells>::open(const Cells* layouts, std::size_t n, const Cells& opened, const Key& key,
                                  std::size_t depth, int cell) {
  std::array<std::size_t, kMine + 1> end{};
  for (std::size_t i = 0; i < n; ++i)
    if (!has(layouts[i], cell)) ++end[number(board_, layouts[i], cell) + 1];
  for (int k = 1; k <= kMine; ++k) end[k] += end[k - 1];
  // start of the layouts that show k; they end where k + 1 starts
  const std::array<std::size_t, kMine + 1> start = end;
  std::vector<Cells>& sorted = scratch_[depth];
  sorted.resize(std::max(sorted.size(), n));
  for (std::size_t i = 0; i < n; ++i)
    if (!has(layouts[i], cell)) sorted[end[number(board_, layouts[i], cell)]++] = layouts[i];
  std::uint64_t sum = start[kMine];
  for (int k = 0; k < kMine; ++k)
    if (const std::size_t same = start[k + 1] - start[k])
      sum += best(sorted.data() + start[k], same, opened | bit<Cells>(cell), with(key, cell, k), depth + 1);
  return sum;
}

// The sum of cells opened from here on, with optimal play.
template <typename Cells>
std::uint64_t Solver<Cells>::best(const Cells* layouts, std::size_t n, const Cells& opened, const Key& key,
                                  std::size_t depth) {
  const std::uint64_t left = std::uint64_t(board_.safe() - count(opened));
  if (n == 1 || !left) return left * n;
  Cells mines{};
  for (std::size_t i = 0; i < n; ++i) mines |= layouts[i];
  if (const Cells safe = board_.all & ~opened & ~mines; any(safe))
    return open(layouts, n, opened, key, depth, lowest(safe));
  if (const auto known = memory_->sums.find(key); known != memory_->sums.end()) return known->second;
  struct Move {
    std::size_t survives;
    int cell;
  };
  std::vector<Move> moves;
  for (Cells rest = board_.all & ~opened; any(rest);) {
    Move move{0, take_lowest(rest)};
    for (std::size_t i = 0; i < n; ++i) move.survives += !has(layouts[i], move.cell);
    moves.push_back(move);
  }
  std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.survives > b.survives; });
  std::uint64_t most = 0;
  for (const Move& move : moves) {
    if (move.survives * left <= most) break;
    most = std::max(most, open(layouts, n, opened, key, depth, move.cell));
  }
  if (memory_->sums.size() >= memory_->most)
    throw std::runtime_error("too many positions: more than " + std::to_string(memory_->most));
  memory_->sums.emplace(key, most);
  return most;
}

template class Solver<CellSet<1>>;
template class Solver<CellSet<2>>;
template class Solver<CellSet<4>>;
template class Solver<CellSet<8>>;

}  // namespace trickformer::mines
