#include "hearts/labels.hpp"

#include <stdexcept>
#include <string>

#include "hearts/rules.hpp"
#include "hearts/tracker.hpp"

namespace trickformer::hearts {
namespace {

void check(const Rules& rules, const std::uint8_t* history) {
  State s = state_after_deal(rules, history);
  for (const std::uint8_t* action = history + 1 + kNumCards; s.phase != Phase::kOver; ++action) {
    check_action(*action < kNumCards && legal(s) & bit(*action), *action);
    apply(s, *action);
  }
}

}  // namespace

void label(const Rules& rules, const std::uint8_t* history, int seat, const LabelOptions& options, std::uint64_t seed,
           std::uint64_t stream, std::vector<Label>& out) {
  check(rules, history);
  Label found[kMaxLabels];
  out.insert(out.end(), found, found + label_hand(rules, history, seat, options, seed, stream, found));
}

}  // namespace trickformer::hearts
