#include "hanabi/lists.hpp"

#include <algorithm>

#include "hanabi/deductions.hpp"

namespace trickformer::hanabi {

namespace {

constexpr std::uint64_t action(int number) { return std::uint64_t{1} << number; }

// The information that the rules of Walton-Rivers et al. use. Each rule returns the actions it would take, or none if
// it does not apply.
class Rulebook {
 public:
  explicit Rulebook(const State& s)
      : s_(s), rules_(s.rules), seat_(s.player), legal_(legal(s)), deductions_(s, plain_) {
    deductions_.beliefs(seat_, seat_, false, own_);
    copies_ = deductions_.unseen(seat_, seat_);
  }

  // Plays the card that is most likely playable, if its probability is at least this high.
  std::uint64_t play(double chance) const {
    int best = -1;
    double most = 0;
    for (int i = 0; i < s_.sizes[seat_]; ++i) {
      int in = 0, all = 0;
      for (Kinds rest = own_[i]; rest;) {
        const int k = take_lowest(rest), n = std::max(copies_.left(k), 1);
        all += n;
        if (deductions_.needs.playable >> k & 1) in += n;
      }
      if (const double p = double(in) / all; p >= chance && p > most) {
        most = p;
        best = i;
      }
    }
    return best < 0 ? 0 : action(rules_.play(best));
  }

  // Hints at a card of these kinds in another hand: the property that no hint has named. If none is named, the rank, or
  // with `color` the colour.
  std::uint64_t tell(Kinds kinds, bool color) const {
    if (s_.hints == 0) return 0;
    for (int offset = 1; offset < rules_.players; ++offset) {
      const int p = (seat_ + offset) % rules_.players;
      for (int i = 0; i < s_.sizes[p]; ++i) {
        const Slot& slot = s_.hands[p][i];
        if (!(kinds >> slot.card & 1) || slot.hint_bits == 3) continue;
        return slot.hint_bits == 0 ? hint(offset, slot.card, color) : hint(offset, slot.card, slot.hint_bits == 2);
      }
    }
    return 0;
  }

  std::uint64_t tell_anything() const { return legal_ >> 2 * rules_.hand << 2 * rules_.hand; }

  std::uint64_t discard_useless() const {
    for (int i = 0; i < s_.sizes[seat_]; ++i)
      if ((own_[i] & ~deductions_.needs.dead) == 0) return action(i) & legal_;
    return 0;
  }

  std::uint64_t discard_oldest() const { return action(0) & legal_; }
  std::uint64_t anything() const { return legal_; }
  const Needs& needs() const { return deductions_.needs; }

 private:
  std::uint64_t hint(int offset, int card, bool color) const {
    const int c = card / rules_.ranks, r = card % rules_.ranks;
    return action(color ? rules_.hint_color(offset, c) : rules_.hint_rank(offset, r));
  }

  const State& s_;
  const Rules& rules_;
  int seat_;
  std::uint64_t legal_;
  Marks plain_;  // never read: these players take hints literally
  Deductions deductions_;
  Kinds own_[kMaxHand];
  Copies copies_;
};

}  // namespace

std::uint64_t iggi_actions(const State& s) {
  const Rulebook rule(s);
  if (const auto a = rule.play(1)) return a;
  if (const auto a = rule.tell(rule.needs().playable, false)) return a;
  if (const auto a = rule.discard_useless()) return a;
  if (const auto a = rule.discard_oldest()) return a;
  if (const auto a = rule.tell_anything()) return a;
  return rule.anything();
}

std::uint64_t piers_actions(const State& s) {
  const Rulebook rule(s);
  if (s.lives > 1 && s.left() == 0)
    if (const auto a = rule.play(0)) return a;
  if (const auto a = rule.play(s.lives > 1 ? 0.6 : 1)) return a;
  if (const auto a = rule.tell(rule.needs().playable, false)) return a;
  if (s.hints < 4)
    if (const auto a = rule.tell(rule.needs().dead, true)) return a;
  if (const auto a = rule.discard_useless()) return a;
  if (const auto a = rule.discard_oldest()) return a;
  if (const auto a = rule.tell_anything()) return a;
  return rule.anything();
}

std::uint64_t flawed_actions(const State& s) {
  const Rulebook rule(s);
  if (const auto a = rule.play(0.25)) return a;
  if (const auto a = rule.tell_anything()) return a;
  if (const auto a = rule.discard_useless()) return a;
  if (const auto a = rule.discard_oldest()) return a;
  return rule.anything();
}

int simple_action(const State& s, const Marks& m) {
  const Rules& rules = s.rules;
  const Deductions deductions(s, m);
  for (int i = 0; i < s.sizes[s.player]; ++i)
    if (deductions.fate(s.hands[s.player][i].hint_bits, m.kinds[s.player][i]) == Fate::kPlayable) return rules.play(i);
  int harmless = -1, any = -1;
  for (std::uint64_t rest = legal(s) >> 2 * rules.hand << 2 * rules.hand; rest;) {
    const int a = take_lowest(rest);
    const Move hint = move_of(rules, a);
    const int seat = (s.player + hint.offset) % rules.players;
    const unsigned named = named_slots(s, seat, hint.kind, hint.value);
    const HintedHand after = HintedHand(s, m, seat).after(rules, deductions.needs, hint.kind, hint.value, named);
    bool helps = false, misleads = false;
    for (int i = 0; i < s.sizes[seat]; ++i) {
      const bool was = s.hands[seat][i].hint_bits;
      if (deductions.fate(was || named >> i & 1, after.marks[i]) != Fate::kPlayable) continue;
      if (!s.playable(s.hands[seat][i].card))
        misleads = true;
      else if (deductions.fate(was, m.kinds[seat][i]) != Fate::kPlayable)
        helps = true;
    }
    if (helps && !misleads) return a;
    if (!misleads && harmless < 0) harmless = a;
    any = a;
  }
  if (s.hints < rules.hints) return 0;
  return harmless >= 0 ? harmless : any >= 0 ? any : rules.play(0);
}

}  // namespace trickformer::hanabi
