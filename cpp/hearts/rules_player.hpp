// `rules`: a scripted player of Hearts. Its choice depends only on the view.
#pragma once
#include "hearts/seat_view.hpp"

namespace trickformer::hearts {

// Returns the card that `rules` passes or plays. Throws std::invalid_argument if no deal explains the view, or if its
// seat is not on turn.
int rules_player(const SeatView& view);

}  // namespace trickformer::hearts
