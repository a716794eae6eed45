#include "crew/tracker.hpp"

#include <stdexcept>
#include <string>

#include "crew/tell.hpp"

namespace trickformer::crew {
namespace {

using Stage = SeatView::Stage;

// The tokens that may come next once the mission is complete. Cards and statements outside `among` may be missing from
// the result.
TokenSet following(const SeatView& v, Actions among = ~Actions{0}) {
  TokenSet set;
  switch (v.stage) {
    case Stage::kCommander:
      for (int p = 0; p < kPlayers; ++p) set.add(kSeat + p);
      break;
    case Stage::kMember:  // another seat holds the pink 9, or this one
      if (v.dealt >> kPinkNine & 1)
        set.add(kSeat + 1);
      else
        for (int p : {0, 2, 3}) set.add(kSeat + p);
      break;
    case Stage::kGame:
      if (v.phase == Phase::kPass && v.current != v.seat) {
        set.add(distress_token(v.mission));
      } else {
        for (Actions may = may_do(v, among); may;) set.add(as_token(v, take_lowest(may)));
      }
      break;
    default:
      if (const int token = implied_token(v); token >= 0)
        set.add(token);
      else
        set.words[0] = own_card(v);
  }
  return set;
}

}  // namespace

Logbook::Logbook(std::vector<Mission> missions) : missions_(std::move(missions)) {
  if (missions_.empty()) throw std::invalid_argument("a logbook has at least one mission");
  for (const Mission& m : missions_) {
    Prefix prefix{};
    prefix.length = mission_tokens(m, prefix.tokens);
    longest_ = std::max(longest_, prefix.length);
    prefixes_.push_back(prefix);
  }
}

const Mission& Logbook::find(int id) const {
  for (const Mission& m : missions_)
    if (m.id == id) return m;
  throw std::out_of_range("no mission " + std::to_string(id));
}

bool Logbook::goes_on(const Prefix& prefix, const SeatView& v) const {
  return prefix.length >= v.seen && std::equal(v.prefix, v.prefix + v.seen, prefix.tokens);
}

TokenSet Logbook::next(const SeatView& v) const {
  TokenSet set;
  for (const Prefix& prefix : prefixes_) {
    if (!goes_on(prefix, v)) continue;
    if (prefix.length > v.seen)
      set.add(prefix.tokens[v.seen]);
    else
      for (int p = 0; p < kPlayers; ++p) set.add(kChairToken + p);
  }
  return set;
}

bool Logbook::see_mission(SeatView& v, int token) const {
  const bool possible = next(v).has(token);
  const bool chair = token >= kChairToken && token < kChairToken + kPlayers;
  if (!chair && v.seen < longest_) {
    v.prefix[v.seen++] = std::uint8_t(token);
    return possible;
  }
  v.mission = missions_[0];
  for (std::size_t i = 0; i < missions_.size(); ++i)
    if (prefixes_[i].length == v.seen && goes_on(prefixes_[i], v)) v.mission = missions_[i];
  v.seat = std::int8_t(chair ? token - kChairToken : 0);
  v.stage = Stage::kCommander;
  return possible;
}

bool see(const Logbook& book, SeatView& v, int token) {
  if (v.stage == Stage::kMission) return book.see_mission(v, token);
  const int act = v.stage == Stage::kGame ? as_action(v, token) : -1;
  const bool possible = following(v, act >= 0 && act < kActions ? action(act) : 0).has(token);
  see(v, token);
  return possible;
}

TokenSet MissionTracker::legal() const { return my_turn() ? following(view_) : TokenSet{}; }

TokenSet MissionTracker::possible() const {
  if (view_.stage == Stage::kMission) return book_->next(view_);
  return ended_ ? TokenSet{} : following(view_);
}

void MissionTracker::push(int token) {
  if (view_.ended()) {
    legal_ = legal_ && token == kEndToken && !ended_;
    ended_ = true;
    return;
  }
  const bool possible = see(*book_, view_, token);
  legal_ = legal_ && possible;
}

Tables::Tables(std::shared_ptr<const Logbook> book, const std::uint8_t* deals, const double* draws, std::size_t n)
    : book_(std::move(book)),
      states_(n),
      draws_(draws, draws + n * kPlayers),
      tokens_(n * kPlayers * kMaxLength, kEndToken),
      lengths_(n * kPlayers),
      history_(n * kHistory, kNoAction),
      made_(n) {
  for (const double at : draws_)
    if (!(at >= 0 && at < 1)) throw std::invalid_argument("draws must be at least 0 and below 1");
  tasks_.reserve(n * kColourCards);
  for (std::size_t i = 0; i < n; ++i, deals += kDeal) {
    check_deck(deals + 1 + kNumCards, kColourCards);
    tasks_.insert(tasks_.end(), deals + 1 + kNumCards, deals + kDeal);
    std::copy(deals, deals + 1 + kNumCards, &history_[i * kHistory]);
    states_[i] = state_after_deal(*book_, deals);
    tell_deal(states_[i], [&](int p, int token) {
      const std::size_t row = i * kPlayers + std::size_t(p);
      tokens_[row * kMaxLength + std::size_t(lengths_[row]++)] = token;
    });
    chance(i);
  }
}

void Tables::tell(std::size_t i, int action) {
  history_[i * kHistory + 1 + kNumCards + std::size_t(made_[i]++)] = std::uint8_t(action);
  tell_action(states_[i], action, [&](int p, int token) {
    const std::size_t row = i * kPlayers + std::size_t(p);
    tokens_[row * kMaxLength + std::size_t(lengths_[row]++)] = token;
  });
}

void Tables::chance(std::size_t i) {
  while (states_[i].is_chance()) {
    const State& s = states_[i];
    Cards cards = legal(s);
    if (s.phase == Phase::kReveal) {
      tell(i, tasks_[i * kColourCards + std::size_t(s.revealed)]);
      continue;
    }
    for (int skip = int(draws_[i * kPlayers + s.step] * count(cards)); skip > 0; --skip) take_lowest(cards);
    tell(i, take_lowest(cards));
  }
}

void Tables::step(std::size_t i, int action) {
  if (action < 0 || action >= kActions || !(legal(states_[i]) >> action & 1))
    throw std::invalid_argument("action " + std::to_string(action) + " is not legal at table " + std::to_string(i));
  tell(i, action);
  chance(i);
}

State state_after_deal(const Logbook& book, const std::uint8_t* deal) {
  check_deck(deal + 1, kNumCards);
  Cards hands[kPlayers] = {};
  for (int i = 0; i < kNumCards; ++i) hands[i / kHand] |= bit(deal[1 + i]);
  return new_game(book.find(deal[0]), hands);
}

void encode(const Logbook& book, const std::uint8_t* history, int seat, std::int16_t* tokens) {
  State s = state_after_deal(book, history);
  std::int16_t* const end = tokens + kMaxLength;
  const auto tell = [&](int p, int token) {
    if (p == seat) *tokens++ = std::int16_t(token);
  };
  tell_deal(s, tell);
  for (int i = 1 + kNumCards; i < kHistory && history[i] != kNoAction; ++i) {
    check_action(history[i] < kActions && legal(s) >> history[i] & 1, history[i]);
    tell_action(s, history[i], tell);
  }
  std::fill(tokens, end, std::int16_t(kEndToken));
}

std::vector<SeenEvent> events(const Logbook& book, std::span<const std::int32_t> tokens) {
  SeatView v;
  std::vector<SeenEvent> out;
  bool ended = false;
  for (const int token : tokens) {
    const SeatView before = v;
    if (ended || !see(book, v, token)) throw std::invalid_argument("no deal explains these tokens");
    switch (before.stage) {
      case Stage::kMission:
        if (v.stage == Stage::kCommander) out.push_back({-1, v.mission.id, {}});
        break;
      case Stage::kCommander: out.push_back({v.commander, -1, {kCommandersCard}}); break;
      case Stage::kHand:
        if (before.seen == 0) out.push_back({-1, -1, {}});
        out.back().seen.push_back(token);
        break;
      case Stage::kMember: out.push_back({next_seat(v.member, 3), -1, {kPinkNine}}); break;
      case Stage::kReceive: out.push_back({next_seat(v.seat, kPlayers - v.mission.distress), -1, {token}}); break;
      case Stage::kLost:
      case Stage::kGained: out.push_back({-1, -1, {token}}); break;
      case Stage::kGame:
        if (before.phase == Phase::kReveal)
          out.push_back({-1, token, {}});
        else if (before.phase == Phase::kPass && before.current != v.seat)
          out.push_back({before.current, -1, {}});
        else
          out.push_back({before.current, as_action(before, token), {}});
        break;
      case Stage::kOver: ended = true; break;
      default: break;
    }
  }
  const bool whole = v.stage == Stage::kGame || v.stage == Stage::kLost || v.stage == Stage::kOver;
  if (!whole || ended != (v.stage == Stage::kOver))
    throw std::invalid_argument("the tokens stop within an event and encode no view; add the rest of the event");
  return out;
}

}  // namespace trickformer::crew
