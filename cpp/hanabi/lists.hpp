// Scripted players of Hanabi that are lists of rules: the first rule that applies decides.
#pragma once
#include "hanabi/marks.hpp"

namespace trickformer::hanabi {

// `simple`: play a card that its marks make playable; give the first hint after which another seat takes a playable
// card for playable, and takes no other card for playable; discard the oldest card. It counts no cards. Returns an
// action.
int simple_action(const State& s, const Marks& m);

// The lists of Walton-Rivers et al. (2017). They return the actions among which they choose uniformly. They take hints
// literally and count the cards they see.
//
// iggi: play a card that is certainly playable; hint at a playable card; discard a card that is certainly useless;
// discard the oldest; hint at random.
std::uint64_t iggi_actions(const State& s);
// piers: with an empty deck and a life to spare, play the card most likely playable; play a card that is certainly
// playable, or with a life to spare one that is at 60%; hint at a playable card; with fewer than four hints, hint at a
// useless one; then as iggi.
std::uint64_t piers_actions(const State& s);
// flawed: play a card that is playable at 25%; hint at random; discard as iggi does.
std::uint64_t flawed_actions(const State& s);

}  // namespace trickformer::hanabi
