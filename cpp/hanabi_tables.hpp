// Many games of Hanabi in step, and hidden hands dealt anew: states that only a belief knows.
#pragma once
#include <span>
#include <vector>

#include "hanabi_observation.hpp"

namespace trickformer::hanabi {

// No game has more moves: every play and discard takes a card, and every hint was there or came back with one of these.
inline int longest(const Rules& rules) { return 2 * (rules.deck() - rules.dealt() + rules.players) + rules.hints; }

class Tables {
 public:
  // Games `first` .. `first + n - 1` of the series `seed`.
  Tables(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n);
  // decks: [n * rules.deck()], each in the order of drawing.
  Tables(const Rules& rules, std::span<const std::uint8_t> decks);

  const Rules& rules() const { return rules_; }
  std::size_t size() const { return states_.size(); }
  State& state(std::size_t i) { return states_[i]; }
  const State& state(std::size_t i) const { return states_[i]; }
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

 private:
  void deal(std::size_t i, Rng& rng);

  Rules rules_;
  std::vector<State> states_;
};

// Games of random players: with careful they never play a card that costs a life. decks: [n, rules.deck()];
// actions: [n, longest(rules)], 255 after the end; scores: [n].
void random_games(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n, bool careful,
                  std::uint8_t* decks, std::uint8_t* actions, std::int8_t* scores);

}  // namespace trickformer::hanabi
