// Plays a state to its end with `smart`, built for each instruction set.
#include "hanabi/decision.hpp"
#include "hanabi/smart.inl"

namespace trickformer::hanabi::built::TRICKFORMER_ISA {

int play_out_smart(const State& begun, const Marks& marks, int action) {
  State s = begun;
  Marks m = marks;
  apply(s, m, action);
  while (!s.over()) apply(s, m, Thinker(s, m).smart());
  return s.score();
}

}  // namespace trickformer::hanabi::built::TRICKFORMER_ISA
