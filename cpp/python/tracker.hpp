// Trackers that come from Python: those of the core, and any object with the methods of trickformer.base.Tracker.
#pragma once
#include <memory>

#include "core/tracker.hpp"
#include "python/bind.hpp"

namespace trickformer {

// A copy of a tracker, the caller's own. One written in Python is asked for its copy, and each later call of it takes
// the GIL, so that it can be followed where the GIL is released. Throws what the object raises, and TypeError where its
// copy is itself or its masks are not bool [V] of at most 256 tokens.
std::unique_ptr<Tracker> copy_tracker(nb::handle tracker);

}  // namespace trickformer
