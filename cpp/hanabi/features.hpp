// Features of one seat's position in Hanabi: the board, every card in a hand, the last move.
#pragma once
#include "hanabi/marks.hpp"
#include "hanabi/seat_view.hpp"

namespace trickformer::hanabi {

// Public information about the cards in hands that the rules do not keep: their meaning by the convention of the
// scripted players, and the moves at which they were drawn and last hinted at.
struct Memory {
  Marks marks = {};
  std::uint8_t born[kMaxPlayers][kMaxHand] = {};
  std::uint8_t last_hint[kMaxPlayers][kMaxHand] = {};  // 0: never

  void begin(const State& dealt) { marks = plain_marks(dealt); }
  // before, after: the states around a move; only their public parts are read.
  void follow(const State& before, const State& after);
};

// Index of the first number of each feature, with its shape. P players, C colours, R ranks, K kinds, H slots. Features
// are 0 or 1, except shares. Seats count from the own one, slots from the oldest card.
struct FeatureLayout {
  explicit FeatureLayout(const Rules& rules);

  int fireworks;  // [C][R + 1] height of each pile
  int discards;   // by kind, one number for each copy: 1 for as many copies as are discarded
  int unseen;     // by kind, one number for each copy: 1 for as many copies as are in the own hand or the deck
  int playable;   // [K] next on its pile
  int dead;       // [K] useless from now on
  int critical;   // [K] last copy of a card that is still needed
  int hints;      // [hints + 1] left
  int lives;      // [lives + 1] left
  int turns;      // [P + 1] turns left once the deck is empty
  int left;       // cards in the deck, as a share of all cards
  int piled;      // share of all cards that are piled
  int reachable;  // share of all cards that are piled or can still be
  int spare;      // cards that may still be drawn without a play, as a share of all cards
  int stage;      // [6] meaning of the next token, in the order of SeatView::Stage
  int turn;       // [P] who acts next
  int actor;      // [P] who made the last move, which may still wait for its result
  int kind;       // [4] play, discard, hint of a colour, hint of a rank
  int receiver;   // [P] of a hint
  int color;      // [C] of a hint
  int rank;       // [R] of a hint
  int touched;    // [H] slots that a hint names
  int slot;       // [H] of a play or a discard
  int card;       // [K] played or discarded
  int effect;     // [3] the card was piled, a hint came back, a life was lost
  int script;     // [actions] action of `smart` at an own turn
  int others;     // [P - 1][H] the cards of the others, for each:
  int other_size;
  int own;  // [H] the own cards, for each:
  int own_size;
  int size;

  // Within a slot. Public:
  int there;   // there is a card
  int colors;  // [C] that hints leave possible
  int ranks;   // [R]
  int named;   // [2] its colour was named, its rank was
  int chop;    // it is the oldest card that no hint has touched
  int fresh;   // the last move touched it
  int age;     // r / (r + 4), r rounds after it was drawn
  int recent;  // 1 / (1 + rounds since the last hint that touched it); 0 if none has
  int marked;  // [2] by the convention it is playable; by the convention it is more than the hints say
  int fate;    // [2] its owner would play it; its owner would think it useless, as far as the own seat can tell
  // Another seat's card:
  int shown;   // [K] its kind
  int traits;  // [3] playable, dead, critical
  int misled;  // the convention takes it for a kind that it is not
  int twin;    // another card of its kind is visible in a hand
  // An own card:
  int chances;         // [K] share of each kind among the unseen cards that the hints allow
  int own_traits;      // [3] probability that it is playable, dead, critical
  int marked_chances;  // [K] the same, among the kinds of the convention
  int marked_traits;   // [3]
};

// Writes the features of a view to out, [FeatureLayout(rules).size]. consistent: whether some deal explains the view;
// if not, the features of `smart` are 0.
void features(const SeatView& v, const Memory& memory, bool consistent, float* out);

}  // namespace trickformer::hanabi
