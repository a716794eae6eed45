#include "hearts/tracker.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace trickformer::hearts {
namespace {

std::uint32_t pack(const std::int8_t score[kPlayers], int first) {
  std::uint32_t key = 0;
  for (int p = 0; p < kPlayers; ++p) key = key << 8 | std::uint8_t(score[(first + p) % kPlayers]);
  return key;
}

TokenSet as_tokens(Cards cards) {
  TokenSet set;
  set.words[0] = cards;
  return set;
}

}  // namespace

Codec::Codec(const Rules& rules, std::span<const std::int8_t> labels) : rules_(rules) {
  for (std::size_t i = 0; i < labels.size() / kPlayers; ++i) index_.emplace(pack(&labels[i * kPlayers], 0), int(i));
}

int Codec::outcome(const std::int8_t score[kPlayers], int seat) const {
  const auto found = index_.find(pack(score, seat));
  if (found == index_.end()) throw std::out_of_range("the game has no outcome of these scores");
  return found->second;
}

bool HandTracker::my_turn() const {
  return stage_ == Stage::kPass || (stage_ == Stage::kPlay && known_.current == seat_);
}

TokenSet HandTracker::legal() const {
  if (stage_ == Stage::kPass) return as_tokens(dealt_ & ~passed_);
  return my_turn() ? as_tokens(known_.legal()) : TokenSet{};
}

Cards HandTracker::possible_cards() const {
  switch (stage_) {
    case Stage::kDeal: return ascending(kAll, last_, kHand - seen_);
    case Stage::kPass: return dealt_ & ~passed_;
    case Stage::kReceive: return ascending(kAll & ~dealt_, last_, kPass - seen_);
    case Stage::kPlay: return known_.possible();
    default: return 0;
  }
}

TokenSet HandTracker::possible() const {
  TokenSet set;
  switch (stage_) {
    case Stage::kSeat:
      for (int p = 0; p < kPlayers; ++p) set.add(kPositionToken + p);
      return set;
    case Stage::kDirection:
      for (int d = 0; d < (codec_->rules().pass_cards ? 4 : 1); ++d) set.add(kDirectionToken + d);
      return set;
    case Stage::kLeader: {
      const Cards mine = (dealt_ & ~passed_) | received_;
      for (int p = 0; p < kPlayers; ++p) {
        const bool holds = mine & bit(kTwoOfClubs)      ? p == seat_
                           : passed_ & bit(kTwoOfClubs) ? p == (seat_ + direction_) % kPlayers
                                                        : p != seat_;
        if (holds) set.add(kPositionToken + p);
      }
      return set;
    }
    case Stage::kEnd:
      if (seen_ == 0) set.add(kEndToken);
      return set;
    default: return as_tokens(possible_cards());
  }
}

void HandTracker::push(int token) {
  if (legal_) {
    // Testing one play by itself is cheaper than computing all possible cards.
    legal_ = stage_ == Stage::kPlay ? token >= 0 && token < kNumCards && known_.possible(token) : possible().has(token);
  }
  const auto inside = [&](int first, int n) { return std::clamp(token - first, 0, n - 1); };
  const Cards card = token >= 0 && token < kNumCards ? bit(token) : 0;
  const auto next = [&](Stage stage) {
    stage_ = stage;
    seen_ = 0;
    last_ = -1;
  };
  ++seen_;
  switch (stage_) {
    case Stage::kSeat: seat_ = inside(kPositionToken, kPlayers); return next(Stage::kDeal);
    case Stage::kDeal:
      dealt_ |= card;
      last_ = std::max(last_, card ? token : last_);
      if (seen_ == kHand) next(Stage::kDirection);
      return;
    case Stage::kDirection:
      direction_ = inside(kDirectionToken, 4);
      return next(direction_ ? Stage::kPass : Stage::kLeader);
    case Stage::kPass:
      passed_ |= card;
      if (seen_ == kPass) next(Stage::kReceive);
      return;
    case Stage::kReceive:
      received_ |= card;
      last_ = std::max(last_, card ? token : last_);
      if (seen_ == kPass) next(Stage::kLeader);
      return;
    case Stage::kLeader:
      known_.begin(codec_->rules(), seat_, (dealt_ & ~passed_) | received_, passed_, (seat_ + direction_) % kPlayers,
                   inside(kPositionToken, kPlayers));
      return next(Stage::kPlay);
    case Stage::kPlay:
      play(token);
      if (terminal()) next(Stage::kEnd);
      return;
    case Stage::kEnd: return;
  }
}

