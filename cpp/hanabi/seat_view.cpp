#include "hanabi/seat_view.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace trickformer::hanabi {
namespace {

using Stage = SeatView::Stage;

// The set of possible kinds of each own slot.
struct Own {
  std::uint32_t kinds[kMaxHand];
  int size;

  explicit Own(const SeatView& v) : size(v.size()) {
    for (int i = 0; i < size; ++i) kinds[i] = v.kinds(i);
  }
};

// Returns whether a hint to this seat may touch exactly these slots.
bool may_name(const SeatView& v, const Move& hint, unsigned slots) {
  Own own(v);
  const std::uint32_t kinds = named_by(v.state.rules, hint.kind, hint.value);
  for (int i = 0; i < own.size; ++i) own.kinds[i] &= slots >> i & 1 ? kinds : ~kinds;
  return fits(own.kinds, own.size, v.unseen());
}

bool may_name_any(const SeatView& v, const Move& hint) {
  const Own own(v);
  const std::uint32_t kinds = named_by(v.state.rules, hint.kind, hint.value);
  const Copies unseen = v.unseen();
  for (int i = 0; i < own.size; ++i) {
    Own with = own;
    with.kinds[i] &= kinds;
    if (fits(with.kinds, with.size, unseen)) return true;
  }
  return false;
}

// Returns whether this kind may be seen now: as the own card of a slot, or with slot -1 as a card that another seat
// draws or was dealt.
bool may_see(const SeatView& v, int kind, int slot) {
  Copies unseen = v.unseen();
  Own own(v);
  if (unseen.left(kind) == 0 || (slot >= 0 && !(own.kinds[slot] >> kind & 1))) return false;
  unseen.take(1u << kind);
  if (slot >= 0) own.kinds[slot] = own.kinds[--own.size];
  return fits(own.kinds, own.size, unseen);
}

bool others_move(const Codec& codec, const SeatView& v, int token) {
  const State& s = v.state;
  const int action = codec.action(token, v.actor());
  if (action < 0) return false;
  const Move move = move_of(s.rules, action);
  if (move.kind <= Kind::kDiscard)
    return move.slot < s.sizes[s.player] && (move.kind == Kind::kPlay || s.hints < s.rules.hints);
  if (s.hints == 0) return false;
  const int receiver = (s.player + move.offset) % s.rules.players;
  return receiver == v.seat ? may_name_any(v, move) : named_slots(s, receiver, move.kind, move.value) != 0;
}

// The kinds of which these slots need every copy: without one of them, the slots could no longer be filled. It
// must be possible to fill them with all copies.
std::uint32_t short_of(const std::uint32_t* kinds, int slots, const Copies& unseen) {
  std::uint32_t narrow[kMaxHand], found = 0;
  int n = 0;
  for (int i = 0; i < slots; ++i)
    if (unseen.left_of(kinds[i]) <= slots) narrow[n++] = kinds[i];
  std::uint32_t either[1 << kMaxHand];
  either[0] = 0;
  for (unsigned set = 1; set < 1u << n; ++set) {
    either[set] = either[set & (set - 1)] | narrow[lowest(set)];
    if (unseen.left_of(either[set]) == count(set)) found |= either[set];
  }
  return found;
}

// The kinds that each own slot can be while all other slots can be filled, and their union.
struct OwnCards {
  std::uint32_t slot[kMaxHand] = {}, any = 0;

  OwnCards(const Own& own, const Copies& unseen) {
    for (int i = 0; i < own.size; ++i) {
      Own others = own;
      others.kinds[i] = others.kinds[--others.size];
      any |= slot[i] = own.kinds[i] & unseen.more_than[0] & ~short_of(others.kinds, others.size, unseen);
    }
  }
};

// The place of the next card of the deal.
Slot& next_dealt(SeatView& v) {
  const Rules& rules = v.state.rules;
  return v.state.hands[(v.seat + 1 + v.dealt / rules.hand) % rules.players][v.dealt % rules.hand];
}

void go_on(SeatView& v) { v.stage = v.state.over() ? Stage::kOver : Stage::kMove; }

}  // namespace

