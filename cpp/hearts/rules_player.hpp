// `rules`: a scripted player of Hearts. Its choice is a function of the view alone.
#pragma once
#include "hearts/seat_view.hpp"

namespace trickformer::hearts {

// The card that `rules` passes or plays. Throws std::invalid_argument where no deal explains the view, or its seat is not
// on turn.
int rules_player(const SeatView& view);

}  // namespace trickformer::hearts
