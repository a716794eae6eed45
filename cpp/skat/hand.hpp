// How good a hand of Skat is: the chance that `rules` wins a contract with it, and what the contract is then worth.
#pragma once
#include "skat/rules.hpp"

namespace trickformer::skat {

// A contract, the two cards laid away for it, and what it promises.
struct Choice {
  Kind kind = Kind::kGrand;
  Level level = Level::kNone;
  Cards laid = 0;
  double score = -1e9;  // expected Seeger-Fabian points, those of a lost game's defenders taken off
};

// The best contract with twelve cards, `already` among those laid away.
Choice choose_contract(Cards twelve, Cards already, int bid, bool forehand);

// The best contract with ten cards, the skat untouched.
Choice choose_hand_contract(Cards ten, int bid, bool forehand);

// What ten cards are worth before the skat is seen.
struct Prospect {
  int limit = 0;        // the highest bid that they bear; 0: pass
  double score = -1e9;  // expected, of the best contract with the skat picked up
};
Prospect prospect(Cards ten, bool forehand);

// The cards of a suit as a set in null's order 7 8 9 10 J Q K A.
unsigned null_suit(Cards cards, int suit);

// How badly a suit stands for one who must take no trick in it, `others` being held against it: how many of them lie
// under each own card that has too few own cards under it.
int null_danger(unsigned own, unsigned others);

}  // namespace trickformer::skat
