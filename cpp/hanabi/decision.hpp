// A decision in Hanabi, as search on beliefs asks for it (Lerer, Hu, Foerster & Brown, "Improving Policies via Search in
// Cooperative Partially Observable Games", 2020): which own hands explain what the others did, all of them playing one
// scripted player, and how games end that go on from such a hand.
#pragma once
#include <span>
#include <vector>

#include "core/isa.hpp"
#include "hanabi/players.hpp"
#include "hanabi/worlds.hpp"

namespace trickformer::hanabi {

// A move of another: what the seat saw before it. Its own cards are unknown there, but for their numbers, which count
// the own cards in the order in which they came.
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

  // Adds all own hands that explain the view, by kinds, each [rules.hand] with -1 where the hand has fewer, and the
  // ways to take each. False, and nothing is added, where there are more than `most`.
  bool list(std::size_t most, std::vector<std::int16_t>& hands, std::vector<std::uint64_t>& ways) const;
  void draw(Rng& rng, std::int16_t* hand) const { hands_.draw(rng, hand); }
  std::uint64_t ways(const std::int16_t* hand) const { return hands_.ways(hand); }

  // What a hand leaves in the deck, shuffled: [left()].
  void deck(const std::int16_t* hand, Rng& rng, std::uint8_t* out) const;

  // How likely the others, who saw these own cards, made the moves that they made, each of which was a random one with
  // chance `slip`. `order` is that in which moves are looked at, [frames]; one that rules a hand out comes first for the
  // next.
  double chance(const std::int16_t* hand, double slip, std::vector<int>& order) const;
  std::size_t frames() const { return frames_.size(); }

  // The state with these own cards and the deck in this order, [left()].
  State with(const std::int16_t* hand, const std::uint8_t* deck) const;

 private:
  void follow(const SeatView& before, const SeatView& after, std::vector<std::uint8_t>& own);

  SeatView view_;
  Marks marks_ = {};
  Bot bot_;
  std::vector<Frame> frames_;
  std::vector<std::uint8_t> cards_;  // own cards by number; kUnknown: still in hand
  std::uint8_t own_[kMaxHand] = {};  // their numbers by slot
  Hands hands_;
};

// Plays on from a state to the end: first the action, then the scripted player in every seat. Returns the score.
int play_out(State s, Marks m, int action, Bot bot, Rng& rng);

// The same of `smart`, which draws nothing.
using PlayOutSmart = int(const State&, const Marks&, int action);
TRICKFORMER_PER_ISA(PlayOutSmart, play_out_smart);

}  // namespace trickformer::hanabi
