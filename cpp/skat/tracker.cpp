#include "skat/tracker.hpp"

#include <stdexcept>
#include <string>

#include "skat/tell.hpp"

namespace trickformer::skat {
namespace {

std::uint64_t pack(const std::int16_t score[kPlayers], int first) {
  std::uint64_t key = 0;
  for (int p = 0; p < kPlayers; ++p) key = key << 16 | std::uint16_t(score[(first + p) % kPlayers]);
  return key;
}

TokenSet as_tokens(const SeatView& v, Cards cards) {
  TokenSet set;
  const ActionSet said = legal_statements(v);
  set.words[0] = said.low | cards;
  set.words[1] = said.high;
  return set;
}

}  // namespace

Codec::Codec(bool seeger, std::span<const std::int16_t> labels, std::optional<Evaluation> evaluation)
    : seeger_(seeger), evaluation_(std::move(evaluation)) {
  for (std::size_t i = 0; i < labels.size() / kPlayers; ++i) index_.emplace(pack(&labels[i * kPlayers], 0), int(i));
}

int Codec::outcome(const std::int16_t score[kPlayers], int seat) const {
  const auto found = index_.find(pack(score, seat));
  if (found == index_.end()) throw std::out_of_range("the game has no outcome of these scores");
  return found->second;
}

int Codec::outcome(const Result& result, int seat) const {
  std::int16_t score[kPlayers];
  scores(result, seeger_, score);
  return outcome(score, seat);
}

TokenSet GameTracker::legal() const { return my_turn() ? as_tokens(view_, own_cards(view_)) : TokenSet{}; }

TokenSet GameTracker::possible() const {
  TokenSet set;
  if (view_.stage == SeatView::Stage::kOver) {
    if (!ended_) set.add(kEndToken);
  } else if (view_.stage == SeatView::Stage::kSeat) {
    for (int p = 0; p < kPlayers; ++p) set.add(kSeatToken + p);
  } else if (view_.stage == SeatView::Stage::kLead) {
    set.add(kSeatToken + view_.current);
  } else {
    set = as_tokens(view_, possible_cards(view_));
  }
  return set;
}

void GameTracker::push(int token) {
  if (view_.stage == SeatView::Stage::kOver) {
    legal_ = legal_ && token == kEndToken && !ended_;
    ended_ = true;
    return;
  }
  legal_ = legal_ && may_come(view_, token);
  see(view_, token);
}

Tables::Tables(std::shared_ptr<const Codec> codec, const std::uint8_t* deals, std::size_t n)
    : codec_(std::move(codec)),
      states_(n),
      actions_(n),
      tokens_(n * kPlayers * kMaxLength, kEndToken),
      lengths_(n * kPlayers) {
  for (std::size_t i = 0; i < n; ++i, deals += kNumCards) {
    states_[i] = state_after_deal(deals);
    actions_[i].assign(deals, deals + kNumCards);
    tell_deal(states_[i], [&](int p, int token) {
      const std::size_t row = i * kPlayers + std::size_t(p);
      tokens_[row * kMaxLength + std::size_t(lengths_[row]++)] = token;
    });
  }
}

void Tables::step(std::size_t i, int action) {
  State& s = states_[i];
  if (!is_legal(s, action))
    throw std::invalid_argument("action " + std::to_string(action) + " is not legal at table " + std::to_string(i));
  actions_[i].push_back(std::uint8_t(action));
  tell_action(s, action, [&](int p, int token) {
    const std::size_t row = i * kPlayers + std::size_t(p);
    tokens_[row * kMaxLength + std::size_t(lengths_[row]++)] = token;
  });
}

void Tables::history(std::size_t i, std::uint8_t* out) const {
  std::fill(std::copy(actions_[i].begin(), actions_[i].end(), out), out + kHistory, kNoAction);
}

State state_after_deal(const std::uint8_t* deck) {
  check_deck(deck, kNumCards);
  Cards hands[kPlayers] = {}, skat = 0;
  for (int i = 0; i < kNumCards; ++i) (i < kPlayers * kHand ? hands[i / kHand] : skat) |= bit(deck[i]);
  return new_game(hands, skat);
}

void encode(const std::uint8_t* history, int seat, std::int16_t* tokens) {
  State s = state_after_deal(history);
  std::int16_t* const end = tokens + kMaxLength;
  const auto tell = [&](int p, int token) {
    if (p == seat) *tokens++ = std::int16_t(token);
  };
  tell_deal(s, tell);
  for (int i = kNumCards; i < kHistory && history[i] != kNoAction; ++i) {
    check_action(is_legal(s, history[i]), history[i]);
    tell_action(s, history[i], tell);
  }
  std::fill(tokens, end, std::int16_t(kEndToken));
}

}  // namespace trickformer::skat
