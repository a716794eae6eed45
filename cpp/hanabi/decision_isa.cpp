// Applies an action and plays on to the end with `smart`; built once per instruction set (core/isa.hpp).
#include "hanabi/decision.hpp"
#include "hanabi/smart.inl"

namespace trickformer::hanabi::built::TRICKFORMER_ISA {

int play_out_smart(const State& start, const Marks& marks, int action) {
  State s = start;
  Marks m = marks;
  apply(s, m, action);
  while (!s.over()) apply(s, m, Thinker(s, m).smart());
  return s.score();
}

}  // namespace trickformer::hanabi::built::TRICKFORMER_ISA
