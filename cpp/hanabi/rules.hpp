// Hanabi: the rules of OpenSpiel's game `hanabi` for two to five players, reimplemented so that thousands of games can
// run in lockstep.
//
// All numbers are OpenSpiel's. A card is colour * ranks + rank. Actions are, in this order: discard of slot 0.., play
// of slot 0.., hint of a colour and then of a rank to the first, second, .. seat after the actor. The order of the deck
// is fixed before play. Seat 0 is dealt its hand, then seat 1, and so on. A seat that plays or discards draws the next
// card into its highest slot.
#pragma once
#include <cstdint>

#include "core/bits.hpp"

namespace trickformer::hanabi {

inline constexpr int kMaxPlayers = 5, kMaxColors = 5, kMaxRanks = 5, kMaxHand = 7, kMaxKinds = kMaxColors * kMaxRanks,
                     kMaxDeck = 50, kMaxActions = 2 * kMaxHand + (kMaxPlayers - 1) * (kMaxColors + kMaxRanks);

struct Rules {
  int players = 2, colors = 5, ranks = 5, hand = 5, hints = 8, lives = 3;

  int kinds() const { return colors * ranks; }
  int copies(int rank) const { return rank == 0 ? 3 : rank == ranks - 1 ? 1 : 2; }
  int deck() const { return colors * (ranks == 1 ? 3 : 2 * ranks); }
  int cards_in_hands() const { return players * hand; }  // cards in hands at the start
  int play(int slot) const { return hand + slot; }
  int hint_color(int offset, int color) const { return 2 * hand + (offset - 1) * colors + color; }
  int hint_rank(int offset, int rank) const { return 2 * hand + (players - 1) * colors + (offset - 1) * ranks + rank; }
  int actions() const { return 2 * hand + (players - 1) * (colors + ranks); }
  bool operator==(const Rules&) const = default;
};

using Kinds = std::uint32_t;  // a set of kinds of cards

// In the order of OpenSpiel's observation.
enum class Kind : std::uint8_t { kPlay, kDiscard, kHintColor, kHintRank, kNone };

// The meaning of an action number.
struct Move {
  Kind kind = Kind::kNone;
  std::uint8_t slot = 0;    // of a play or a discard
  std::uint8_t offset = 0;  // of a hint: distance from the actor to the receiver
  std::uint8_t value = 0;   // of a hint: the colour or the rank
};

// A card in a hand, and the public information about it from hints.
struct Slot {
  std::uint8_t card = 0;
  std::uint8_t colors = 0, ranks = 0;  // sets of colours and ranks that the hints allow
  std::uint8_t hint_bits = 0;          // bit 0: a hint named its colour, bit 1: its rank

  bool may_be(const Rules& rules, int kind) const {
    return colors >> kind / rules.ranks & ranks >> kind % rules.ranks & 1;
  }
};

// The last move, as everybody saw it.
struct Last {
  Move move;
  std::uint8_t player = 0;
  std::uint8_t touched = 0;               // slots that the hint touched
  std::uint8_t card = 0;                  // played or discarded
  bool scored = false, regained = false;  // whether the play succeeded; whether a hint token came back
};

struct State {
  Rules rules;
  Slot hands[kMaxPlayers][kMaxHand];
  std::uint8_t sizes[kMaxPlayers] = {};
  std::uint8_t deck[kMaxDeck] = {};  // in the order of drawing; cards before `drawn` are gone
  std::uint8_t discards[kMaxKinds] = {};
  std::uint8_t fireworks[kMaxColors] = {};  // cards on each pile
  std::uint8_t drawn = 0, hints = 0, lives = 0, player = 0, turns_left = 0;
  std::uint8_t moves = 0;
  Last last;

  int left() const { return rules.deck() - drawn; }  // cards in the deck
  int piled() const {
    int n = 0;
    for (int c = 0; c < rules.colors; ++c) n += fireworks[c];
    return n;
  }
  bool over() const { return lives == 0 || turns_left == 0 || piled() == rules.kinds(); }
  int score() const { return lives == 0 ? 0 : piled(); }
  bool playable(int card) const { return fireworks[card / rules.ranks] == card % rules.ranks; }
};

}  // namespace trickformer::hanabi

