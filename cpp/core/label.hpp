// Labels of action values: what each legal action of a decision is worth, found by playing on from known cards.
#pragma once
#include <cstdint>

namespace trickformer {

struct RolloutNet;

struct Label {
  std::uint16_t position;  // of the own sequence: the token before the decision
  std::uint16_t token;     // the action
  float value;             // to the own seat, in units of v(o)
};

struct LabelOptions {
  int playouts = 8;                 // of each action
  double share = 1.0;               // of the decisions that are labelled
  const RolloutNet* net = nullptr;  // plays the playouts; null: the game's script plays them
  bool worlds = false;  // each playout begins in another deal that explains what the seat saw; the game says how drawn
};

}  // namespace trickformer
