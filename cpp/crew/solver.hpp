// Solver for The Crew with open hands: can the team still succeed?
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

// Random numbers in [0, 1), indexed by the seat that draws. They select the card of the right neighbour's hand.
using Draws = std::array<double, kPlayers>;

// Returns nullptr if a position can be solved, else a description of the fault. A position can be solved once the tasks
// have owners and any cards have been passed.
const char* fault(const State& state, bool has_draws);

struct SolverTable;

// Looks for one line of play that fulfils the mission. With open hands the four act as one player without an opponent.
// Communication changes nothing from here on, except which cards can be drawn, so nobody communicates.
//
// The solver is a depth-first search trick by trick, most promising tricks first, with a table of positions that are
// known to fail. The table is cleared for each position, so that answers and node counts do not depend on earlier
// positions.
class Solver {
 public:
  explicit Solver(int log2_entries = 18);  // size of the table; an entry has 8 bytes
  ~Solver();
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;

  // Returns kUnknown if `max_nodes` were not enough. `draws` are needed if cards have yet to be drawn.
  Verdict can_succeed(const State& state, std::uint64_t max_nodes, const std::optional<Draws>& draws = {});

  std::uint64_t nodes() const { return nodes_; }  // cards tried for the last position
  // The cards that lead from the last position to success, in order; empty if no success was found.
  std::span<const std::uint8_t> line() const { return line_; }

 private:
  std::unique_ptr<SolverTable> table_;
  std::uint64_t nodes_ = 0;
  std::vector<std::uint8_t> line_;
};

}  // namespace trickformer::crew
