// Hanabi as one seat's sequence of tokens.
//
// A sequence consists of the own seat; the cards of the others, from the left neighbour on, the oldest first; then the
// moves. An own play or discard is followed by the card that it was. A play or discard of another seat is followed by
// the card that this seat draws, and a hint to the own seat by the slots that it touches. Facts that follow from these
// have no token: whose turn it is, the slots that other hints touch, the own draws.
#pragma once
#include <stdexcept>

#include "hanabi/rules.hpp"

namespace trickformer::hanabi {

// The numbers of the tokens, in this order: own actions, actions of the others, cards, sets of slots, seats, the end. A
// hint of another seat names its receiver by the place counted from the own seat.
class Codec {
 public:
  explicit Codec(const Rules& rules);  // throws std::invalid_argument if there are more than kMaxVocabulary tokens

  const Rules& rules() const { return rules_; }
  int other() const { return rules_.actions(); }
  int card() const { return other() + 2 * rules_.hand + receivers() * (rules_.colors + rules_.ranks); }
  int slots() const { return card() + rules_.kinds() - 1; }  // a set of slots, never empty, has the token slots() + set
  int seat() const { return slots() + (1 << rules_.hand); }
  int end() const { return seat() + rules_.players; }
  int vocabulary() const { return end() + 1; }
  int length() const { return length_; }  // length of the longest sequence

  // `token` returns the token of another seat's move, and `action` the action of that token: -1 for any other token, or
  // if the actor lacks the action. receiver: of a hint. actor: the seat that moves. Both are counted from the own seat.
  int token(const Move& move, int receiver) const;
  int action(int token, int actor) const;

  // Outcomes are numbered by the score.
  int outcome(const std::int8_t* scores, int) const { return scores[0]; }

 private:
  // number of receivers that tokens distinguish in hints of other seats
  int receivers() const { return rules_.players == 2 ? 1 : rules_.players; }

  Rules rules_;
  int length_;
};

// Calls tell(seat, token) for each seat's observations of the deal.
template <typename Tell>
void tell_deal(const Codec& codec, const State& s, Tell tell) {
  const int players = s.rules.players;
  for (int p = 0; p < players; ++p) {
    tell(p, codec.seat() + p);
    for (int offset = 1; offset < players; ++offset)
      for (int i = 0; i < s.rules.hand; ++i) tell(p, codec.card() + s.hands[(p + offset) % players][i].card);
  }
}

// Makes a legal move and calls tell(seat, token) for each seat's observations of it.
template <typename Tell>
void tell_action(const Codec& codec, State& s, int action, Tell tell) {
  const int players = s.rules.players, actor = s.player, drawn = s.drawn;
  apply(s, action);
  const Move& move = s.last.move;
  const bool hint = move.kind >= Kind::kHintColor;
  for (int p = 0; p < players; ++p) {
    const int receiver = (actor + move.offset - p + players) % players;
    tell(p, p == actor ? action : codec.token(move, receiver));
    if (hint && receiver == 0)
      tell(p, codec.slots() + s.last.touched);
    else if (!hint && p == actor)
      tell(p, codec.card() + s.last.card);
    else if (s.drawn > drawn)
      tell(p, codec.card() + s.hands[actor][s.sizes[actor] - 1].card);
    if (s.over()) tell(p, codec.end());
  }
}

}  // namespace trickformer::hanabi
