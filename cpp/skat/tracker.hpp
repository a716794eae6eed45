// Skat as one seat's sequence of tokens (skat/seat_view.hpp): the simulator of GO-MCTS, and many games in lockstep.
#pragma once
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/tracker.hpp"
#include "skat/evaluation.hpp"
#include "skat/features.hpp"
#include "skat/random.hpp"

namespace trickformer::skat {

// The scoring, and the index of each outcome in the Python game's `outcomes`.
class Codec {
 public:
  // labels: int16 [outcomes, 3], the scores of each outcome, the own seat first. evaluation: weights the worlds, if
  // training labels use worlds.
  Codec(bool seeger, std::span<const std::int16_t> labels, std::optional<Evaluation> evaluation = {});
  // The outcome as seen by `seat`, its own score first. Throws std::out_of_range if no outcome has these scores.
  int outcome(const std::int16_t score[kPlayers], int seat) const;
  int outcome(const Result& result, int seat) const;
  bool seeger() const { return seeger_; }
  const Evaluation* evaluation() const { return evaluation_ ? &*evaluation_ : nullptr; }

 private:
  bool seeger_;
  std::optional<Evaluation> evaluation_;
  std::unordered_map<std::uint64_t, int> index_;
};

class GameTracker final : public Tracker {
 public:
  explicit GameTracker(std::shared_ptr<const Codec> codec) : codec_(std::move(codec)) {}

  std::unique_ptr<Tracker> copy() const override { return std::make_unique<GameTracker>(*this); }
  int vocabulary() const override { return kVocabulary; }
  bool my_turn() const override { return view_.my_turn(); }
  TokenSet legal() const override;
  TokenSet possible() const override;
  void push(int token) override;
  bool terminal() const override { return view_.stage == SeatView::Stage::kOver; }
  bool is_legal() const override { return legal_; }
  int outcome() const override { return codec_->outcome(result(view_), view_.seat); }
  int feature_count() const override { return kFeatures; }
  void features(float* out) const override { skat::features(view_, legal_, out); }
  std::vector<FeatureRange> script_features() const override {
    return {{kScriptCardFeature, kAtLeastFeature}, {kBehindFeature, kFeatures}};
  }

 private:
  std::shared_ptr<const Codec> codec_;
  SeatView view_;
  bool legal_ = true, ended_ = false;
};

// Many games in lockstep. Each call of `step` makes one decision in one game. The observations of each seat are kept as
// tokens, ready for a model.
class Tables {
 public:
  // deals: [n, kNumCards], the deck of each game. Throws std::invalid_argument if one is invalid.
  Tables(std::shared_ptr<const Codec> codec, const std::uint8_t* deals, std::size_t n);

  std::size_t size() const { return states_.size(); }
  const State& state(std::size_t i) const { return states_[i]; }
  const Codec& codec() const { return *codec_; }
  int current(std::size_t i) const { return states_[i].phase == Phase::kOver ? -1 : states_[i].current; }
  void step(std::size_t i, int action);                            // throws std::invalid_argument on an illegal action
  const std::int32_t* tokens() const { return tokens_.data(); }    // [n, 3, kMaxLength]
  const std::int32_t* lengths() const { return lengths_.data(); }  // [n, 3]
  int outcome(std::size_t i, int seat) const { return codec_->outcome(result(states_[i]), seat); }
  void history(std::size_t i, std::uint8_t* out) const;  // the game so far: [kHistory], padded

 private:
  std::shared_ptr<const Codec> codec_;
  std::vector<State> states_;
  std::vector<std::vector<std::uint8_t>> actions_;  // the deck, then the actions
  std::vector<std::int32_t> tokens_, lengths_;
};

// A game right after the deal. deck: [kNumCards]. Throws std::invalid_argument if it is invalid.
State state_after_deal(const std::uint8_t* deck);

// Writes one seat's tokens of a finished game. history: uint8 [kHistory]; tokens: int16 [kMaxLength], padded with the
// end token.
void encode(const std::uint8_t* history, int seat, std::int16_t* tokens);

}  // namespace trickformer::skat
