// Features of one seat's position in Hanabi, as numbers: the board, every card in a hand, the newest move.
#pragma once
#include "hanabi/marks.hpp"
#include "hanabi/seat_view.hpp"

namespace trickformer::hanabi {

// Public knowledge about the cards in hands that the rules do not keep: their meaning by the scripted players'
// convention, and the moves at which they were drawn and last named in a hint.
struct Memory {
  Marks marks = {};
  std::uint8_t born[kMaxPlayers][kMaxHand] = {};
  std::uint8_t named[kMaxPlayers][kMaxHand] = {};  // 0: never

  void begin(const State& dealt) { marks = plain_marks(dealt); }
  // before, after: the states around a move, of which nothing is read but what everybody saw.
  void follow(const State& before, const State& after);
};

// Index of the first number of each feature, with its shape. P players, C colours, R ranks, K kinds, H slots.
// Features are 0 or 1, but for shares. Seats count from the own one, slots from the oldest card.
struct FeatureLayout {
  explicit FeatureLayout(const Rules& rules);

  int fireworks;  // [C][R + 1] height of each pile
  int discards;   // by kind, for each of its copies: that many are discarded
  int unseen;     // by kind, for each of its copies: that many are in the own hand or the deck
  int playable;   // [K] the pile waits for it
  int dead;       // [K] of no use any more
  int critical;   // [K] the last copy of what is still wanted
  int hints;      // [hints + 1] left
  int lives;      // [lives + 1] left
  int turns;      // [P + 1] turns left once the deck is empty
  int left;       // share of the deck that is left
  int piled;      // share of all cards that are piled
  int reachable;  // share of all cards that are piled or can be
  int spare;      // cards that may still be drawn in vain, as a share of the deck
  int stage;      // [6] what the next token is about, in the order of SeatView::Stage
  int turn;       // [P] who acts next
  int actor;      // [P] of the newest move, which may wait for what it brings
  int kind;       // [4] play, discard, hint of a colour, of a rank
  int receiver;   // [P] of a hint
  int color;      // [C] of a hint
  int rank;       // [R] of a hint
  int touched;    // [H] slots that a hint names
  int slot;       // [H] of a play or a discard
  int card;       // [K] played or discarded
  int effect;     // [3] it was piled, a hint came back, a life was lost
  int script;     // [actions] what `smart` would do, at an own turn
  int others;     // [P - 1][H] the cards of the others, each of
  int other_size;
  int own;  // [H] the own ones, each of
  int own_size;
  int size;

  // Within a slot: what everybody knows,
  int there;   // there is a card
  int colors;  // [C] that hints leave possible
  int ranks;   // [R]
  int named;   // [2] its colour was named, its rank was
  int chop;    // the oldest card that no hint has named
  int fresh;   // the newest move named it
  int age;     // rounds that it is in the hand, as a share: half after four
  int recent;  // 1 / (1 + rounds since a hint named it), 0 where none has
  int marked;  // [2] the convention takes it for playable, for more than hints say
  int taken;   // [2] its owner would play it, would take it for useless, as far as the own seat can tell
  // of another's card,
  int shown;   // [K] what it is
  int traits;  // [3] playable, dead, critical
  int misled;  // the convention takes it for what it is not
  int twin;    // another of its kind is in sight in a hand
  // and of an own one.
  int chances;         // [K] share of each kind among the unseen cards that hints allow
  int own_traits;      // [3] the share that is playable, dead, critical
  int marked_chances;  // [K] the same, of the kinds that the convention takes it for
  int marked_traits;   // [3]
};

// Writes the features of a view to out, [FeatureLayout(rules).size]. consistent: whether some deal explains the view;
// if not, the features of `smart` are 0.
void features(const SeatView& v, const Memory& memory, bool consistent, float* out);

}  // namespace trickformer::hanabi
