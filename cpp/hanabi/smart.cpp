#include "hanabi/smart.hpp"

#include "hanabi/smart.inl"

namespace trickformer::hanabi {

int holmes_action(const State& s, const Marks& m) { return Thinker(s, m).holmes(); }
int smart_action(const State& s, const Marks& m) { return Thinker(s, m).smart(); }

}  // namespace trickformer::hanabi
