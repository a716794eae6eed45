#include "hanabi/features.hpp"

#include <algorithm>

#include "hanabi/deductions.hpp"
#include "hanabi/smart.hpp"

namespace trickformer::hanabi {
namespace {

using Stage = SeatView::Stage;

class Writer {
 public:
  Writer(const SeatView& v, const Memory& memory, float* out)
      : v_(v),
        memory_(memory),
        s_(v.state),
        rules_(s_.rules),
        at_(rules_),
        out_(out),
        deductions_(s_, memory.marks),
        needs_(deductions_.needs),
        unseen_(v.unseen()) {
    std::fill_n(out, at_.size, 0.0f);
    for (int p = 0; p < rules_.players; ++p)
      for (int i = 0; p != v.seat && i < s_.sizes[p]; ++i)
        if (const int card = s_.hands[p][i].card; card != kUnknown) {
          twice_ |= shown_ & one(card);
          shown_ |= one(card);
        }
  }

  void board() {
    for (int c = 0; c < rules_.colors; ++c) out_[at_.fireworks + c * (rules_.ranks + 1) + s_.fireworks[c]] = 1;
    float *discards = out_ + at_.discards, *unseen = out_ + at_.unseen;
    for (int c = 0, k = 0; c < rules_.colors; ++c)
      for (int r = 0; r < rules_.ranks; ++r, ++k) {
        std::fill_n(discards, s_.discards[k], 1.0f);
        std::fill_n(unseen, unseen_.left(k), 1.0f);
        discards += rules_.copies(r);
        unseen += rules_.copies(r);
      }
    set(at_.playable, needs_.playable);
    set(at_.dead, needs_.dead);
    set(at_.critical, needs_.critical);
    out_[at_.hints + s_.hints] = 1;
    out_[at_.lives + s_.lives] = 1;
    const int piled = s_.piled(), reachable = piled + count(all_kinds(rules_) & ~needs_.dead);
    if (s_.left() == 0) out_[at_.turns + s_.turns_left] = 1;
    const float deck = float(rules_.deck());
    out_[at_.left] = float(s_.left()) / deck;
    out_[at_.piled] = float(piled) / float(rules_.kinds());
    out_[at_.reachable] = float(reachable) / float(rules_.kinds());
    out_[at_.spare] = float(piled + s_.left() + rules_.players - reachable) / deck;
    if (v_.stage != Stage::kSeat) out_[at_.stage + int(v_.stage) - 1] = 1;  // after the first token
    if (v_.stage == Stage::kMove) out_[at_.turn + v_.actor()] = 1;
  }

  void newest_move() {
    const bool waits = v_.stage == Stage::kCard || v_.stage == Stage::kSlots;
    const Last& last = s_.last;
    const Move move = waits ? move_of(rules_, v_.pending) : last.move;
    if (move.kind == Kind::kNone) return;
    const int actor = relative(waits ? s_.player : last.player);
    out_[at_.actor + actor] = 1;
    out_[at_.kind + int(move.kind)] = 1;
    if (move.kind >= Kind::kHintColor) {
      out_[at_.receiver + (actor + move.offset) % rules_.players] = 1;
      out_[(move.kind == Kind::kHintColor ? at_.color : at_.rank) + move.value] = 1;
      if (!waits) set(at_.touched, last.touched);
      return;
    }
    out_[at_.slot + move.slot] = 1;
    if (waits) return;
    out_[at_.card + last.card] = 1;
    out_[at_.effect] = last.scored;
    out_[at_.effect + 1] = last.regained;
    out_[at_.effect + 2] = move.kind == Kind::kPlay && !last.scored;
  }

  void script() { out_[at_.script + smart_action(s_, memory_.marks)] = 1; }

  void hands() {
    for (int p = 0; p < rules_.players; ++p) {
      const int offset = relative(p);
      const bool own = offset == 0;
      int at = own ? at_.own : at_.others + (offset - 1) * rules_.hand * at_.other_size;
      Kinds beliefs[kMaxHand] = {};
      // In these stages, a seat's belief about its hand depends on cards that are not seen yet.
      const bool complete = v_.stage != Stage::kDeal && v_.stage != Stage::kDraw;
      if (complete) deductions_.beliefs(p, v_.seat, true, beliefs);
      const int chop = chop_of(s_, p);
      for (int i = 0; i < s_.sizes[p]; ++i) {
        slot(p, i, at);
        out_[at + at_.chop] = i == chop;
        if (complete) {
          const Fate fate = deductions_.fate(s_.hands[p][i].hint_bits, beliefs[i]);
          out_[at + at_.fate] = fate == Fate::kPlayable;
          out_[at + at_.fate + 1] = fate == Fate::kTrash;
        }
        if (own)
          own_card(i, at);
        else if (s_.hands[p][i].card != kUnknown)
          shown_card(p, i, at);
        at += own ? at_.own_size : at_.other_size;
      }
    }
  }

 private:
  int relative(int seat) const { return (seat - v_.seat + rules_.players) % rules_.players; }

  void set(int at, std::uint32_t members) {
    while (members) out_[at + take_lowest(members)] = 1;
  }

