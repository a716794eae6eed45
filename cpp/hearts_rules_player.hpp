// `rules`: a scripted player of Hearts. Its choice is a function of the view alone.
#pragma once
#include "hearts_seat_view.hpp"

namespace trickformer::hearts {

// The card that `rules` passes or plays where the seat of the view is on turn; a Fault where no deal explains it.
int rules_player(const SeatView& view);

}  // namespace trickformer::hearts
