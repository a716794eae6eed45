#include "hanabi/tables.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace trickformer::hanabi {

Tables::Tables(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n)
    : rules_(rules), states_(n), marks_(n) {
  for (std::size_t i = 0; i < n; ++i) deal(i, seed, first + i);
}

void Tables::deal(std::size_t i, std::uint64_t seed, std::uint64_t index) {
  Rng rng(seed, index);
  deal(i, rng);
}

void Tables::deal(std::size_t i, Rng& rng) {
  std::uint8_t deck[kMaxDeck];
  shuffle(rules_, rng, deck);
  set(i, new_game(rules_, deck));
}

void Tables::set(std::size_t i, const State& s) {
  states_[i] = s;
  marks_[i] = plain_marks(s);
}

int Tables::draw(std::size_t i, Bot bot, std::uint64_t seed, std::uint64_t stream) const {
  Rng rng(mix(seed) + states_[i].moves + 1, stream);
  return draw_action(bot, states_[i], marks_[i], rng);
}

void Tables::random_step(Rng& rng, std::int8_t* scores) {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    State& s = states_[i];
    if (!s.over()) step(i, pick(legal(s), rng));
    scores[i] = s.over() ? std::int8_t(s.score()) : std::int8_t(-1);
    if (s.over()) deal(i, rng);
  }
}

Tables Tables::take(std::span<const std::int64_t> rows) const {
  Tables taken(rules_, 0, 0, 0);
  taken.states_.reserve(rows.size());
  taken.marks_.reserve(rows.size());
  for (std::int64_t row : rows) {
    taken.states_.push_back(states_[std::size_t(row)]);
    taken.marks_.push_back(marks_[std::size_t(row)]);
  }
  return taken;
}

bool Tables::suppose(std::size_t i, const std::int8_t* hidden) {
  State s = states_[i];
  for (int p = 0; p < rules_.players; ++p)
    for (int slot = 0; slot < s.sizes[p]; ++slot) {
      const int card = hidden[p * rules_.hand + slot];
      if (card < 0) continue;
      if (!s.hands[p][slot].may_be(rules_, card)) return false;
      s.hands[p][slot].card = std::uint8_t(card);
    }
  states_[i] = s;
  return true;
}

bool Tables::redeal(std::size_t i, const std::int8_t* hidden, Rng& rng) {
  State s = states_[i];
  int pool[kMaxKinds] = {};
  for (int d = s.drawn; d < rules_.deck(); ++d) ++pool[s.deck[d]];
  const auto given = [&](int p, int slot) { return hidden[p * rules_.hand + slot]; };
  for (int p = 0; p < rules_.players; ++p)
    for (int slot = 0; slot < s.sizes[p]; ++slot)
      if (given(p, slot) >= 0) ++pool[s.hands[p][slot].card];
  for (int p = 0; p < rules_.players; ++p)
    for (int slot = 0; slot < s.sizes[p]; ++slot) {
      const int card = given(p, slot);
      if (card < 0) continue;
      Slot& to = s.hands[p][slot];
      if (!to.may_be(rules_, card) || pool[card]-- == 0) return false;
      to.card = std::uint8_t(card);
    }
  int d = s.drawn;
  for (int k = 0; k < rules_.kinds(); ++k)
    while (pool[k]-- > 0) s.deck[d++] = std::uint8_t(k);
  shuffle_rest(s, rng);
  states_[i] = s;
  return true;
}

void Tables::redraw(std::size_t i, int seat, Rng& rng) {
  const State& s = states_[i];
  const int size = s.sizes[seat];
  int unseen[kMaxKinds] = {};
  for (int d = s.drawn; d < rules_.deck(); ++d) ++unseen[s.deck[d]];
  for (int slot = 0; slot < size; ++slot) ++unseen[s.hands[seat][slot].card];
  Kinds may[kMaxHand];
  int cards[kMaxHand] = {};  // by slot, number of cards that it may be
  for (int slot = 0; slot < size; ++slot) {
    may[slot] = hinted_kinds(rules_, s.hands[seat][slot]);
    for (Kinds kinds = may[slot]; kinds;) cards[slot] += unseen[take_lowest(kinds)];
  }
  std::int8_t hidden[kMaxPlayers * kMaxHand];
  std::fill(hidden, hidden + rules_.cards_in_hands(), std::int8_t(-1));
  // Copies count as different cards, and each slot draws one of the cards that it may be. If two slots draw the same
  // card, all draw again, so that every assignment of different cards is equally likely. Hints never rule out the true
  // hand, so it is one assignment, and the loop ends.
  for (bool again = true; again;) {
    std::uint64_t taken[kMaxKinds] = {};  // sets of copies; all cards of a file's deck may be of one kind
    again = false;
    for (int slot = 0; slot < size && !again; ++slot) {
      int number = int(rng.below(std::uint32_t(cards[slot])));
      Kinds kinds = may[slot];
      int kind = take_lowest(kinds);
      while (number >= unseen[kind]) {
        number -= unseen[kind];
        kind = take_lowest(kinds);
      }
      again = taken[kind] >> number & 1;
      taken[kind] |= std::uint64_t{1} << number;
      hidden[seat * rules_.hand + slot] = std::int8_t(kind);
    }
  }
  redeal(i, hidden, rng);
}

