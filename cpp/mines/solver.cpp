#include "mines/solver.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "mines/count.hpp"

namespace trickformer::mines {

namespace {

using Key = std::array<std::uint64_t, 4>;  // by cell, in four bits each: 0 unopened, else one more than its number

struct Hash {
  std::size_t operator()(const Key& key) const {
    return std::size_t(mix(key[0] ^ mix(key[1] ^ mix(key[2] ^ mix(key[3])))));
  }
};

Key with(Key key, int cell, int shown) {
  key[cell / 16] |= std::uint64_t(shown + 1) << 4 * (cell % 16);
  return key;
}

}  // namespace

struct Solver::Memory {
  std::size_t most;
  std::unordered_map<Key, std::uint64_t, Hash> sums;
};

Solver::Solver(const Board& board, std::size_t positions, std::size_t layouts)
    : board_(board), most_layouts_(layouts), memory_(new Memory{positions, {}}), scratch_(kMaxCells + 1) {}

Solver::~Solver() = default;

std::size_t Solver::positions() const { return memory_->sums.size(); }

Solver::Value Solver::open(const Observation& observation, int cell) {
  Observation seen = observation;
  if (!observation.n) seen.allowed = allowed(board_, cell);
  const Counter counter(board_, seen);
  if (counter.layouts() > most_layouts_)
    throw std::runtime_error("too many layouts: " + std::to_string(counter.layouts()) + ", at most " +
                             std::to_string(most_layouts_) + " can be searched");
  std::vector<Cells> layouts;
  layouts.reserve(counter.layouts());
  counter.each([&](Cells layout) { layouts.push_back(layout); });
  Key key{};
  for (int i = 0; i < observation.n; ++i) key = with(key, observation.cell[i], observation.shown[i]);
  return {layouts.size(), open(layouts.data(), layouts.size(), observation.opened, key, 0, cell)};
}

// Opens a cell in all layouts; those with a mine there bring nothing.
std::uint64_t Solver::open(const Cells* layouts, std::size_t n, Cells opened, const Key& key, std::size_t depth,
                           int cell) {
  std::array<std::size_t, kMine + 1> end{};
  for (std::size_t i = 0; i < n; ++i)
    if (!(layouts[i] & bit(cell))) ++end[number(board_, layouts[i], cell) + 1];
  for (int k = 1; k <= kMine; ++k) end[k] += end[k - 1];
  const std::array<std::size_t, kMine + 1> start = end;  // of those that show k, which end where k + 1 begins
  std::vector<Cells>& sorted = scratch_[depth];
  sorted.resize(std::max(sorted.size(), n));
  for (std::size_t i = 0; i < n; ++i)
    if (!(layouts[i] & bit(cell))) sorted[end[number(board_, layouts[i], cell)]++] = layouts[i];
  std::uint64_t sum = start[kMine];
  for (int k = 0; k < kMine; ++k)
    if (const std::size_t same = start[k + 1] - start[k])
      sum += best(sorted.data() + start[k], same, opened | bit(cell), with(key, cell, k), depth + 1);
  return sum;
}

// The sum of cells opened from here on, by the best play.
std::uint64_t Solver::best(const Cells* layouts, std::size_t n, Cells opened, const Key& key, std::size_t depth) {
  const std::uint64_t left = std::uint64_t(board_.safe() - count(opened));
  if (n == 1 || !left) return left * n;
  Cells any = 0;
  for (std::size_t i = 0; i < n; ++i) any |= layouts[i];
  if (const Cells safe = board_.all & ~opened & ~any) return open(layouts, n, opened, key, depth, lowest(safe));
  if (const auto known = memory_->sums.find(key); known != memory_->sums.end()) return known->second;
  struct Move {
    std::size_t survives;
    int cell;
  };
  std::vector<Move> moves;
  for (Cells rest = board_.all & ~opened; rest;) {
    Move move{0, take_lowest(rest)};
    for (std::size_t i = 0; i < n; ++i) move.survives += !(layouts[i] & bit(move.cell));
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

}  // namespace trickformer::mines
