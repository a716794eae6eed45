// The Crew with open hands: can this team still succeed?
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "crew/rules.hpp"

namespace trickformer::crew {

enum class Verdict : std::uint8_t { kNo, kYes, kUnknown };

// Numbers in [0, 1), by the seat that draws: which card of the right neighbour's hand, as a share of those it could be.
using Draws = std::array<double, kPlayers>;

// nullptr where a position can be solved, else the fault in words. It can be from the moment the tasks are given away
// and cards, if any, passed on.
const char* fault(const State& state, bool has_draws);

struct SolverTable;

// Looks for one line of play that fulfils the mission: with open hands the four are one player, and nobody is against
// them. What is communicated from here on changes nothing but which cards can be drawn; nothing is.
//
// A depth-first search trick by trick, the likeliest first, with a table of positions that are known to fail. Each
// position begins with an empty one, so that answers and node counts do not depend on what came before.
class Solver {
 public:
  explicit Solver(int log2_entries = 18);  // of the table, 8 bytes each
  ~Solver();
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;

  // kUnknown where `max_nodes` were not enough. `draws` are needed where a draw is still to come.
  Verdict can_succeed(const State& state, std::uint64_t max_nodes, const std::optional<Draws>& draws = {});

  std::uint64_t nodes() const { return nodes_; }  // cards tried for the last position
  // The cards that lead from the last position to success, in order; empty where it was not found to be possible.
  std::span<const std::uint8_t> line() const { return line_; }

 private:
  std::unique_ptr<SolverTable> table_;
  std::uint64_t nodes_ = 0;
  std::vector<std::uint8_t> line_;
};

}  // namespace trickformer::crew
