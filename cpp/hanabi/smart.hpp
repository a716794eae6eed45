// The scripted players of Hanabi that look one move ahead: what will the receiver of a hint make of it?
#pragma once
#include "hanabi/marks.hpp"

namespace trickformer::hanabi {

// The action of `holmes`: play what is surely playable, unless the next seat must be warned of a misplay or of
// discarding the last copy of a card; hint so that as many cards as possible become known as playable; discard what is
// surely useless, else the chop.
int holmes_action(const State& s, const Marks& m);

// The action of `smart`, which also weighs what hints waste, keep and narrow down, what a hint is worth while few are
// left, and what remains to be drawn.
int smart_action(const State& s, const Marks& m);

}  // namespace trickformer::hanabi
