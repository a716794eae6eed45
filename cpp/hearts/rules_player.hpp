// `rules`: a scripted player of Hearts. Its choice is a function of the view alone.
#pragma once
#include "hearts/seat_view.hpp"

namespace trickformer::hearts {

// The card that `rules` passes or plays where the seat of the view is on turn. Throws std::invalid_argument where no deal
// explains the view.
int rules_player(const SeatView& view);

}  // namespace trickformer::hearts
