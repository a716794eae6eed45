// `rules`: a scripted player of The Crew. Its choice is a function of what everybody knows and of the own hand.
#pragma once
#include "crew/whereabouts.hpp"

namespace trickformer::crew {

// The action of `rules` for the seat on turn, which holds `hand`.
int rules_action(const PublicState& table, int seat, Cards hand);

// The card it plays of some that are legal (crew/rules_card.cpp). worth: null, or [kNumCards], where it writes what each of
// them is worth to it, of the order of 1, if there is a choice.
int rules_card(const PublicState& table, int seat, Cards hand, Cards among, float* worth = nullptr);

// The chance, roughly, that a hand can win a trick with this card in it.
double can_take(Cards hand, int card);

}  // namespace trickformer::crew
