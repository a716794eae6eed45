#include "hanabi/tracker.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "hanabi/tables.hpp"

namespace trickformer::hanabi {

using Stage = SeatView::Stage;

namespace {

std::vector<int> slots_of(unsigned set) {
  std::vector<int> slots;
  while (set) slots.push_back(take_lowest(set));
  return slots;
}

}  // namespace

void SeatTracker::push(int token) {
  if (view_.ended) {
    legal_ = false;
    return;
  }
  if (!allows(*codec_, view_, token)) {
    legal_ = false;
    token = all_allowed(*codec_, view_).first();  // the history continues with a possible token
  }
  const State before = view_.state;
  const bool has_started = view_.stage != Stage::kSeat;
  see(*codec_, view_, token);
  if (!has_started)
    memory_.begin(view_.state);
  else if (view_.state.moves != before.moves)
    memory_.follow(before, view_.state);
}

TokenTables::TokenTables(std::shared_ptr<const Codec> codec, const std::uint8_t* decks, std::size_t n)
    : codec_(std::move(codec)),
      actions_(n * std::size_t(longest(codec_->rules())), std::uint8_t{255}),
      tokens_(n * std::size_t(codec_->rules().players * codec_->length()), codec_->end()),
      lengths_(n * std::size_t(codec_->rules().players)) {
  const Rules& rules = codec_->rules();
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint8_t* deck = decks + i * std::size_t(rules.deck());
    if (!is_deck(rules, deck))
      throw std::invalid_argument("these cards are no deck of the game; a deck holds every card");
    states_.push_back(new_game(rules, deck));
    tell_deal(*codec_, states_[i], teller(i));
  }
}

void TokenTables::step(std::size_t i, int action) {
  if (action < 0 || action >= codec_->rules().actions() || !(legal(states_[i]) >> action & 1))
    throw std::invalid_argument("action " + std::to_string(action) + " is not legal at table " + std::to_string(i));
  actions_[i * std::size_t(longest(codec_->rules())) + states_[i].moves] = std::uint8_t(action);
  tell_action(*codec_, states_[i], action, teller(i));
}

void TokenTables::history(std::size_t i, std::uint8_t* out) const {
  out = std::copy_n(states_[i].deck, codec_->rules().deck(), out);  // in the order of drawing, with undrawn cards
  const int length = longest(codec_->rules());
  std::copy_n(actions_.data() + i * std::size_t(length), length, out);
}

int history_size(const Rules& rules) { return rules.deck() + longest(rules); }

void encode(const Codec& codec, const std::uint8_t* history, int seat, std::int16_t* tokens) {
  if (!is_deck(codec.rules(), history))
    throw std::invalid_argument("these cards are no deck of the game; a deck holds every card");
  State s = new_game(codec.rules(), history);
  std::int16_t* const end = tokens + codec.length();
  const auto tell = [&](int p, int token) {
    if (p == seat) *tokens++ = std::int16_t(token);
  };
  tell_deal(codec, s, tell);
  const int size = history_size(codec.rules());
  for (int i = codec.rules().deck(); i < size && !s.over() && history[i] != 255; ++i) {
    check_action(history[i] < codec.rules().actions() && legal(s) >> history[i] & 1, history[i]);
    tell_action(codec, s, history[i], tell);
  }
  std::fill(tokens, end, std::int16_t(codec.end()));
}

std::vector<SeenEvent> events(const Codec& codec, std::span<const std::int32_t> tokens) {
  SeatView v(codec.rules());
  std::vector<SeenEvent> out;
  for (const int token : tokens) {
    if (!allows(codec, v, token)) throw std::invalid_argument("no deal explains these tokens");
    const Stage stage = v.stage;
    const int actor = v.state.player, dealt = v.dealt;
    see(codec, v, token);
    const int card = token - codec.card();
    switch (stage) {
      case Stage::kDeal:
        if (dealt % codec.rules().hand == 0) out.push_back({-1, -1, {}});
        out.back().seen.push_back(card);
        break;
      case Stage::kMove:
        out.push_back({actor, v.pending, {}});
        if (v.stage == Stage::kCard || v.stage == Stage::kSlots) break;
        if (const Last& last = v.state.last; last.move.kind <= Kind::kDiscard)
          out.back().seen.push_back(last.card);
        else
          out.back().seen = slots_of(last.touched);
        break;
      case Stage::kCard: out.back().seen.push_back(card); break;
      case Stage::kSlots: out.back().seen = slots_of(v.state.last.touched); break;
      case Stage::kDraw: out.push_back({-1, card, {}}); break;
      default: break;
    }
  }
  const bool whole = v.stage == Stage::kMove || v.stage == Stage::kDraw || v.ended;
  if (!whole)
    throw std::invalid_argument("the tokens stop within an event and encode no view; add the rest of the event");
  return out;
}

}  // namespace trickformer::hanabi
