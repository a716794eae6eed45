// Many games of Hanabi in lockstep. Hidden hands can be dealt anew, to sample states of a belief.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "hanabi/observation.hpp"
#include "hanabi/players.hpp"

namespace trickformer::hanabi {

// Upper bound on the number of moves: every play and discard takes a card, and every hint token was there at the start
// or came back with one of these.
inline int longest(const Rules& rules) {
  return 2 * (rules.deck() - rules.cards_in_hands() + rules.players) + rules.hints;
}

class Tables {
 public:
  // Deals games `first` .. `first + n - 1` of the series `seed`.
  Tables(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n);
  // Takes over games in progress. There must be as many marks as states.
  Tables(const Rules& rules, std::vector<State> states, std::vector<Marks> marks)
      : rules_(rules), states_(std::move(states)), marks_(std::move(marks)) {}

  const Rules& rules() const { return rules_; }
  std::size_t size() const { return states_.size(); }
  const State& state(std::size_t i) const { return states_[i]; }
  const Marks& marks(std::size_t i) const { return marks_[i]; }
  // Puts a state with these rules at index i. The meaning of its hints is not known, so they are taken literally.
  void set(std::size_t i, const State& s);
  // Applies a legal action to game i.
  void step(std::size_t i, int action) { apply(states_[i], marks_[i], action); }
  // The action of a scripted player in game i, which is not over. It depends only on position, seed and stream.
  int draw(std::size_t i, Bot bot, std::uint64_t seed, std::uint64_t stream) const;
  // The games with these indices, in this order; an index may occur several times.
  Tables take(std::span<const std::int64_t> rows) const;
  // Replaces game i by a new game, number `index` of its series.
  void deal(std::size_t i, std::uint64_t seed, std::uint64_t index);

  // Makes a uniformly random legal move in every game and deals a new game if one ends. scores: [n], the scores of the
  // games that ended, -1 for the others.
  void random_step(Rng& rng, std::int8_t* scores);

  // Gives game i the cards in hidden, [players * hand] with -1 for slots to keep, and shuffles the remaining deck.
  // Returns false and changes nothing if the cards are not available or hints rule one out.
  bool redeal(std::size_t i, const std::int8_t* hidden, Rng& rng);
  // Gives a seat of game i one of the own hands that are consistent with its view, weighted by the number of deals, and
  // shuffles the remaining deck. The moves of the others are not used.
  void redraw(std::size_t i, int seat, Rng& rng);
  // Gives game i these cards without a check that they are available. Use it only to compute the action of a player who
  // sees them. Returns false and changes nothing if hints rule one out.
  bool suppose(std::size_t i, const std::int8_t* hidden);

 private:
  void deal(std::size_t i, Rng& rng);

  Rules rules_;
  std::vector<State> states_;
  std::vector<Marks> marks_;  // public meaning of the cards, by game
};

// Checks that every number of a state and its marks is possible under these rules, that hints do not rule out the cards
// in hands, and that the seats that have yet to move have cards. A state that passes can be played, observed and redrawn
// without an access beyond its arrays, but it need not be a position of a real game.
bool in_range(const Rules& rules, const State& s, const Marks& m);

// Plays games of random players. With `careful` they play no card that costs a life unless every action costs one.
// decks: [n, rules.deck()]; actions: [n, longest(rules)], 255 after the end; scores: [n].
void random_games(const Rules& rules, std::uint64_t seed, std::uint64_t first, std::size_t n, bool careful,
                  std::uint8_t* decks, std::uint8_t* actions, std::int8_t* scores);

// Plays games of scripted players, bots [players] by seat, on the same decks. Game i uses the random numbers of
// Tables::draw with `seed` and stream first + i. Each seat of each game is uniformly random with probability `random`.
// A scripted player makes a uniformly random move with probability `noise`, but on the last life no move that certainly
// loses it. The arrays are those of random_games.
void scripted_games(const Rules& rules, std::span<const Bot> bots, double random, double noise, std::uint64_t seed,
                    std::uint64_t first, std::size_t n, std::uint8_t* decks, std::uint8_t* actions,
                    std::int8_t* scores);

}  // namespace trickformer::hanabi
