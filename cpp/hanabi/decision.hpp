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

// A move of another seat, and the own seat's view before the move. Own cards have serial numbers in the order in which
// they came. `own` holds the number of the card in each slot.
struct Frame {
  State state;
  Marks marks;
  int action = 0;
  std::uint8_t own[kMaxHand] = {};  // by slot
};

class Decision {
 public:
  // tokens: a view that ends at an own turn. Throws std::invalid_argument for other tokens.
  Decision(const Codec& codec, std::span<const int> tokens, Bot bot);

  const Rules& rules() const { return view_.state.rules; }
  const State& state() const { return view_.state; }  // own cards and the deck are unknown
  const Marks& marks() const { return marks_; }       // the scripted player's reading of the hints, which is public
  Bot bot() const { return bot_; }
  std::uint64_t legal() const { return hanabi::legal(state()); }
  int left() const { return state().left(); }  // cards in the deck

  // Appends all own hands that hints and visible cards allow, regardless of the others' moves, and for each hand the
  // number of ways to take its cards. A hand is [rules.hand] kinds, with -1 for missing cards. If there are more than
  // `most`, returns false and appends nothing.
  bool list(std::size_t most, std::vector<std::int16_t>& hands, std::vector<std::uint64_t>& ways) const;
  void draw(Rng& rng, std::int16_t* hand) const { hands_.draw(rng, hand); }
  std::uint64_t ways(const std::int16_t* hand) const { return hands_.ways(hand); }

  // Writes the deck that remains if this is the own hand, shuffled: [left()].
  void deck(const std::int16_t* hand, Rng& rng, std::uint8_t* out) const;

  // Likelihood of the moves of the others, who saw these own cards, if each move was random with probability `slip`.
  // `order` is the order in which moves are tested, [frames]; a move that rules out a hand is moved to the front for
  // the next hand.
  double likelihood(const std::int16_t* hand, double slip, std::vector<int>& order) const;
  std::size_t frames() const { return frames_.size(); }

  // The state with this own hand and this deck, [left()] in the order of drawing.
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
