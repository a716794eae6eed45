// Games of Skat that `rules` plays on in all seats, from worlds that explain a view.
#pragma once
#include <cstdint>
#include <span>

#include "skat/solver.hpp"
#include "skat/worlds.hpp"

namespace trickformer::skat {

struct PlayingOn {
  bool seeger = true;
  int open = 0;  // last tricks that are ended by best play with open cards
};

// points: float [n, actions], the own result less the mean of the others', where the seat of the view, which is on turn,
// takes one of the actions. hidden: worlds, [n, kHidden]. course: what was done after the deal, as `played` takes it. Throws
// std::invalid_argument where a world does not explain the view, the course is not that of the view, or an action is not
// legal.
void play_on(const Deals& deals, const std::int16_t* hidden, std::size_t n, std::span<const int> course,
             std::span<const int> actions, const PlayingOn& how, Solver& solver, float* points);

}  // namespace trickformer::skat
