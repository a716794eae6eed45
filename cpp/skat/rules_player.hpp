// `rules`: a scripted player of Skat. Its choice depends only on the view.
#pragma once
#include "skat/seat_view.hpp"

namespace trickformer::skat {

// The action of `rules` if the seat of the view is on turn.
int rules_player(const SeatView& view);

// Its opinion of the cards that may be played; 0 for the others.
struct CardThoughts {
  float worth[kNumCards] = {};  // of the order of 1, comparable within a decision
  float gain[kNumCards] =
      {};  // card points of the trick for the own side, negative for the other side, over 30; not in null
  float wins[kNumCards] = {};  // probability that the own side takes the trick; not in null
};

// The card it plays in a suit or grand game, and in null (skat/rules_null.cpp). thoughts: output, or null.
int rules_card(const SeatView& view, CardThoughts* thoughts = nullptr);
int rules_null_card(const SeatView& view, CardThoughts* thoughts = nullptr);

}  // namespace trickformer::skat
