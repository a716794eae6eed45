// `rules`: a scripted player of The Crew. Its choice depends only on public information and its own hand.
#pragma once
#include "crew/whereabouts.hpp"

namespace trickformer::crew {

// Returns the action of `rules` for the seat on turn, which holds `hand`.
int rules_action(const PublicState& table, int seat, Cards hand);

// Returns the card that it plays out of several legal ones (crew/rules_card.cpp). worth: null, or [kNumCards], receives
// the value of each card of `among`, of the order of 1, if there are several; other entries are unchanged.
int rules_card(const PublicState& table, int seat, Cards hand, Cards among, float* worth = nullptr);

// Rates how surely a hand can win the trick to which this card belongs, whoever plays the card: about 0.1 to 1.1.
double can_take(Cards hand, int card);

}  // namespace trickformer::crew
