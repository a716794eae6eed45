// Many games of Hanabi in step, and hidden hands dealt anew: states that only a belief knows.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "hanabi/observation.hpp"
#include "hanabi/players.hpp"

namespace trickformer::hanabi {

// No game has more moves: every play and discard takes a card, and every hint was there or came back with one of these.
inline int longest(const Rules& rules) { return 2 * (rules.deck() - rules.dealt() + rules.players) + rules.hints; }

class Tables {
 public:
  // Games `first` .. `first + n - 1` of the series `seed`.
  Tables(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n);
  // Games under way: as many marks as states.
  Tables(const Rules& rules, std::vector<State> states, std::vector<Marks> marks)
      : rules_(rules), states_(std::move(states)), marks_(std::move(marks)) {}

  const Rules& rules() const { return rules_; }
  std::size_t size() const { return states_.size(); }
  const State& state(std::size_t i) const { return states_[i]; }
  const Marks& marks(std::size_t i) const { return marks_[i]; }
  // Puts a state of these rules at table i; what its hints meant is not known, so that they mean what they say.
  void set(std::size_t i, const State& s);
  // A legal action.
  void step(std::size_t i, int action) { apply(states_[i], marks_[i], action); }
  // A scripted player's action at table i, where the game is not over: a function of the position, the seed and the
  // stream.
  int draw(std::size_t i, Bot bot, std::uint64_t seed, std::uint64_t stream) const;
  // The tables of these numbers, in this order; a number may come often.
  Tables take(std::span<const std::int64_t> rows) const;
  // Table i becomes a new game, number `index` of its series.
  void deal(std::size_t i, std::uint64_t seed, std::uint64_t index);

  // A uniformly random legal move at every table; where it ends the game, another is dealt. scores: [n], what the games
  // that ended came to, -1 where none did.
  void random_step(Rng& rng, std::int8_t* scores);

  // Gives table i the cards of hidden, [players * hand] with -1 where a slot stays as it is, and shuffles what is then
  // left in the deck. Returns false, and changes nothing, where the cards are not there or hints rule one out.
  bool redeal(std::size_t i, const std::int8_t* hidden, Rng& rng);
  // Gives a seat of table i, of all own hands that explain what it has seen, one at random, as likely as deals have it,
  // and shuffles what is then left in the deck. What the others did says nothing. Throws std::invalid_argument where
  // hints rule out a card that the hand holds.
  void redraw(std::size_t i, int seat, Rng& rng);
  // Gives table i these cards without asking where they come from: for what a player would do who sees them, and
  // nothing else. Returns false, and changes nothing, where hints rule one out.
  bool suppose(std::size_t i, const std::int8_t* hidden);

 private:
  void deal(std::size_t i, Rng& rng);

  Rules rules_;
  std::vector<State> states_;
  std::vector<Marks> marks_;  // what everybody may take the cards for, by table
};

// Checks that every number of a state and its marks is possible under these rules, and that the seats that are still to
// move have cards. Other faults of a state from a file do no harm.
bool in_range(const Rules& rules, const State& s, const Marks& m);

// Games of random players: with careful they never play a card that costs a life. decks: [n, rules.deck()];
// actions: [n, longest(rules)], 255 after the end; scores: [n].
void random_games(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n, bool careful,
                  std::uint8_t* decks, std::uint8_t* actions, std::int8_t* scores);

// Games of scripted players, bots [players] by seat, on the same decks; game i draws as Tables::draw does with `seed`
// and stream first + i. Each seat of each game is a uniformly random player's with probability `random`; a scripted
// player makes a uniformly random move with probability `noise`, though on the last life none that surely loses it. The
// arrays are those of random_games.
void scripted_games(const Rules& rules, std::span<const Bot> bots, double random, double noise, std::uint64_t seed,
                    std::uint64_t first, std::size_t n, std::uint8_t* decks, std::uint8_t* actions,
                    std::int8_t* scores);

}  // namespace trickformer::hanabi
