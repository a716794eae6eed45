#include "skat/played_on.hpp"

#include <stdexcept>
#include <string>

#include "skat/open.hpp"
#include "skat/table.hpp"

namespace trickformer::skat {

void play_on(const Deals& deals, const std::int16_t* hidden, std::size_t n, std::span<const int> course,
             std::span<const int> actions, const PlayingOn& how, Solver& solver, float* points) {
  const SeatView& v = deals.view();
  for (std::size_t i = 0; i < n; ++i) {
    const World world = read(hidden + i * kHidden);
    if (!deals.is_consistent(world))
      throw std::invalid_argument("world " + std::to_string(i) + " does not explain the view");
    const Table start = table_after(world, course);
    if (!v.my_turn() || start.views[v.seat] != v)
      throw std::invalid_argument(
          "the course of play does not lead to the view, or the seat of the view is not on turn");
    for (const int action : actions) {
      check_action(is_legal(start.state, action), action);
      Table t = start;
      t.apply(action);
      while (t.state.phase != Phase::kOver && !at_last_tricks(t.state, how.open)) t.apply(t.rules());
      *points++ = float(own_worth(solve_open(t.state, solver), how.seeger, v.seat)) / 2;
    }
  }
}

}  // namespace trickformer::skat
