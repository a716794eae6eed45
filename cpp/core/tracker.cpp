#include "core/tracker.hpp"

#include <algorithm>

namespace trickformer {

void Tracker::features(float* out) const {
  std::fill_n(out, vocabulary(), 0.0f);
  const TokenSet next = possible();
  for (int w = 0; w < TokenSet::kWords; ++w)
    for (auto rest = next.words[w]; rest; rest &= rest - 1) out[w * 64 + std::countr_zero(rest)] = 1;
  out[vocabulary()] = my_turn();
}

void follow(const Tracker& start, const std::int16_t* tokens, int length, float* features, bool* possible) {
  const auto tracker = start.copy();
  for (int i = 0; i < length; ++i, features += start.feature_count()) {
    tracker->push(tokens[i]);
    tracker->features(features);
    if (possible != nullptr) mark(tracker->possible(), possible + std::size_t(i) * std::size_t(start.vocabulary()));
  }
}

}  // namespace trickformer
