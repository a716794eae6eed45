// Scripted players of Hanabi that are lists of rules: the first that applies decides.
#pragma once
#include "hanabi/marks.hpp"

namespace trickformer::hanabi {

// `simple`: play a card that its marks make playable; give the first hint after which another seat takes a playable
// card for one, and none that is not; discard the oldest card. Counts no cards. Returns an action.
int simple_action(const State& s, const Marks& m);

// The lists of Walton-Rivers et al. (2017) return the actions that they choose from with equal chances. They take
// hints for what they say, and count the cards in sight.
//
// iggi: play a card that is surely playable; hint at a playable card; discard a card that is surely useless; discard
// the oldest; hint at random.
std::uint64_t iggi_actions(const State& s);
// piers: with an empty deck and a life to spare play the likeliest card; play a card that is surely playable, with a
// life to spare one that is so at 60%; hint at a playable card; with fewer than four hints, at a useless one; go on as
// iggi does.
std::uint64_t piers_actions(const State& s);
// flawed: play a card that is playable at 25%; hint at random; discard as iggi does.
std::uint64_t flawed_actions(const State& s);

}  // namespace trickformer::hanabi
