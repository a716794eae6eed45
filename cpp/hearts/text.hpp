#pragma once
#include <string>

#include "hearts/types.hpp"

namespace trickformer::hearts {

// OpenSpiel's information state string of `player` in a hand that is not over, word for word, so that tests can compare
// the two.
std::string information_state_string(const State& state, int player);

}  // namespace trickformer::hearts