void HandTracker::play(int token) {
  const int before = known_.num_plays;
  if (token >= 0 && token < kNumCards) {
    known_.see(token);
    trick_ |= bit(token);
  } else {
    known_.see_nothing();
  }
  if (before % kPlayers == kPlayers - 1) {
    taken_[known_.best_seat] |= trick_;
    trick_ = 0;
  }
}

void HandTracker::features(float* out) const {
  std::fill_n(out, kFeatures, 0.0f);
  const auto emit = [out](int at, float value) { out[at] = value; };
  if (stage_ == Stage::kPlay || stage_ == Stage::kEnd)
    features_of_play(known_, possible_cards(), taken_, trick_, emit);
  else
    features_before_play(stage_, dealt_, passed_, received_, possible_cards(), direction_, emit);
}

int HandTracker::outcome() const {
  std::int8_t score[kPlayers];
  scores(codec_->rules(), taken_, score);
  return codec_->outcome(score, seat_);
}

State state_after_deal(const Rules& rules, const std::uint8_t* deal) {
  check_deck(deal + 1, kNumCards);
  if (deal[0] >= (rules.pass_cards ? kPlayers : 1))
    throw std::invalid_argument("these rules have no pass direction " + std::to_string(deal[0]));
  Cards hands[kPlayers] = {};
  for (int i = 0; i < kNumCards; ++i) hands[i % kPlayers] |= bit(deal[1 + i]);
  return new_hand(rules, deal[0], hands);
}

void encode(const Rules& rules, const std::uint8_t* history, int seat, std::int16_t* tokens) {
  State s = state_after_deal(rules, history);
  std::int16_t* const end = tokens + kMaxLength;
  const auto tell = [&](int p, int token) {
    if (p == seat) *tokens++ = std::int16_t(token);
  };
  tell_deal(s, tell);
  for (const std::uint8_t* action = history + 1 + kNumCards; s.phase != Phase::kOver; ++action) {
    check_action(*action < kNumCards && legal(s) & bit(*action), *action);
    tell_action(s, *action, tell);
  }
  std::fill(tokens, end, std::int16_t(kEndToken));
}

void history(const State& s, std::uint8_t* out) {
  const std::uint8_t* end = out + kHistory;
  *out++ = s.direction;
  for (int p = 0; p < kPlayers; ++p) {
    Cards rest = s.dealt[p];
    for (int i = 0; i < kHand; ++i) out[i * kPlayers + p] = std::uint8_t(take_lowest(rest));
  }
  out = std::copy_n(s.passes, s.num_passes, out + kNumCards);
  out = std::copy_n(s.plays, s.num_plays, out);
  while (out != end) *out++ = kNoAction;
}

Tables::Tables(std::shared_ptr<const Codec> codec, const std::uint8_t* deals, std::size_t n)
    : codec_(std::move(codec)), states_(n), tokens_(n * kPlayers * kMaxLength), lengths_(n * kPlayers) {
  std::fill(tokens_.begin(), tokens_.end(), kEndToken);
  for (std::size_t i = 0; i < n; ++i, deals += kDeal) {
    states_[i] = state_after_deal(codec_->rules(), deals);
    tell_deal(states_[i], [&](int p, int token) { append(i, p, token); });
  }
}

int Tables::current(std::size_t i) const { return states_[i].phase == Phase::kOver ? -1 : states_[i].current; }

void Tables::step(std::size_t i, int card) {
  State& s = states_[i];
  if (card < 0 || card >= kNumCards || !(legal(s) & bit(card)))
    throw std::invalid_argument("card " + std::to_string(card) + " is not legal at table " + std::to_string(i));
  tell_action(s, card, [&](int p, int token) { append(i, p, token); });
}

int Tables::outcome(std::size_t i, int seat) const {
  std::int8_t score[kPlayers];
  scores(states_[i].rules, states_[i].taken, score);
  return codec_->outcome(score, seat);
}

}  // namespace trickformer::hearts
