#include "hearts/labels.hpp"

#include <stdexcept>
#include <string>

#include "core/tracker.hpp"
#include "hearts/rules.hpp"

namespace trickformer::hearts {
namespace {

void check(const Rules& rules, const std::uint8_t* history) {
  check_deck(history + 1, kNumCards);
  if (history[0] >= kPlayers) throw std::invalid_argument("no direction of passing: " + std::to_string(history[0]));
  Cards hands[kPlayers] = {};
  for (int i = 0; i < kNumCards; ++i) hands[i % kPlayers] |= bit(history[1 + i]);
  State s = new_hand(rules, history[0], hands);
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