  // Public information about a card.
  void slot(int p, int i, int at) {
    const Slot& slot = s_.hands[p][i];
    const float round = float(rules_.players);
    out_[at + at_.there] = 1;
    set(at + at_.colors, slot.colors);
    set(at + at_.ranks, slot.ranks);
    set(at + at_.named, slot.hint_bits);
    const float age = float(s_.moves - memory_.born[p][i]);
    out_[at + at_.age] = age / (age + 4 * round);
    if (memory_.last_hint[p][i]) {
      const float since = float(s_.moves - memory_.last_hint[p][i]);
      out_[at + at_.fresh] = since == 0;
      out_[at + at_.recent] = round / (round + since);
    }
    const Kinds marks = memory_.marks.kinds[p][i], live = marks & ~needs_.dead;
    out_[at + at_.marked] = live && !(live & ~needs_.playable);
    out_[at + at_.marked + 1] = marks != hinted_kinds(rules_, slot);
  }

  void shown_card(int p, int i, int at) {
    const int card = s_.hands[p][i].card;
    out_[at + at_.shown + card] = 1;
    out_[at + at_.traits] = float(needs_.playable >> card & 1);
    out_[at + at_.traits + 1] = float(needs_.dead >> card & 1);
    out_[at + at_.traits + 2] = float(needs_.critical >> card & 1);
    out_[at + at_.misled] = float(~memory_.marks.kinds[p][i] >> card & 1);
    out_[at + at_.twin] = float(twice_ >> card & 1);
  }

  void own_card(int i, int at) {
    const Kinds there = v_.kinds(i) & unseen_.more_than[0], marked = there & memory_.marks.kinds[v_.seat][i];
    chances(there, at + at_.chances, at + at_.own_traits);
    chances(marked ? marked : there, at + at_.marked_chances, at + at_.marked_traits);
  }

  // For a card that is one of these kinds: the probability of each kind, and of playable, dead and critical ones.
  void chances(Kinds kinds, int each, int traits) {
    const float all = float(unseen_.left_of(kinds));
    for (Kinds rest = kinds; rest;) {
      const int k = take_lowest(rest);
      out_[each + k] = float(unseen_.left(k)) / all;
    }
    out_[traits] = float(unseen_.left_of(kinds & needs_.playable)) / all;
    out_[traits + 1] = float(unseen_.left_of(kinds & needs_.dead)) / all;
    out_[traits + 2] = float(unseen_.left_of(kinds & needs_.critical)) / all;
  }

  const SeatView& v_;
  const Memory& memory_;
  const State& s_;
  const Rules& rules_;
  const FeatureLayout at_;
  float* out_;
  const Deductions deductions_;
  const Needs& needs_;
  const Copies unseen_;
  Kinds shown_ = 0, twice_ = 0;  // kinds in the hands of others; kinds there twice
};

}  // namespace

void Memory::follow(const State& before, const State& after) {
  const Move& move = after.last.move;
  const int seat = before.player, size = before.sizes[seat];
  if (move.kind <= Kind::kDiscard) {
    mark_card(before.rules, marks, seat, move.slot, size, after.sizes[seat] == size);
    for (int i = move.slot; i < size - 1; ++i) {
      born[seat][i] = born[seat][i + 1];
      last_hint[seat][i] = last_hint[seat][i + 1];
    }
    born[seat][size - 1] = after.moves;
    last_hint[seat][size - 1] = 0;
  } else {
    mark_hint(marks, before, move, after.last.touched);
    const int receiver = (seat + move.offset) % before.rules.players;
    for (unsigned slots = after.last.touched; slots;) last_hint[receiver][take_lowest(slots)] = after.moves;
  }
}

FeatureLayout::FeatureLayout(const Rules& rules) {
  const int players = rules.players, kinds = rules.kinds();
  int at = 0;
  const auto take = [&](int n) {
    const int here = at;
    at += n;
    return here;
  };
  fireworks = take(rules.colors * (rules.ranks + 1));
  discards = take(rules.deck());
  unseen = take(rules.deck());
  playable = take(kinds);
  dead = take(kinds);
  critical = take(kinds);
  hints = take(rules.hints + 1);
  lives = take(rules.lives + 1);
  turns = take(players + 1);
  left = take(1);
  piled = take(1);
  reachable = take(1);
  spare = take(1);
  stage = take(int(Stage::kOver));
  turn = take(players);
  actor = take(players);
  kind = take(int(Kind::kNone));
  receiver = take(players);
  color = take(rules.colors);
  rank = take(rules.ranks);
  touched = take(rules.hand);
  slot = take(rules.hand);
  card = take(kinds);
  effect = take(3);
  script = take(rules.actions());
  others = at;

  at = 0;
  there = take(1);
  colors = take(rules.colors);
  ranks = take(rules.ranks);
  named = take(2);
  chop = take(1);
  fresh = take(1);
  age = take(1);
  recent = take(1);
  marked = take(2);
  fate = take(2);
  const int common = at;
  shown = take(kinds);
  traits = take(3);
  misled = take(1);
  twin = take(1);
  other_size = at;
  at = common;
  chances = take(kinds);
  own_traits = take(3);
  marked_chances = take(kinds);
  marked_traits = take(3);
  own_size = at;

  own = others + (players - 1) * rules.hand * other_size;
  size = own + rules.hand * own_size;
}

void features(const SeatView& v, const Memory& memory, bool consistent, float* out) {
  Writer writer(v, memory, out);
  writer.board();
  writer.newest_move();
  writer.hands();
  if (consistent && v.my_turn()) writer.script();
}

}  // namespace trickformer::hanabi
