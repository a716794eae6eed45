// `rules`: a scripted player of Skat. Its choice depends only on the view.
#pragma once
#include "skat/seat_view.hpp"

namespace trickformer::skat {

// The action of `rules` if the seat of the view is on turn.
int rules_player(const SeatView& view);

// Ratings by `rules` of the cards that may be played. Other cards have the rating 0.
struct CardThoughts {
  float worth[kNumCards] = {};  // on a scale of about 1; comparable within a decision only
  float gain[kNumCards] = {};   // card points of the trick over 30, negative if the other side wins it; 0 in null
  float wins[kNumCards] = {};   // probability that the own side takes the trick; 0 in null
};

// The card that `rules` plays in a suit or grand game, and in null (skat/rules_null.cpp). thoughts: output, or null.
int rules_card(const SeatView& view, CardThoughts* thoughts = nullptr);
int rules_null_card(const SeatView& view, CardThoughts* thoughts = nullptr);

}  // namespace trickformer::skat
