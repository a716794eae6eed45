// The Crew as one seat's sequence of tokens (crew/tokens.hpp): the simulator of GO-MCTS, and many missions in lockstep.
#pragma once
#include <span>
#include <vector>

#include "core/tracker.hpp"
#include "crew/features.hpp"
#include "crew/random.hpp"
#include "crew/seat_view.hpp"

namespace trickformer::crew {

// The missions that a game may have. Outcome 1 is success.
class Logbook {
 public:
  explicit Logbook(std::vector<Mission> missions);  // throws std::invalid_argument if there is none
  std::span<const Mission> missions() const { return missions_; }
  const Mission& find(int id) const;  // throws std::out_of_range

  // Applies a token of the mission. Returns false if no mission of this book continues with it.
  bool see_mission(SeatView& v, int token) const;
  // The tokens with which some mission of this book continues.
  TokenSet next(const SeatView& v) const;

  int outcome(const std::int8_t score[kPlayers], int) const { return score[0]; }

 private:
  struct Prefix {
    std::uint8_t tokens[kMaxPrefix];
    int length;
  };
  bool goes_on(const Prefix& prefix, const SeatView& v) const;

  std::vector<Mission> missions_;
  std::vector<Prefix> prefixes_;
  int longest_ = 0;
};

// Applies a token. Returns false if it is impossible in every deal; then it is read, by its position, as a possible
// one.
bool see(const Logbook& book, SeatView& v, int token);

class MissionTracker final : public Tracker {
 public:
  explicit MissionTracker(std::shared_ptr<const Logbook> book) : book_(std::move(book)) {}

  std::unique_ptr<Tracker> copy() const override { return std::make_unique<MissionTracker>(*this); }
  int vocabulary() const override { return kVocabulary; }
  bool my_turn() const override { return view_.my_turn(); }
  TokenSet legal() const override;
  TokenSet possible() const override;
  void push(int token) override;
  bool terminal() const override { return view_.ended(); }
  bool is_legal() const override { return legal_; }
  int outcome() const override { return view_.result > 0; }
  int feature_count() const override { return kFeatures; }
  void features(float* out) const override { crew::features(view_, possible(), legal_, out); }
  std::vector<FeatureRange> script_features() const override { return {{kScriptFeature, kFeatures}}; }

 private:
  std::shared_ptr<const Logbook> book_;
  SeatView view_;
  bool legal_ = true, ended_ = false;
};

inline constexpr int kDeal = 1 + kNumCards + kColourCards;

// Many missions in lockstep. Each call of `step` makes one decision in one game, then the moves of chance that follow.
// The observations of each seat are kept as tokens, ready for a model.
class Tables {
 public:
  // deals: [n, kDeal], the chance outcomes of each game: the mission, the deck of cards, the deck of tasks. draws: [n,
  // kPlayers], numbers from 0 to below 1 that select the card each seat draws. Throws std::invalid_argument if a deal
  // is invalid, std::out_of_range if the book lacks the mission.
  Tables(std::shared_ptr<const Logbook> book, const std::uint8_t* deals, const double* draws, std::size_t n);

  std::size_t size() const { return states_.size(); }
  const State& state(std::size_t i) const { return states_[i]; }
  int current(std::size_t i) const { return states_[i].over() ? -1 : states_[i].current; }
  void step(std::size_t i, int token);                             // throws std::invalid_argument on an illegal action
  const std::int32_t* tokens() const { return tokens_.data(); }    // [n, 4, kMaxLength]
  const std::int32_t* lengths() const { return lengths_.data(); }  // [n, 4]
  int outcome(std::size_t i, int) const { return states_[i].result > 0; }
  // The game so far: uint8 [kHistory], padded with kNoAction.
  const std::uint8_t* history(std::size_t i) const { return &history_[i * kHistory]; }

 private:
  void tell(std::size_t i, int action);
  void chance(std::size_t i);

  std::shared_ptr<const Logbook> book_;
  std::vector<State> states_;
  std::vector<std::uint8_t> tasks_;  // [n, kColourCards]
  std::vector<double> draws_;        // [n, kPlayers]
  std::vector<std::int32_t> tokens_, lengths_;
  std::vector<std::uint8_t> history_;
  std::vector<int> made_;  // number of actions so far, including those of chance
};

// A game right after the deal. deal: the mission and the deck of cards. Throws std::invalid_argument if the deck is
// invalid, std::out_of_range if the book lacks the mission.
State state_after_deal(const Logbook& book, const std::uint8_t* deal);

// Writes one seat's tokens of a finished game. history: uint8 [kHistory]; tokens: int16 [kMaxLength], padded with the
// end token.
void encode(const Logbook& book, const std::uint8_t* history, int seat, std::int16_t* tokens);

// The events of a sequence. Throws std::invalid_argument if no deal explains it, or if it stops within an
// event.
std::vector<SeenEvent> events(const Logbook& book, std::span<const std::int32_t> tokens);

}  // namespace trickformer::crew
