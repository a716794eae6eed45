#include "hanabi/decision.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace trickformer::hanabi {
namespace {

SeatView at_own_turn(SeatView v) {
  if (!v.my_turn()) throw std::invalid_argument("the view does not end at an own turn");
  return v;
}

}  // namespace

Decision::Decision(const Codec& codec, std::span<const int> tokens, Bot bot)
    : view_(at_own_turn(view_of(codec, tokens))), bot_(bot), hands_(codec, view_) {
  SeatView v(codec.rules());
  std::vector<std::uint8_t> own;
  for (const int token : tokens) {
    const SeatView before = v;
    see(codec, v, token);
    if (before.stage == SeatView::Stage::kSeat) {
      marks_ = plain_marks(v.state);
      for (int i = 0; i < v.size(); ++i) own.push_back(std::uint8_t(i));
      cards_.assign(own.size(), kUnknown);
    } else if (v.state.moves != before.state.moves) {
      follow(before, v, own);
    }
  }
  std::copy(own.begin(), own.end(), own_);
}

void Decision::follow(const SeatView& before, const SeatView& after, std::vector<std::uint8_t>& own) {
  const State& s = before.state;
  const Last& last = after.state.last;
  const int seat = s.player, size = s.sizes[seat];
  if (seat != view_.seat) {
    Frame& frame = frames_.emplace_back();
    frame.state = s;
    frame.marks = marks_;
    frame.action = after.pending;
    std::copy(own.begin(), own.end(), frame.own);
  }
  if (last.move.kind >= Kind::kHintColor) return mark_hint(marks_, s, last.move, last.touched);
  const bool drew = after.state.sizes[seat] == size;
  mark_card(s.rules, marks_, seat, last.move.slot, size, drew);
  if (seat != view_.seat) return;
  cards_[own[last.move.slot]] = last.card;
  own.erase(own.begin() + last.move.slot);
  if (!drew) return;
  own.push_back(std::uint8_t(cards_.size()));
  cards_.push_back(kUnknown);
}

bool Decision::list(std::size_t most, std::vector<std::int16_t>& hands, std::vector<std::uint64_t>& ways) const {
  const int size = view_.size();
  std::vector<std::int16_t> hand(std::size_t(rules().hand), -1), found;
  const auto fill = [&](const auto& self, int slot, const Copies& left) -> bool {
    if (slot == size) {
      if (found.size() / hand.size() == most) return false;
      found.insert(found.end(), hand.begin(), hand.end());
      return true;
    }
    for (Kinds kinds = view_.kinds(slot) & left.more_than[0]; kinds;) {
      const int kind = take_lowest(kinds);
      Copies rest = left;
      rest.take(one(kind));
      hand[std::size_t(slot)] = std::int16_t(kind);
      if (!self(self, slot + 1, rest)) return false;
    }
    return true;
  };
  if (!fill(fill, 0, view_.unseen())) return false;
  for (std::size_t i = 0; i < found.size(); i += hand.size()) ways.push_back(hands_.ways(&found[i]));
  hands.insert(hands.end(), found.begin(), found.end());
  return true;
}

void Decision::deck(const std::int16_t* hand, Rng& rng, std::uint8_t* out) const {
  Copies left = view_.unseen();
  for (int i = 0; i < view_.size(); ++i) left.take(one(hand[i]));
  int n = 0;
  for (int kind = 0; kind < rules().kinds(); ++kind)
    for (int k = left.left(kind); k > 0; --k) out[n++] = std::uint8_t(kind);
  shuffle_cards(out, n, rng);
}

double Decision::likelihood(const std::int16_t* hand, double slip, std::vector<int>& order) const {
  double likelihood = 1;
  float action_probs[kMaxActions];
  for (std::size_t at = 0; at < order.size(); ++at) {
    const Frame& frame = frames_[std::size_t(order[at])];
    State s = frame.state;
    for (int i = 0; i < s.sizes[view_.seat]; ++i) {
      const std::uint8_t card_number = frame.own[i], card = cards_[card_number];
      const auto slot = std::find(own_, own_ + view_.size(), card_number) - own_;
      s.hands[view_.seat][i].card = card == kUnknown ? std::uint8_t(hand[slot]) : card;
    }
    probs(bot_, s, frame.marks, action_probs);
    likelihood *= (1 - slip) * double(action_probs[frame.action]) + slip / std::popcount(hanabi::legal(s));
    if (likelihood > 0) continue;
    std::rotate(order.begin(), order.begin() + std::ptrdiff_t(at), order.begin() + std::ptrdiff_t(at) + 1);
    return 0;
  }
  return likelihood;
}

State Decision::with(const std::int16_t* hand, const std::uint8_t* deck) const {
  State s = state();
  for (int i = 0; i < s.sizes[view_.seat]; ++i) s.hands[view_.seat][i].card = std::uint8_t(hand[i]);
  std::copy(deck, deck + left(), s.deck + s.drawn);
  return s;
}

int play_out(State s, Marks m, int action, Bot bot, Rng& rng) {
  if (bot == Bot::kSmart) return play_out_smart(s, m, action);
  apply(s, m, action);
  while (!s.over()) apply(s, m, draw_action(bot, s, m, rng));
  return s.score();
}

}  // namespace trickformer::hanabi
