// Labels for action values: the value of each legal action of a decision, measured by playouts from a deal whose cards
// are all known.
#pragma once
#include <cstdint>

namespace trickformer {

struct RolloutNet;

struct Label {
  std::uint16_t position;  // index of the token before the decision, in the own sequence
  std::uint16_t token;     // the action
  float value;             // for the own seat, in units of v(o)
};

struct LabelOptions {
  int playouts = 8;                 // per action
  double share = 1.0;               // fraction of the decisions that are labelled
  const RolloutNet* net = nullptr;  // plays the playouts; null: the scripted player of the game
  // whether each playout starts from a sampled deal that is consistent with the seat's view; the game defines how the
  // deal is sampled
  bool worlds = false;
};

}  // namespace trickformer
