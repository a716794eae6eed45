// Runs searches to their end on the C++ backend, without a call of Python.
#pragma once
#include "nn/gpt2.hpp"
#include "search/gomcts.hpp"

namespace trickformer::gomcts {

// actions: whether the searches get action values. Throws std::invalid_argument if not, and a search needs them.
void run(Batch& batch, gpt2::Backend& backend, bool actions);

}  // namespace trickformer::gomcts
