// Hearts as one seat's sequence of tokens (hearts/tell.hpp): the simulator of GO-MCTS, and many hands in lockstep.
#pragma once
#include <span>
#include <unordered_map>
#include <vector>

#include "core/tracker.hpp"
#include "hearts/features.hpp"
#include "hearts/tell.hpp"

namespace trickformer::hearts {

// The rules, and the index of each outcome in the Python game's `outcomes`.
class Codec {
 public:
  // labels: int8 [outcomes, 4], the scores of each outcome, the own seat first.
  Codec(const Rules& rules, std::span<const std::int8_t> labels);
  const Rules& rules() const { return rules_; }
  // The outcome as seen by `seat`, its own points first. Throws std::out_of_range if no outcome has these points.
  int outcome(const std::int8_t score[kPlayers], int seat) const;

 private:
  Rules rules_;
  std::unordered_map<std::uint32_t, int> index_;
};

class HandTracker final : public Tracker {
 public:
  explicit HandTracker(std::shared_ptr<const Codec> codec) : codec_(std::move(codec)) {}

  std::unique_ptr<Tracker> copy() const override { return std::make_unique<HandTracker>(*this); }
  int vocabulary() const override { return kVocabulary; }
  bool my_turn() const override;
  TokenSet legal() const override;
  TokenSet possible() const override;
  void push(int token) override;
  bool terminal() const override { return known_.num_plays == kNumCards; }
  bool is_legal() const override { return legal_; }
  int outcome() const override;
  int feature_count() const override { return kFeatures; }
  void features(float* out) const override;

 private:
  Cards possible_cards() const;  // for stages whose tokens are cards
  void play(int token);

  std::shared_ptr<const Codec> codec_;
  Knowledge known_;
  Cards dealt_ = 0, passed_ = 0, received_ = 0, trick_ = 0, taken_[kPlayers] = {};
  int seat_ = 0, direction_ = 0;
  int seen_ = 0;   // number of tokens of the current stage so far
  int last_ = -1;  // previous card, if cards ascend
  Stage stage_ = Stage::kSeat;
  bool legal_ = true;
};

// A hand right after the deal. deal: [kDeal], the pass direction and the deck. Throws std::invalid_argument if it is
// invalid.
State state_after_deal(const Rules& rules, const std::uint8_t* deal);

// Writes one seat's tokens of a finished hand. history: [117] OpenSpiel's actions, 255 in place of a missing pass;
// tokens: [75], padded with the end token. Throws std::invalid_argument on a history that breaks the rules.
void encode(const Rules& rules, const std::uint8_t* history, int seat, std::int16_t* tokens);

// OpenSpiel's actions of a hand so far: [117], padded with 255. The order in which cards were dealt is not kept, only
// to whom.
void history(const State& s, std::uint8_t* out);

inline constexpr int kDeal = 1 + kNumCards;

// Many hands in lockstep. Each call of `step` makes one decision in one hand. The observations of each seat are kept as
// tokens, ready for a model.
class Tables {
 public:
  // deals: [n, kDeal], the pass direction and the deck of each hand. Throws std::invalid_argument if one is invalid.
  Tables(std::shared_ptr<const Codec> codec, const std::uint8_t* deals, std::size_t n);

  std::size_t size() const { return states_.size(); }
  const State& state(std::size_t i) const { return states_[i]; }
  int current(std::size_t i) const;                                // the seat on turn, or -1 at the end
  void step(std::size_t i, int card);                              // throws std::invalid_argument on an illegal card
  const std::int32_t* tokens() const { return tokens_.data(); }    // [n, 4, 75]
  const std::int32_t* lengths() const { return lengths_.data(); }  // [n, 4]
  int outcome(std::size_t i, int seat) const;

 private:
  void append(std::size_t i, int seat, int token) {
    const std::size_t row = i * kPlayers + std::size_t(seat);
    tokens_[row * kMaxLength + std::size_t(lengths_[row]++)] = token;
  }

  std::shared_ptr<const Codec> codec_;
  std::vector<State> states_;
  std::vector<std::int32_t> tokens_, lengths_;
};

}  // namespace trickformer::hearts
