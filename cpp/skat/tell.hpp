// Sends the observations of a game of Skat to the seats, token by token, from the deal to the end.
#pragma once
#include "skat/seat_view.hpp"

namespace trickformer::skat {
inline namespace TRICKFORMER_ISA {

// Sends every seat its observations of the deal: calls tell(seat, token).
template <typename Tell>
void tell_deal(const State& s, Tell tell) {
  for (int p = 0; p < kPlayers; ++p) {
    tell(p, kSeatToken + p);
    for (Cards rest = s.hand[p]; rest;) tell(p, take_lowest(rest));
  }
}

// Applies an action and sends every seat its observation.
template <typename Tell>
void tell_action(State& s, int action, Tell tell) {
  const int seat = s.current;
  const Phase before = s.phase;
  const Cards skat = s.skat;
  apply(s, action);
  for (int p = 0; p < kPlayers; ++p)
    if (before != Phase::kDiscard || p == seat) tell(p, action);
  if (before == Phase::kPickUp && !s.contract.hand)
    for (Cards rest = skat; rest;) tell(seat, take_lowest(rest));
  if (before != Phase::kPlay && s.phase == Phase::kPlay && s.contract.level == Level::kOuvert)
    for (int p = 0; p < kPlayers; ++p)
      for (Cards rest = p == seat ? 0 : s.hand[seat]; rest;) tell(p, take_lowest(rest));
  if (s.phase == Phase::kPlay && s.num_plays % kPlayers == 0)
    for (int p = 0; p < kPlayers; ++p) tell(p, kSeatToken + s.current);
  if (s.phase == Phase::kOver)
    for (int p = 0; p < kPlayers; ++p) tell(p, kEndToken);
}

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer::skat