bool fits(const std::uint32_t* kinds, int slots, const Copies& unseen) {
  // A slot with at least as many possible cards as there are slots can wait until the others are filled.
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

std::uint32_t SeatView::kinds(int slot) const { return hinted_kinds(state.rules, state.hands[seat][slot]); }

Copies SeatView::unseen() const {
  Copies unseen = undiscarded_copies(state);
  unseen.take(piled_kinds(state));
  for (int p = 0; p < state.rules.players; ++p)
    for (int i = 0; p != seat && i < state.sizes[p]; ++i)
      if (state.hands[p][i].card != kUnknown) unseen.take(one(state.hands[p][i].card));
  return unseen;
}

std::pair<int, int> range(const Codec& codec, const SeatView& v) {
  switch (v.stage) {
    case Stage::kSeat: return {codec.seat(), codec.end()};
    case Stage::kMove: return v.my_turn() ? std::pair{0, codec.other()} : std::pair{codec.other(), codec.card()};
    case Stage::kSlots: return {codec.slots() + 1, codec.seat()};
    case Stage::kOver: return {codec.end(), codec.vocabulary()};
    default: return {codec.card(), codec.slots() + 1};
  }
}

bool allows(const Codec& codec, const SeatView& v, int token) {
  if (const auto [first, last] = range(codec, v); token < first || token >= last) return false;
  switch (v.stage) {
    case Stage::kSeat: return true;
    case Stage::kDeal:
    case Stage::kDraw: return may_see(v, token - codec.card(), -1);
    case Stage::kCard: return may_see(v, token - codec.card(), move_of(v.state.rules, v.pending).slot);
    case Stage::kMove: return v.my_turn() ? legal(v.state) >> token & 1 : others_move(codec, v, token);
    case Stage::kSlots: {
      const unsigned slots = unsigned(token - codec.slots());
      return slots < 1u << v.size() && may_name(v, move_of(v.state.rules, v.pending), slots);
    }
    default: return !v.ended;
  }
}

TokenSet all_allowed(const Codec& codec, const SeatView& v) {
  const State& s = v.state;
  const Rules& rules = s.rules;
  TokenSet set;
  const auto cards = [&](std::uint32_t kinds) {
    while (kinds) set.add(codec.card() + take_lowest(kinds));
  };
  switch (v.stage) {
    case Stage::kDeal:
    case Stage::kDraw: {
      const Own own(v);
      const Copies unseen = v.unseen();
      cards(unseen.more_than[0] & ~short_of(own.kinds, own.size, unseen));
      return set;
    }
    case Stage::kCard: cards(OwnCards(Own(v), v.unseen()).slot[move_of(rules, v.pending).slot]); return set;
    case Stage::kMove: {
      if (v.my_turn()) {
        set.words[0] = legal(s);
        return set;
      }
      // The rules determine all moves of another seat except hints to this one.
      for (int i = 0; i < s.sizes[s.player]; ++i) {
        set.add(codec.other() + rules.hand + i);
        if (s.hints < rules.hints) set.add(codec.other() + i);
      }
      if (s.hints == 0) return set;
      const int actor = v.actor();
      for (int offset = 1; offset < rules.players; ++offset) {
        const int receiver = (actor + offset) % rules.players, seat = (s.player + offset) % rules.players;
        const std::uint32_t kinds = receiver == 0 ? OwnCards(Own(v), v.unseen()).any : kinds_in_hand(s, seat);
        Move hint{Kind::kHintColor, 0, std::uint8_t(offset), 0};
        for (; hint.value < rules.colors; ++hint.value)  // NOLINT(bugprone-too-small-loop-variable): five at most
          if (kinds & named_by(rules, hint.kind, hint.value)) set.add(codec.token(hint, receiver));
        hint = {Kind::kHintRank, 0, std::uint8_t(offset), 0};
        for (; hint.value < rules.ranks; ++hint.value)  // NOLINT(bugprone-too-small-loop-variable): five at most
          if (kinds & named_by(rules, hint.kind, hint.value)) set.add(codec.token(hint, receiver));
      }
      return set;
    }
    case Stage::kSlots: {
      const Own own(v);
      const Copies unseen = v.unseen();
      const OwnCards can(own, unseen);
      const Move hint = move_of(rules, v.pending);
      const std::uint32_t kinds = named_by(rules, hint.kind, hint.value);
      unsigned may = 0, must = 0;
      for (int i = 0; i < own.size; ++i) {
        may |= unsigned((can.slot[i] & kinds) != 0) << i;
        must |= unsigned(!(can.slot[i] & ~kinds)) << i;
      }
      for (unsigned free = may & ~must, some = free;; some = (some - 1) & free) {
        const unsigned slots = must | some;
        Own with = own;
        for (int i = 0; i < own.size; ++i) with.kinds[i] &= slots >> i & 1 ? kinds : ~kinds;
        if (slots && fits(with.kinds, with.size, unseen)) set.add(codec.slots() + int(slots));
        if (some == 0) return set;
      }
    }
    default: {
      const auto [first, last] = range(codec, v);
      for (int token = first; token < last; ++token)
        if (allows(codec, v, token)) set.add(token);
      return set;
    }
  }
}

void see(const Codec& codec, SeatView& v, int token) {
  State& s = v.state;
  switch (v.stage) {
    case Stage::kSeat: {
      std::uint8_t deck[kMaxDeck];
      std::fill(deck, deck + kMaxDeck, kUnknown);
      s = new_game(s.rules, deck);
      v.seat = std::uint8_t(token - codec.seat());
      v.stage = Stage::kDeal;
      return;
    }
    case Stage::kDeal:
      next_dealt(v).card = std::uint8_t(token - codec.card());
      if (++v.dealt == (s.rules.players - 1) * s.rules.hand) v.stage = Stage::kMove;
      return;
    case Stage::kMove: {
      const bool own = v.my_turn();
      const int action = own ? token : codec.action(token, v.actor()), drawn = s.drawn;
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
      s.hands[v.seat][move_of(s.rules, v.pending).slot].card = std::uint8_t(token - codec.card());
      apply(s, v.pending);
      return go_on(v);
    case Stage::kDraw:
      s.hands[s.last.player][s.sizes[s.last.player] - 1].card = std::uint8_t(token - codec.card());
      return go_on(v);
    case Stage::kSlots: apply(s, v.pending, token - codec.slots()); return go_on(v);
    case Stage::kOver: v.ended = true;
  }
}

SeatView view_of(const Codec& codec, std::span<const int> tokens) {
  SeatView v(codec.rules());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!allows(codec, v, tokens[i]))
      throw std::invalid_argument("no deal explains token " + std::to_string(i) + " of the view");
    see(codec, v, tokens[i]);
  }
  return v;
}

}  // namespace trickformer::hanabi
