// Searches on the CPU's decoder, to their end: what any engine can be asked from outside, without leaving the core.
#pragma once
#include "nn/gpt2.hpp"
#include "search/gomcts.hpp"

namespace trickformer::gomcts {

// actions: whether the searches use action values. Throws std::invalid_argument where they do not and one needs them.
void run(Batch& batch, gpt2::Engine& engine, bool actions);

}  // namespace trickformer::gomcts
