// `rules`: a scripted player of Skat. Its choice is a function of the view alone.
#pragma once
#include "skat/seat_view.hpp"

namespace trickformer::skat {

// The action of `rules` where the seat of the view is on turn.
int rules_player(const SeatView& view);

// What it thinks of the cards that may be played; 0 of the others.
struct CardThoughts {
  float worth[kNumCards] = {};  // of the order of 1, comparable within a decision
  float gain[kNumCards] =
      {};  // card points of the trick to the own side, those of the other below 0, over 30; not in null
  float wins[kNumCards] = {};  // chance that the own side takes the trick; not in null
};

// The card it plays in a suit or grand game, and in null (skat/rules_null.cpp). thoughts: null, or where it writes them.
int rules_card(const SeatView& view, CardThoughts* thoughts = nullptr);
int rules_null_card(const SeatView& view, CardThoughts* thoughts = nullptr);

}  // namespace trickformer::skat
