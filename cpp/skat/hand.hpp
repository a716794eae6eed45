// The strength of a hand of Skat: the probability that `rules` wins a contract with it, and the value of the contract.
#pragma once
#include "skat/rules.hpp"

namespace trickformer::skat {

// A contract, its two discards, and its expected score.
struct Choice {
  Kind kind = Kind::kGrand;
  Level level = Level::kNone;
  Cards laid = 0;
  double score = -1e9;  // expected Seeger-Fabian points, less what a lost game gives the defenders
};

// The best contract with twelve cards, with `already` among the discards.
Choice choose_contract(Cards twelve, Cards already, int bid, bool forehand);

// The best hand game with ten cards.
Choice choose_hand_contract(Cards ten, int bid, bool forehand);

// The value of ten cards before the skat is seen.
struct Prospect {
  int limit = 0;        // highest bid that they are worth; 0: pass
  double score = -1e9;  // expected score of the best contract after picking up the skat
};
Prospect prospect(Cards ten, bool forehand);

// The cards of a suit as a set in null's order 7 8 9 10 J Q K A.
unsigned null_suit(Cards cards, int suit);

// The danger of a suit for a player who must take no trick in it. Each own card adds the number of cards of `others`
// below it minus the number of own cards below it, if this is above 0.
int null_danger(unsigned own, unsigned others);

}  // namespace trickformer::skat
