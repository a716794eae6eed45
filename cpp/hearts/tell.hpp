// Observations of the seats in a hand of Hearts, token by token, from the deal to the end.
//
// Tokens: 52 cards, 4 positions, 4 pass directions, end of sequence. A sequence is the own seat, the 13 cards
// dealt (ascending), the direction, 3 cards passed (as chosen), 3 received (ascending), the seat that leads the
// first trick, 52 plays, the end: 75 tokens, or 69 in a hand without passes.
#pragma once
#include "hearts/rules.hpp"

namespace trickformer::hearts {

inline constexpr int kPositionToken = kNumCards, kDirectionToken = kPositionToken + kPlayers,
                     kEndToken = kDirectionToken + 4, kVocabulary = kEndToken + 1;
inline constexpr int kMaxLength = 1 + kHand + 1 + 2 * kPass + 1 + kNumCards + 1;

inline namespace TRICKFORMER_ISA {

// Sends every seat the tokens between the passes and the first trick: the cards it received, and the leader.
template <typename Tell>
void tell_start(const State& s, Tell tell) {
  for (int p = 0; p < kPlayers; ++p) {
    for (Cards rest = s.passed[(p + kPlayers - s.direction) % kPlayers]; rest;) tell(p, take_lowest(rest));
    tell(p, kPositionToken + s.current);
  }
}

// Sends every seat its observations of the deal: calls tell(seat, token).
template <typename Tell>
void tell_deal(const State& s, Tell tell) {
  for (int p = 0; p < kPlayers; ++p) {
    tell(p, kPositionToken + p);
    for (Cards rest = s.dealt[p]; rest;) tell(p, take_lowest(rest));
    tell(p, kDirectionToken + s.direction);
  }
  if (s.phase == Phase::kPlay) tell_start(s, tell);
}

// Passes or plays a card and sends every seat its observation.
template <typename Tell>
void tell_action(State& s, int card, Tell tell) {
  if (s.phase == Phase::kPass) {
    tell(s.current, card);
    apply_pass(s, card);
    if (s.phase == Phase::kPlay) tell_start(s, tell);
    return;
  }
  apply_play(s, card);
  for (int p = 0; p < kPlayers; ++p) {
    tell(p, card);
    if (s.phase == Phase::kOver) tell(p, kEndToken);
  }
}

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer::hearts
