// Trackers passed from Python: those of the core, and any object with the methods of trickformer.base.Tracker.
#pragma once
#include <memory>

#include "core/tracker.hpp"
#include "python/bind.hpp"

namespace trickformer {

// Copies a tracker for the caller. A tracker written in Python is copied by its own method, and each later call takes
// the GIL, so that the copy can be used while the GIL is released. Throws what the object raises, and TypeError if its
// copy is the object itself or its masks are not bool [V] with at most kMaxVocabulary tokens.
std::unique_ptr<Tracker> copy_tracker(nb::handle tracker);

}  // namespace trickformer