namespace trickformer::hanabi::inline TRICKFORMER_ISA {

inline constexpr Kinds one(int kind) { return Kinds{1} << kind; }

// Indexed by number of ranks and set of colours: the cards of rank 0 of these colours.
struct Firsts {
  Kinds of[kMaxRanks + 1][1 << kMaxColors] = {};
  constexpr Firsts() {
    for (int ranks = 1; ranks <= kMaxRanks; ++ranks)
      for (int set = 0; set < 1 << kMaxColors; ++set)
        for (int c = 0; c < kMaxColors; ++c) of[ranks][set] |= Kinds(set >> c & 1) << c * ranks;
  }
};
inline constexpr Firsts kFirsts;

inline Kinds of_rank(const Rules& rules, int rank) { return kFirsts.of[rules.ranks][(1 << rules.colors) - 1] << rank; }
inline Kinds of_color(const Rules& rules, int color) { return (one(rules.ranks) - 1) << color * rules.ranks; }
// The kinds of the hinted colour or rank.
inline Kinds named_by(const Rules& rules, Kind kind, int value) {
  return kind == Kind::kHintColor ? of_color(rules, value) : of_rank(rules, value);
}

inline Move move_of(const Rules& rules, int action) {
  Move m;
  if (action < rules.hand) {
    m.kind = Kind::kDiscard;
    m.slot = std::uint8_t(action);
  } else if (action < 2 * rules.hand) {
    m.kind = Kind::kPlay;
    m.slot = std::uint8_t(action - rules.hand);
  } else if (action -= 2 * rules.hand; action < (rules.players - 1) * rules.colors) {
    m.kind = Kind::kHintColor;
    m.offset = std::uint8_t(1 + action / rules.colors);
    m.value = std::uint8_t(action % rules.colors);
  } else {
    action -= (rules.players - 1) * rules.colors;
    m.kind = Kind::kHintRank;
    m.offset = std::uint8_t(1 + action / rules.ranks);
    m.value = std::uint8_t(action % rules.ranks);
  }
  return m;
}

inline void draw(State& s, int seat) {
  Slot& slot = s.hands[seat][s.sizes[seat]++];
  slot.card = s.deck[s.drawn++];
  slot.colors = std::uint8_t((1 << s.rules.colors) - 1);
  slot.ranks = std::uint8_t((1 << s.rules.ranks) - 1);
  slot.hint_bits = 0;
}

// Returns whether these are all cards of the game, as counts.
inline bool is_deck(const Rules& rules, const std::uint8_t* deck) {
  int left[kMaxKinds] = {};
  for (int k = 0; k < rules.kinds(); ++k) left[k] = rules.copies(k % rules.ranks);
  for (int i = 0; i < rules.deck(); ++i)
    if (deck[i] >= rules.kinds() || !left[deck[i]]--) return false;
  return true;
}

// deck: [rules.deck()] cards in the order of drawing.
inline State new_game(const Rules& rules, const std::uint8_t* deck) {
  State s;
  s.rules = rules;
  for (int i = 0; i < rules.deck(); ++i) s.deck[i] = deck[i];
  s.hints = std::uint8_t(rules.hints);
  s.lives = std::uint8_t(rules.lives);
  s.turns_left = std::uint8_t(rules.players);
  for (int p = 0; p < rules.players; ++p)
    for (int i = 0; i < rules.hand; ++i) draw(s, p);
  return s;
}

// Puts n cards into uniformly random order.
inline void shuffle_cards(std::uint8_t* cards, int n, Rng& rng) {
  for (; n > 1; --n) {
    const int j = int(rng.below(std::uint32_t(n)));
    const std::uint8_t card = cards[n - 1];
    cards[n - 1] = cards[j];
    cards[j] = card;
  }
}

inline void shuffle_rest(State& s, Rng& rng) { shuffle_cards(s.deck + s.drawn, s.left(), rng); }

inline void shuffle(const Rules& rules, Rng& rng, std::uint8_t* deck) {
  int n = 0;
  for (int c = 0; c < rules.colors; ++c)
    for (int r = 0; r < rules.ranks; ++r)
      for (int k = rules.copies(r); k--;) deck[n++] = std::uint8_t(c * rules.ranks + r);
  shuffle_cards(deck, n, rng);
}

// The slots of a hand that a hint of a colour or a rank would touch.
inline unsigned named_slots(const State& s, int seat, Kind kind, int value) {
  const Kinds named = named_by(s.rules, kind, value);
  unsigned slots = 0;
  for (int i = 0; i < s.sizes[seat]; ++i) slots |= unsigned(named >> s.hands[seat][i].card & 1) << i;
  return slots;
}

// The kinds in a hand.
inline Kinds kinds_in_hand(const State& s, int seat) {
  Kinds kinds = 0;
  for (int i = 0; i < s.sizes[seat]; ++i) kinds |= one(s.hands[seat][i].card);
  return kinds;
}

// The legal actions as a set of numbers; empty if the game is over.
inline std::uint64_t legal(const State& s) {
  if (s.over()) return 0;
  const Rules& rules = s.rules;
  const std::uint64_t slots = (std::uint64_t{1} << s.sizes[s.player]) - 1;
  std::uint64_t set = slots << rules.hand;
  if (s.hints < rules.hints) set |= slots;
  if (s.hints == 0) return set;
  for (int offset = 1; offset < rules.players; ++offset) {
    int seat = s.player + offset;
    if (seat >= rules.players) seat -= rules.players;
    const Kinds kinds = kinds_in_hand(s, seat);
    for (int c = 0; c < rules.colors; ++c)
      set |= std::uint64_t{(kinds & of_color(rules, c)) != 0} << rules.hint_color(offset, c);
    for (int r = 0; r < rules.ranks; ++r)
      set |= std::uint64_t{(kinds & of_rank(rules, r)) != 0} << rules.hint_rank(offset, r);
  }
  return set;
}

// Applies a legal action. slots: the set of slots that a hint touches, if the receiver's hand is not known; else -1.
inline void apply(State& s, int action, int slots = -1) {
  const Rules& rules = s.rules;
  if (s.drawn == rules.deck()) --s.turns_left;
  Last last;
  last.move = move_of(rules, action);
  last.player = s.player;
  if (last.move.kind <= Kind::kDiscard) {
    Slot* hand = s.hands[s.player];
    const int card = hand[last.move.slot].card;
    last.card = std::uint8_t(card);
    if (last.move.kind == Kind::kDiscard) {
      last.regained = s.hints < rules.hints;
      s.hints = std::uint8_t(s.hints + last.regained);
      ++s.discards[card];
    } else if (s.playable(card)) {
      last.scored = true;
      last.regained = ++s.fireworks[card / rules.ranks] == rules.ranks && s.hints < rules.hints;
      s.hints = std::uint8_t(s.hints + last.regained);
    } else {
      --s.lives;
      ++s.discards[card];
    }
    --s.sizes[s.player];
    for (int i = last.move.slot; i < s.sizes[s.player]; ++i) hand[i] = hand[i + 1];
    if (s.drawn < rules.deck() && !s.over()) draw(s, s.player);
  } else {
    --s.hints;
    int seat = s.player + last.move.offset;
    if (seat >= rules.players) seat -= rules.players;
    const bool color = last.move.kind == Kind::kHintColor;
    last.touched = std::uint8_t(slots < 0 ? named_slots(s, seat, last.move.kind, last.move.value) : unsigned(slots));
    const std::uint8_t bit = std::uint8_t(1 << last.move.value);
    for (int i = 0; i < s.sizes[seat]; ++i) {
      Slot& slot = s.hands[seat][i];
      std::uint8_t& possible = color ? slot.colors : slot.ranks;
      if (last.touched >> i & 1) {
        possible = bit;
        slot.hint_bits |= color ? 1 : 2;
      } else {
        possible &= std::uint8_t(~bit);
      }
    }
  }
  s.last = last;
  ++s.moves;
  if (++s.player == rules.players) s.player = 0;
}

// The legal actions that certainly cost no life, judged with all cards visible; none if every action costs one.
inline std::uint64_t harmless(const State& s) {
  std::uint64_t set = legal(s);
  for (int i = 0; i < s.sizes[s.player]; ++i)
    if (!s.playable(s.hands[s.player][i].card)) set &= ~(std::uint64_t{1} << s.rules.play(i));
  return set;
}

}  // namespace trickformer::hanabi::inline TRICKFORMER_ISA
