// `rules`: a scripted player of Hearts. Its choice is a function of the view alone.
#pragma once
#include "hearts/seat_view.hpp"

namespace trickformer::hearts {

// The card that `rules` passes or plays where the seat of the view is on turn. `fault`: kNoFault, or why no deal explains
// the view: another Fault, or the number of the impossible play.
int rules_player(const SeatView& view, int& fault);

}  // namespace trickformer::hearts
