// `rules`: a scripted player of Skat. Its choice is a function of the view alone.
#pragma once
#include "skat/seat_view.hpp"

namespace trickformer::skat {

// The action of `rules` where the seat of the view is on turn.
int rules_player(const SeatView& view);

// The card it plays in a suit or grand game, and in null (skat/rules_null.cpp).
int rules_card(const SeatView& view);
int rules_null_card(const SeatView& view);

}  // namespace trickformer::skat
