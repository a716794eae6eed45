// The scripted players of Hanabi that look one move ahead: they predict how the receiver of a hint will understand it.
#pragma once
#include "hanabi/marks.hpp"

namespace trickformer::hanabi {

// The action of `holmes`. It plays a card that is certainly playable, unless the next seat must be warned of a misplay
// or of discarding the last copy of a card. It hints such that as many cards as possible become known as playable. It
// discards a card that is certainly useless, or else the chop.
int holmes_action(const State& s, const Marks& m);

// The action of `smart`. It also weighs what a hint wastes, saves and narrows down, the value of a hint when few are
// left, and the number of cards yet to be drawn.
int smart_action(const State& s, const Marks& m);

}  // namespace trickformer::hanabi
