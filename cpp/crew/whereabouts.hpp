// Estimated locations of the cards, from public information and the own hand: certain locations, and probabilities.
#pragma once
#include "crew/rules.hpp"

namespace trickformer::crew {

struct Whereabouts {
  Cards unseen = 0;            // cards not played, not in the own hand and not known to be in another
  Cards has[kPlayers] = {};    // cards that another seat is known to hold
  Cards maybe[kPlayers] = {};  // cards that another seat may hold, those in `has` included
  // For a card in `maybe`: the probability that the seat does not hold it. Cards are treated as independent.
  float absent[kPlayers][kNumCards] = {};

  // Probability that a seat holds none of some cards.
  double none(int p, Cards cards) const {
    double chance = 1;
    for (Cards rest = cards & maybe[p]; rest;) chance *= absent[p][take_lowest(rest)];
    return chance;
  }
};

inline namespace TRICKFORMER_ISA {

inline Whereabouts look(const PublicState& t, int seat, Cards hand) {
  Whereabouts s;
  // after a draw only later plays give information
  const bool drawn = t.mission.has(Rule::kDraw) && t.num_plays >= kPlayers;
  Cards cannot[kPlayers] = {};
  int played[kPlayers] = {}, leader = t.commander;
  for (int i = 0; i < t.num_plays; i += kPlayers) {
    const int lead = t.plays[i];
    for (int k = 0; k < kPlayers && i + k < t.num_plays; ++k) {
      const int p = next_seat(leader, k);
      ++played[p];
      if (suit(t.plays[i + k]) != suit(lead) && !(drawn && i == 0)) cannot[p] |= suit_cards(suit(lead));
    }
    leader = t.winner[i / kPlayers];
  }
  for (int p = 0; p < kPlayers; ++p) {
    const Message& m = t.message[p];
    if (p == seat || !m.label) continue;
    s.has[p] |= bit(m.card) & ~t.played;
    if (drawn && m.before < kPlayers) continue;
    if (m.label == kHighest || m.label == kOnly) cannot[p] |= higher(m.card);
    if (m.label == kLowest || m.label == kOnly) cannot[p] |= lower(m.card);
  }
  if (t.commander != seat && !drawn) s.has[t.commander] |= bit(kCommandersCard) & ~t.played;
  const int nine = next_seat(t.member, 3);  // under kAllPink the member sits to the left of the holder of the pink 9
  if (t.mission.has(Rule::kAllPink) && !t.mission.distress && !drawn && nine != seat)
    s.has[nine] |= bit(kPinkNine) & ~t.played;
  s.unseen = kAll & ~(t.played | hand | s.has[0] | s.has[1] | s.has[2] | s.has[3]);

  double room[kPlayers] = {};
  for (int p = 0; p < kPlayers; ++p) {
    if (p == seat) continue;
    room[p] = std::max(0, kHand - played[p] - count(s.has[p]));
    s.maybe[p] = s.has[p] | (room[p] > 0 ? s.unseen & ~cannot[p] : 0);
  }
  for (Cards rest = s.unseen; rest;) {
    const int card = take_lowest(rest);
    double total = 0;
    for (int p = 0; p < kPlayers; ++p) total += s.maybe[p] >> card & 1 ? room[p] : 0;
    for (int p = 0; p < kPlayers; ++p)
      if (s.maybe[p] >> card & 1) s.absent[p][card] = float(1 - room[p] / total);
  }
  return s;
}

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer::crew