bool in_range(const Rules& rules, const State& s, const Marks& m) {
  const auto card = [&](int kind) { return kind < rules.kinds(); };
  if (!(s.rules == rules) || s.player >= rules.players || s.hints > rules.hints || s.lives > rules.lives ||
      s.drawn > rules.deck() || s.turns_left > rules.players)
    return false;
  for (int i = s.drawn; i < rules.deck(); ++i)
    if (!card(s.deck[i])) return false;
  for (int k = 0; k < kMaxKinds; ++k)
    if (s.discards[k] > (card(k) ? rules.copies(k % rules.ranks) : 0)) return false;
  for (int c = 0; c < kMaxColors; ++c)
    if (s.fireworks[c] > (c < rules.colors ? rules.ranks : 0)) return false;
  for (int p = 0; p < kMaxPlayers; ++p) {
    if (s.sizes[p] > (p < rules.players ? rules.hand : 0)) return false;
    for (int i = 0; i < s.sizes[p]; ++i) {
      const Slot& slot = s.hands[p][i];
      const Kinds meant = m.kinds[p][i];
      if (!card(slot.card) || slot.colors >> rules.colors || slot.ranks >> rules.ranks || slot.hint_bits > 3)
        return false;
      // Further hints keep the card among the possible ones, so that no slot ends up without a colour or a rank.
      if (!slot.may_be(rules, slot.card) || (slot.hint_bits & 1 && !std::has_single_bit(slot.colors)) ||
          (slot.hint_bits & 2 && !std::has_single_bit(slot.ranks)))
        return false;
      if (!meant || meant & ~all_kinds(rules)) return false;
    }
  }
  // All hands are full until the deck is empty, and afterwards the hands of seats that have yet to move. Otherwise a
  // seat on turn without cards and hint tokens would have no legal action.
  for (int k = 0; !s.over() && k < rules.players; ++k) {
    const bool full = s.drawn < rules.deck() || k < s.turns_left;
    if (s.sizes[(s.player + k) % rules.players] < rules.hand - !full) return false;
  }
  const Last& last = s.last;
  // Check that the byte of a bool is 0 or 1 before it is read as a bool.
  for (const bool* flag : {&last.scored, &last.regained}) {
    std::uint8_t byte;
    std::memcpy(&byte, flag, 1);
    if (byte > 1) return false;
  }
  return last.move.kind <= Kind::kNone && last.player < rules.players && card(last.card) &&
         last.move.slot < rules.hand && last.move.offset < rules.players &&
         last.move.value < std::max(rules.colors, rules.ranks) && !(last.touched >> rules.hand);
}

void random_games(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n, bool careful,
                  std::uint8_t* decks, std::uint8_t* actions, std::int8_t* scores) {
  const std::size_t length = std::size_t(longest(rules)), deck = std::size_t(rules.deck());
  std::fill(actions, actions + n * length, std::uint8_t{255});
  for (std::size_t i = 0; i < n; ++i, decks += deck, actions += length) {
    Rng rng(seed, first + i);
    shuffle(rules, rng, decks);
    State s = new_game(rules, decks);
    for (std::uint8_t* out = actions; !s.over(); ++out) {
      const std::uint64_t set = careful ? harmless(s) : 0;
      *out = std::uint8_t(pick(set ? set : legal(s), rng));
      apply(s, *out);
    }
    scores[i] = std::int8_t(s.score());
  }
}

namespace {

// The legal actions without plays that certainly lose the last life, as the hints show to the seat on turn.
std::uint64_t not_lethal(const State& s) {
  std::uint64_t set = legal(s);
  if (s.lives > 1) return set;
  const Kinds playable = needs_of(s).playable;
  for (int i = 0; i < s.sizes[s.player]; ++i)
    if (!(hinted_kinds(s.rules, s.hands[s.player][i]) & playable)) set &= ~(std::uint64_t{1} << s.rules.play(i));
  return set ? set : legal(s);
}

}  // namespace

void scripted_games(const Rules& rules, std::span<const Bot> bots, double random, double noise, std::uint64_t seed,
                    std::uint64_t first, std::size_t n, std::uint8_t* decks, std::uint8_t* actions,
                    std::int8_t* scores) {
  const std::size_t length = std::size_t(longest(rules)), deck = std::size_t(rules.deck());
  std::fill(actions, actions + n * length, std::uint8_t{255});
  for (std::size_t i = 0; i < n; ++i, decks += deck, actions += length) {
    Tables table(rules, seed, first + i, 1);
    std::copy(table.state(0).deck, table.state(0).deck + deck, decks);
    Rng rng(~seed, first + i);  // a random stream that neither deck nor bots use
    bool at_random[kMaxPlayers];
    for (bool& seat : at_random) seat = rng.uniform() < random;
    for (std::uint8_t* out = actions; !table.state(0).over(); ++out) {
      const int seat = table.state(0).player;
      if (at_random[seat])
        *out = std::uint8_t(pick(legal(table.state(0)), rng));
      else if (noise > 0 && rng.uniform() < noise)
        *out = std::uint8_t(pick(not_lethal(table.state(0)), rng));
      else
        *out = std::uint8_t(table.draw(0, bots[seat], seed, first + i));
      table.step(0, *out);
    }
    scores[i] = std::int8_t(table.state(0).score());
  }
}

}  // namespace trickformer::hanabi
