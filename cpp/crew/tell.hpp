// Sends the observations of a mission to the seats, token by token, from the deal to the end.
#pragma once
#include "crew/seat_view.hpp"

namespace trickformer::crew {
inline namespace TRICKFORMER_ISA {

// Sends every seat the leader at the start of a trick: calls tell(seat, token).
template <typename Tell>
void tell_leader(const PublicState& t, Tell tell) {
  if (t.at_trick_start())
    for (int p = 0; p < kPlayers; ++p) tell(p, kSeat + relative(t.leader, p));
}

// Sends every seat its observations of the deal.
template <typename Tell>
void tell_deal(const State& s, Tell tell) {
  std::uint8_t prefix[kMaxPrefix];
  const int n = mission_tokens(s.mission, prefix);
  for (int p = 0; p < kPlayers; ++p) {
    for (int i = 0; i < n; ++i) tell(p, int(prefix[i]));
    tell(p, kChairToken + p);
    tell(p, kSeat + relative(s.commander, p));
    for (Cards rest = s.hand[p]; rest;) tell(p, take_lowest(rest));
    if (s.mission.has(Rule::kAllPink)) tell(p, kSeat + relative(s.member, p));
  }
  tell_leader(s, tell);
}

// Applies an action and sends every seat its observation.
template <typename Tell>
void tell_action(State& s, int action, Tell tell) {
  const int seat = s.current;
  const Phase before = s.phase;
  const int owned = s.owned;
  apply(s, action);
  const Task* given = s.owned == owned ? nullptr : &s.tasks[before == Phase::kDraft ? task_of_card(s, action) : owned];
  for (int p = 0; p < kPlayers; ++p) {
    switch (before) {
      case Phase::kName:
      case Phase::kAppoint:
      case Phase::kAppointLast: tell(p, kSeat + relative(next_seat(seat, action - kSeat), p)); break;
      case Phase::kPass:
        tell(p, p == seat ? action : distress_token(s.mission));
        if (s.phase != Phase::kPass) tell(p, int(s.passed[next_seat(p, kPlayers - s.mission.distress)]));
        break;
      case Phase::kDraw:
        if (s.phase == Phase::kDraw) break;
        tell(p, int(s.drawn[next_seat(p)]));
        tell(p, int(s.drawn[p]));
        break;
      case Phase::kRadioCard:
        tell(p, action);
        tell(p, kSeat + relative(seat, p));
        break;
      case Phase::kPlay: tell(p, play_token(relative(seat, p), action)); break;
      default: tell(p, action);
    }
    if (given && before != Phase::kAppoint) tell(p, kSeat + relative(given->owner, p));
    if (given && given->tile != kNoTile) tell(p, kTile + given->tile);
  }
  if (before != Phase::kRadio && before != Phase::kRadioCard) tell_leader(s, tell);
  if (s.over())
    for (int p = 0; p < kPlayers; ++p) tell(p, kEndToken);
}

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer::crew
