// Hanabi from one seat: the simulator of GO-MCTS, and many games in lockstep with the observations of each seat.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/tracker.hpp"
#include "hanabi/features.hpp"

namespace trickformer::hanabi {

class SeatTracker final : public Tracker {
 public:
  explicit SeatTracker(std::shared_ptr<const Codec> codec) : codec_(std::move(codec)), view_(codec_->rules()) {}

  std::unique_ptr<Tracker> copy() const override { return std::make_unique<SeatTracker>(*this); }
  int vocabulary() const override { return codec_->vocabulary(); }
  bool my_turn() const override { return view_.my_turn(); }
  TokenSet legal() const override { return my_turn() ? possible() : TokenSet{}; }
  TokenSet possible() const override { return all_allowed(*codec_, view_); }
  void push(int token) override;
  bool terminal() const override { return view_.stage == SeatView::Stage::kOver; }
  bool is_legal() const override { return legal_; }
  int outcome() const override { return view_.state.score(); }
  int feature_count() const override { return FeatureLayout(codec_->rules()).size; }
  void features(float* out) const override { hanabi::features(view_, memory_, legal_, out); }
  std::vector<FeatureRange> script_features() const override {
    const int script = FeatureLayout(codec_->rules()).script;
    return {{script, script + codec_->rules().actions()}};
  }

 private:
  std::shared_ptr<const Codec> codec_;
  SeatView view_;
  Memory memory_;
  bool legal_ = true;
};

// Many games in lockstep: each call of `step` makes one move in a game. The observations of each seat are kept as
// tokens.
class TokenTables {
 public:
  // decks: [n, deck], the cards of each game in the order of drawing. Throws std::invalid_argument if one is not a
  // deck.
  TokenTables(std::shared_ptr<const Codec> codec, const std::uint8_t* decks, std::size_t n);

  const Codec& codec() const { return *codec_; }
  std::size_t size() const { return states_.size(); }
  const State& state(std::size_t i) const { return states_[i]; }
  int current(std::size_t i) const { return states_[i].over() ? -1 : states_[i].player; }
  void step(std::size_t i, int action);                            // throws std::invalid_argument on an illegal action
  const std::int32_t* tokens() const { return tokens_.data(); }    // [n, players, length]
  const std::int32_t* lengths() const { return lengths_.data(); }  // [n, players]
  int outcome(std::size_t i, int) const { return states_[i].score(); }
  // The game so far, as `encode` takes it: [history_size(rules)].
  void history(std::size_t i, std::uint8_t* out) const;

 private:
  auto teller(std::size_t i) {
    return [this, i](int p, int token) {
      const std::size_t row = i * std::size_t(codec_->rules().players) + std::size_t(p);
      tokens_[row * std::size_t(codec_->length()) + std::size_t(lengths_[row]++)] = token;
    };
  }

  std::shared_ptr<const Codec> codec_;
  std::vector<State> states_;
  std::vector<std::uint8_t> actions_;  // [n, longest(rules)]
  std::vector<std::int32_t> tokens_, lengths_;
};

// Writes one seat's tokens of a finished game. history: the deck in the order of drawing, then actions, 255 after the
// last, [history_size(rules)]; tokens: [codec.length()], padded with the end token.
int history_size(const Rules& rules);
void encode(const Codec& codec, const std::uint8_t* history, int seat, std::int16_t* tokens);

// The events of a sequence. Throws std::invalid_argument if no deal explains it, or if it stops within
// an event.
std::vector<SeenEvent> events(const Codec& codec, std::span<const std::int32_t> tokens);

}  // namespace trickformer::hanabi
