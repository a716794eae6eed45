// Runs searches to their end on the C++ backend, without a step outside the core.
#pragma once
#include "nn/gpt2.hpp"
#include "search/gomcts.hpp"

namespace trickformer::gomcts {

// actions: whether the searches use action values. Throws std::invalid_argument where they do not and one needs them.
void run(Batch& batch, gpt2::Backend& backend, bool actions);

}  // namespace trickformer::gomcts
