// Games of Skat that `rules` finishes in all seats, from worlds that are consistent with a view.
#pragma once
#include <cstdint>
#include <span>

#include "skat/solver.hpp"
#include "skat/worlds.hpp"

namespace trickformer::skat {

struct PlayingOn {
  bool seeger = true;
  int open = 0;  // number of last tricks that are solved with open cards
};

// points: float [n, actions], the own result less the mean of the others', after each action of the seat of the view,
// which is on turn. hidden: worlds, [n, kHidden]. course: the actions after the deal, as `played` takes them. Throws
// std::invalid_argument if a world is not consistent with the view, the course does not match the view, or an action is
// not legal.
void play_on(const Deals& deals, const std::int16_t* hidden, std::size_t n, std::span<const int> course,
             std::span<const int> actions, const PlayingOn& how, Solver& solver, float* points);

}  // namespace trickformer::skat
