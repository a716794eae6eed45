// A decision in Hanabi, for search on beliefs (Lerer, Hu, Foerster & Brown, "Improving Policies via Search in
// Cooperative Partially Observable Games", 2020): which own hands are consistent with the moves of the others, who all
// play one scripted player, and the results of games that continue from such a hand.
#pragma once
#include <span>
#include <vector>

#include "core/isa.hpp"
#include "hanabi/players.hpp"
#include "hanabi/worlds.hpp"

namespace trickformer::hanabi {

// A move of another seat, with the view before it. The own cards in it are numbered in the order in which they came.
struct Frame {
  State state;
  Marks marks;
  int action = 0;
  std::uint8_t own[kMaxHand] = {};  // by slot
};

class Decision {
 public:
  // tokens: of a view that ends at an own turn. Throws std::invalid_argument on any others.
  Decision(const Codec& codec, std::span<const int> tokens, Bot bot);

  const Rules& rules() const { return view_.state.rules; }
  const State& state() const { return view_.state; }  // own cards and the deck are unknown
  const Marks& marks() const { return marks_; }
  Bot bot() const { return bot_; }
  std::uint64_t legal() const { return hanabi::legal(state()); }
  int left() const { return state().left(); }  // cards in the deck

  // Adds all own hands that are consistent with the view, as kinds, [rules.hand] each with -1 if the hand has fewer,
  // and the number of ways to take each. If there are more than `most`, returns false and adds nothing.
  bool list(std::size_t most, std::vector<std::int16_t>& hands, std::vector<std::uint64_t>& ways) const;
  void draw(Rng& rng, std::int16_t* hand) const { hands_.draw(rng, hand); }
  std::uint64_t ways(const std::int16_t* hand) const { return hands_.ways(hand); }

  // Writes the shuffled deck that remains with a hand: [left()].
  void deck(const std::int16_t* hand, Rng& rng, std::uint8_t* out) const;

  // Likelihood of the moves of the others, who saw these own cards, if each move was random with probability `slip`.
  // `order` is the order in which moves are tested, [frames]; a move that rules out a hand is moved to the front for
  // the next hand.
  double likelihood(const std::int16_t* hand, double slip, std::vector<int>& order) const;
  std::size_t frames() const { return frames_.size(); }

  // The state with these own cards and this order of the deck, [left()].
  State with(const std::int16_t* hand, const std::uint8_t* deck) const;

 private:
  void follow(const SeatView& before, const SeatView& after, std::vector<std::uint8_t>& own);

  SeatView view_;
  Marks marks_ = {};
  Bot bot_;
  std::vector<Frame> frames_;
  std::vector<std::uint8_t> cards_;  // own cards by number; kUnknown: still in the hand
  std::uint8_t own_[kMaxHand] = {};  // their numbers, by slot
  Hands hands_;
};

// Plays a state to its end: first the action, then the scripted player in every seat. Returns the score.
int play_out(State s, Marks m, int action, Bot bot, Rng& rng);

// The same for `smart`, which needs no random numbers.
using PlayOutSmart = int(const State&, const Marks&, int action);
TRICKFORMER_PER_ISA(PlayOutSmart, play_out_smart);

}  // namespace trickformer::hanabi
