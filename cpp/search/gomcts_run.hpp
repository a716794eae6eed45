// Runs searches to their end with the C++ backend, without calls to Python.
#pragma once
#include "nn/gpt2.hpp"
#include "search/gomcts.hpp"

namespace trickformer::gomcts {

// actions: whether the searches get action values. Throws std::invalid_argument if a search needs them and `actions` is
// false.
void run(Batch& batch, gpt2::Backend& backend, bool actions);

}  // namespace trickformer::gomcts
