#pragma once
#include <string>

#include "hearts/types.hpp"

namespace trickformer::hearts {

// OpenSpiel's information state string of a hand that is not over: what `player` knows, in its very words, so
// that the two can be compared.
std::string information_state_string(const State& state, int player);

}  // namespace trickformer::hearts
