// The end of a game of Skat with open cards.
#pragma once
#include "skat/rules.hpp"
#include "skat/solver.hpp"

namespace trickformer::skat {

// Returns whether a trick begins, with at most this many tricks left.
inline bool at_last_tricks(const State& s, int tricks) {
  return s.phase == Phase::kPlay && s.num_plays % kPlayers == 0 && s.num_plays >= kPlays - kPlayers * tricks;
}

inline SolverPosition position_of(const State& s) {
  SolverPosition p;
  p.kind = s.contract.kind;
  p.soloist = s.auction.soloist;
  p.leader = s.leader;
  Cards left = 0;
  const int n_played = s.num_plays % kPlayers;
  for (int i = 0; i < n_played; ++i) {
    p.trick[std::size_t(i)] = std::int8_t(s.plays[s.num_plays - n_played + i]);
    left |= bit(p.trick[std::size_t(i)]);
  }
  for (int seat = 0; seat < kPlayers; ++seat) {
    p.hands[std::size_t(seat)] = s.hand[seat];
    left |= s.hand[seat];
  }
  p.points[0] = std::int16_t(s.points + card_points(s.skat));
  p.points[1] = std::int16_t(kAllPoints - p.points[0] - card_points(left));
  return p;
}

// The result of a game in play under best play with open cards. Card points are solved only as far as the score needs
// them. The value for the soloist rises in steps, from no trick at all to all tricks; the result is the highest step
// that he can force.
inline Result solve_open(const State& s, Solver& solver) {
  if (s.phase == Phase::kOver) return result(s);
  const SolverPosition p = position_of(s);
  const int over = s.num_plays / kPlayers, most = kAllPoints - p.points[1];
  const auto settled = [&](int points, int tricks) {
    return settle(s.contract, s.auction.bid(), s.auction.soloist, s.soloists_cards, points, tricks);
  };
  const auto reaches = [&](int points) {
    return p.points[0] >= points || (most >= points && solver.at_least(p, points));
  };
  if (s.contract.kind == Kind::kNull) return settled(0, solver.tricks_at_least(p, 1));
  if (!reaches(61)) return reaches(31) ? settled(31, 1) : settled(30, s.tricks || solver.tricks_at_least(p, 1));
  if (!reaches(90)) return settled(61, 1);
  return settled(90, s.tricks == over && solver.tricks_at_least(p, kTricks - over) ? kTricks : 1);
}

}  // namespace trickformer::skat
