// `rules`: a scripted player of The Crew. Its choice depends only on public information and its own hand.
#pragma once
#include "crew/whereabouts.hpp"

namespace trickformer::crew {

// Returns the action of `rules` for the seat on turn, which holds `hand`.
int rules_action(const PublicState& table, int seat, Cards hand);

// Returns the card that it plays out of several legal ones (crew/rules_card.cpp). worth: null, or [kNumCards], receives
// its value for each card, of the order of 1, if there is a choice.
int rules_card(const PublicState& table, int seat, Cards hand, Cards among, float* worth = nullptr);

// Estimates the probability that a hand wins a trick with this card in it.
double can_take(Cards hand, int card);

}  // namespace trickformer::crew
