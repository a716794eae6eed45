#include "hanabi_seat_view.hpp"

#include <algorithm>

namespace trickformer::hanabi {
namespace {

using Stage = SeatView::Stage;

// The sets of kinds of the own slots.
struct Own {
  std::uint32_t kinds[kMaxHand];
  int size;

  explicit Own(const SeatView& v) : size(v.size()) {
    for (int i = 0; i < size; ++i) kinds[i] = v.kinds(i);
  }
};

// The kinds that a hint names.
std::uint32_t named(const Rules& rules, Kind kind, int value) {
  if (kind == Kind::kHintColor) return ((1u << rules.ranks) - 1) << value * rules.ranks;
  std::uint32_t kinds = 0;
  for (int c = 0; c < rules.colors; ++c) kinds |= 1u << (c * rules.ranks + value);
  return kinds;
}

// Whether a hint to this seat may name exactly these slots.
bool may_name(const SeatView& v, const Move& hint, unsigned slots) {
  Own own(v);
  const std::uint32_t kinds = named(v.state.rules, hint.kind, hint.value);
  for (int i = 0; i < own.size; ++i) own.kinds[i] &= slots >> i & 1 ? kinds : ~kinds;
  return fits(own.kinds, own.size, v.unseen());
}

bool may_name_any(const SeatView& v, const Move& hint) {
  const Own own(v);
  const std::uint32_t kinds = named(v.state.rules, hint.kind, hint.value);
  const Unseen unseen = v.unseen();
  for (int i = 0; i < own.size; ++i) {
    Own with = own;
    with.kinds[i] &= kinds;
    if (fits(with.kinds, with.size, unseen)) return true;
  }
  return false;
}

// Whether this kind may be seen now: as the own card of a slot, or with slot -1 as one that another draws or was dealt.
bool may_see(const SeatView& v, int kind, int slot) {
  Unseen unseen = v.unseen();
  Own own(v);
  if (unseen.left(kind) == 0 || (slot >= 0 && !(own.kinds[slot] >> kind & 1))) return false;
  unseen.take(kind);
  if (slot >= 0) own.kinds[slot] = own.kinds[--own.size];
  return fits(own.kinds, own.size, unseen);
}

bool others_move(const Table& table, const SeatView& v, int token) {
  const State& s = v.state;
  const int action = table.action(token, v.actor());
  if (action < 0) return false;
  const Move move = move_of(s.rules, action);
  if (move.kind <= Kind::kDiscard)
    return move.slot < s.sizes[s.player] && (move.kind == Kind::kPlay || s.hints < s.rules.hints);
  if (s.hints == 0) return false;
  const int receiver = (s.player + move.offset) % s.rules.players;
  return receiver == v.seat ? may_name_any(v, move) : touched(s, receiver, move.kind, move.value) != 0;
}

// Where the next card of the deal belongs.
Slot& next_dealt(SeatView& v) {
  const Rules& rules = v.state.rules;
  return v.state.hands[(v.seat + 1 + v.dealt / rules.hand) % rules.players][v.dealt % rules.hand];
}

void go_on(SeatView& v) { v.stage = v.state.over() ? Stage::kOver : Stage::kMove; }

}  // namespace

bool fits(const std::uint32_t* kinds, int slots, const Unseen& unseen) {
  // A slot with as many cards to choose from as there are slots can wait until the others are filled.
  std::uint32_t narrow[kMaxHand];
  int n = 0;
  for (int i = 0; i < slots; ++i)
    if (unseen.left_of(kinds[i]) < slots) narrow[n++] = kinds[i];
  std::uint32_t either[1 << kMaxHand];
  either[0] = 0;
  for (unsigned set = 1; set < 1u << n; ++set) {
    either[set] = either[set & (set - 1)] | narrow[lowest(set)];
    if (unseen.left_of(either[set]) < count(set)) return false;
  }
  return true;
}

std::uint32_t SeatView::kinds(int slot) const {
  const Slot& own = state.hands[seat][slot];
  std::uint32_t kinds = 0;
  for (unsigned colors = own.colors; colors;)
    kinds |= std::uint32_t{own.ranks} << take_lowest(colors) * state.rules.ranks;
  return kinds;
}

Unseen SeatView::unseen() const {
  const Rules& rules = state.rules;
  std::uint8_t left[kMaxKinds];
  for (int c = 0, k = 0; c < rules.colors; ++c)
    for (int r = 0; r < rules.ranks; ++r, ++k)
      left[k] = std::uint8_t(rules.copies(r) - state.discards[k] - (state.fireworks[c] > r));
  for (int p = 0; p < rules.players; ++p)
    for (int i = 0; p != seat && i < state.sizes[p]; ++i)
      if (state.hands[p][i].card != kUnknown) --left[state.hands[p][i].card];
  Unseen unseen;
  for (int k = 0; k < rules.kinds(); ++k)
    for (int i = 0; i < left[k]; ++i) unseen.least[i] |= 1u << k;
  return unseen;
}

std::pair<int, int> range(const Table& table, const SeatView& v) {
  switch (v.stage) {
    case Stage::kSeat: return {table.seat(), table.end()};
    case Stage::kMove: return v.my_turn() ? std::pair{0, table.other()} : std::pair{table.other(), table.card()};
    case Stage::kSlots: return {table.slots() + 1, table.seat()};
    case Stage::kOver: return {table.end(), table.vocabulary()};
    default: return {table.card(), table.slots() + 1};
  }
}

bool allows(const Table& table, const SeatView& v, int token) {
  if (const auto [first, last] = range(table, v); token < first || token >= last) return false;
  switch (v.stage) {
    case Stage::kSeat: return true;
    case Stage::kDeal:
    case Stage::kDraw: return may_see(v, token - table.card(), -1);
    case Stage::kCard: return may_see(v, token - table.card(), move_of(v.state.rules, v.pending).slot);
    case Stage::kMove: return v.my_turn() ? legal(v.state) >> token & 1 : others_move(table, v, token);
    case Stage::kSlots: {
      const unsigned slots = unsigned(token - table.slots());
      return slots < 1u << v.size() && may_name(v, move_of(v.state.rules, v.pending), slots);
    }
    default: return !v.ended;
  }
}

void see(const Table& table, SeatView& v, int token) {
  State& s = v.state;
  switch (v.stage) {
    case Stage::kSeat: {
      std::uint8_t deck[kMaxDeck];
      std::fill(deck, deck + kMaxDeck, kUnknown);
      s = new_game(s.rules, deck);
      v.seat = std::uint8_t(token - table.seat());
      v.stage = Stage::kDeal;
      return;
    }
    case Stage::kDeal:
      next_dealt(v).card = std::uint8_t(token - table.card());
      if (++v.dealt == (s.rules.players - 1) * s.rules.hand) v.stage = Stage::kMove;
      return;
    case Stage::kMove: {
      const bool own = v.my_turn();
      const int action = own ? token : table.action(token, v.actor()), drawn = s.drawn;
      const Move move = move_of(s.rules, action);
      const bool hint = move.kind >= Kind::kHintColor;
      v.pending = std::uint8_t(action);
      if (own && !hint) {
        v.stage = Stage::kCard;
      } else if (hint && (s.player + move.offset) % s.rules.players == v.seat) {
        v.stage = Stage::kSlots;
      } else {
        apply(s, action);
        go_on(v);
        if (!own && s.drawn > drawn) v.stage = Stage::kDraw;
      }
      return;
    }
    case Stage::kCard:
      s.hands[v.seat][move_of(s.rules, v.pending).slot].card = std::uint8_t(token - table.card());
      apply(s, v.pending);
      return go_on(v);
    case Stage::kDraw:
      s.hands[s.last.player][s.sizes[s.last.player] - 1].card = std::uint8_t(token - table.card());
      return go_on(v);
    case Stage::kSlots:
      apply(s, v.pending, token - table.slots());
      return go_on(v);
    case Stage::kOver: v.ended = true;
  }
}

}  // namespace trickformer::hanabi
