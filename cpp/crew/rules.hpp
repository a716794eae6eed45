// The rules of The Crew. Public information (PublicState) and the hands (State) are separate, so that the same code
// runs a game and one seat's view of it.
#pragma once
#include <algorithm>

#include "crew/state.hpp"

namespace trickformer::crew {

inline namespace TRICKFORMER_ISA {

// Returns whether a seat may still communicate before this trick.
inline bool may_speak(const PublicState& t, int seat) {
  return !t.message[seat].label && !(t.mission.has(Rule::kMemberSilent) && seat == t.member) &&
         t.trick() >= t.mission.first_open_trick();
}

// Passes the turn to the next seat that may communicate, clockwise from `step` seats after the leader, or else to the
// first card.
inline void ask_from(PublicState& t, int step) {
  for (; step < kPlayers; ++step) {
    t.current = std::int8_t(next_seat(t.leader, step));
    if (may_speak(t, t.current)) {
      t.phase = Phase::kRadio;
      return;
    }
  }
  t.phase = Phase::kPlay;
  t.current = t.leader;
}

inline void begin_trick(PublicState& t) {
  t.asked = 0;
  ask_from(t, 0);
}

inline void begin_tricks(PublicState& t) {
  t.leader = t.commander;
  t.step = 0;
  if (!t.mission.distress) return begin_trick(t);
  t.phase = Phase::kPass;
  t.current = t.commander;
}

inline void ask(PublicState& t) {
  t.phase = Phase::kAsk;
  t.step = 0;
  std::fill(t.answer, t.answer + kPlayers, std::uint8_t{0});
  t.current = std::int8_t(next_seat(t.commander));
}

inline void draft(PublicState& t) {
  t.phase = Phase::kDraft;
  t.current = t.commander;
}

// Called when all task cards lie open, or there are none.
inline void allocate(PublicState& t) {
  t.current = t.commander;
  switch (t.mission.allocation) {
    case Allocation::kDraft:
      if (t.mission.any(Rule::kSwapTiles | Rule::kMoveTile))
        t.phase = Phase::kTile;
      else if (t.mission.has(Rule::kMemberSilent))
        t.phase = Phase::kName;
      else
        draft(t);
      return;
    case Allocation::kDistribution: t.phase = Phase::kReveal; return;
    case Allocation::kNone: return begin_tricks(t);
    default: return ask(t);
  }
}

// Called after the deal; `pink_nine` holds that card.
inline void begin(PublicState& t, const Mission& mission, int commander, int pink_nine) {
  t.mission = mission;
  t.commander = std::int8_t(commander);
  for (int i = 0; i < mission.tasks; ++i) t.tasks[i] = {0, mission.tiles[i], -1, false};
  if (mission.has(Rule::kAllPink)) t.member = std::int8_t(next_seat(pink_nine));
  if (mission.allocation == Allocation::kDraft && mission.tasks)
    t.phase = Phase::kReveal;
  else
    allocate(t);
}

// Applies the mission's rules after a trick. Returns 1 for success, -1 for failure, 0 if the mission continues.
inline int judge(PublicState& t, int winner, int card, Cards cards) {
  const Mission& m = t.mission;
  const int number = t.trick() - 1;  // number of this trick, from 0
  const bool first = number == 0, last = number == kTricks - 1;
  bool failed = false, open = false;

  int made = 0, omega = 0;
  for (int i = 0; i < m.tasks; ++i) {
    Task& task = t.tasks[i];
    if (task.done || !(cards >> task.card & 1)) continue;
    failed |= task.owner != winner;
    task.done = true;
    ++made;
    omega |= task.tile == kTileOmega;
  }
  const int before = t.done;
  t.done = std::uint8_t(before + made);
  if (made) {
    int low_open = kTiles, high_done = -1;  // lowest arrow of an open task, highest arrow of a fulfilled one
    for (int i = 0; i < m.tasks; ++i) {
      const Task& task = t.tasks[i];
      if (task.tile < kTileArrow) {
        const int due = task.tile + 1;  // it must be fulfilled as task number `due`
        const bool now = cards >> task.card & 1;
        failed |= task.done ? now && (due <= before || due > t.done) : due <= t.done;
      } else if (task.tile < kTileOmega) {
        if (task.done)
          high_done = std::max<int>(high_done, task.tile);
        else
          low_open = std::min<int>(low_open, task.tile);
      }
    }
    failed |= high_done > low_open || (omega && t.done < m.tasks);
  }
  open |= t.done < m.tasks;
  failed |= m.has(Rule::kOmegaLast) && omega && !last;

  if (m.rules) {
    const bool rocket = suit(card) == kRocket;
    const auto until_last = [&](bool bad) {
      failed |= bad;
      open |= !last;
    };
    if (m.has(Rule::kSick)) until_last(winner == t.member);
    if (m.any(Rule::kOneWins | Rule::kOnesWinTwice)) {
      const int want = m.has(Rule::kOnesWinTwice) ? 2 : 1;
      t.ones = std::uint8_t(t.ones + (kOnes >> card & 1));
      failed |= t.ones + count(kOnes & ~t.played) < want;
      open |= t.ones < want;
    }
    if (m.any(Rule::kRocketsWin | Rule::kRocketsInOrder)) {
      failed |= count(cards & kRockets) > 1;
      failed |= rocket && m.has(Rule::kRocketsInOrder) && card != kColourCards + t.rockets;
      t.rockets = std::uint8_t(t.rockets + rocket);
      open |= t.rockets < 4;
    }
    if (m.any(Rule::kNinesLose | Rule::kNinesLoseTasks)) {
      failed |= kNines >> card & 1;
      open |= (kNines & ~t.played) != 0;
    }
    if (m.any(Rule::kBalance | Rule::kBalanceEnds)) {
      const auto [least, most] = std::minmax_element(t.wins, t.wins + kPlayers);
      until_last(*most - *least >= 2 || (m.has(Rule::kBalanceEnds) && (first || last) && winner != t.commander));
    }
    if (m.has(Rule::kOneTrick))
      until_last((winner == t.member && (rocket || t.wins[winner] > 1)) || (last && t.wins[t.member & 3] != 1));
    if (m.has(Rule::kFirstAndLast))
      until_last((first || last) != (winner == t.member) || (winner == t.member && rocket));
    if (m.has(Rule::kAllPink)) {
      failed |= (cards & kPink) && winner != t.member;
      open |= (kPink & ~t.played) != 0;
    }
    if (m.has(Rule::kRoles))
      until_last(number < 4 ? winner != t.first_four
                 : last     ? winner != t.last
                            : winner == t.first_four || winner == t.last);
  }
  return failed || (open && last) ? -1 : !open;
}

inline void play(PublicState& t, int card) {
  const int seat = t.current, in_trick = t.num_plays % kPlayers;
  t.plays[t.num_plays++] = std::uint8_t(card);
  t.played |= bit(card);
  if (in_trick == 0 || beats(card, t.best_card)) {
    t.best_card = std::uint8_t(card);
    t.best_seat = std::int8_t(seat);
  }
  if (in_trick < kPlayers - 1) {
    t.current = std::int8_t(next_seat(seat));
    return;
  }
  const int winner = t.best_seat;
  t.winner[t.trick() - 1] = std::int8_t(winner);
  ++t.wins[winner];
  t.leader = t.current = std::int8_t(winner);
  Cards cards = 0;
  for (int i = 1; i <= kPlayers; ++i) cards |= bit(t.plays[t.num_plays - i]);
  t.result = std::int8_t(judge(t, winner, t.best_card, cards));
  if (t.result) {
    t.phase = Phase::kOver;
  } else if (t.num_plays == kPlayers && t.mission.has(Rule::kDraw)) {
    t.phase = Phase::kDraw;
    t.step = 0;
    t.asked = 0;
  } else {
    begin_trick(t);
  }
}

// The place of a task by its card or its token among those laid out, or -1.
inline int task_of_card(const PublicState& t, int card) {
  for (int i = 0; i < t.revealed; ++i)
    if (t.tasks[i].card == card) return i;
  return -1;
}
inline int task_of_tile(const PublicState& t, int tile) {
  for (int i = 0; i < t.mission.tasks; ++i)
    if (t.tasks[i].tile == tile) return i;
  return -1;
}

inline void give(PublicState& t, int task, int seat) {
  t.tasks[task].owner = std::int8_t(seat);
  ++t.owned;
}

// Once the others have answered, the commander decides.
inline void appoint(PublicState& t, int seat) {
  switch (t.mission.allocation) {
    case Allocation::kDecision:
      t.member = std::int8_t(seat);
      t.phase = Phase::kReveal;
      return;
    case Allocation::kDistribution:
      give(t, t.revealed - 1, seat);
      if (t.owned < t.mission.tasks)
        t.phase = Phase::kReveal;
      else
        begin_tricks(t);
      return;
    case Allocation::kRoles:
      if (t.phase == Phase::kAppoint) {
        t.first_four = std::int8_t(seat);
        t.phase = Phase::kAppointLast;
        return;
      }
      t.last = std::int8_t(seat);
      return begin_tricks(t);
    default: t.member = std::int8_t(seat); return begin_tricks(t);
  }
}

inline void reveal(PublicState& t, int card) {
  t.tasks[t.revealed++].card = std::uint8_t(card);
  if (t.mission.allocation == Allocation::kDecision) give(t, t.revealed - 1, t.member);
  if (t.mission.allocation == Allocation::kDistribution) return ask(t);
  if (t.revealed < t.mission.tasks) return;
  if (t.mission.allocation == Allocation::kDecision)
    begin_tricks(t);
  else
    allocate(t);
}

// The player on turn lays card `card` open.
inline void show(PublicState& t, int card) {
  t.message[t.current] = {t.label, std::uint8_t(card), t.num_plays};
  t.asked = std::uint8_t(t.asked | 1u << t.current);
  ask_from(t, relative(t.current, t.leader) + 1);
}

// Applies a legal action that is public; passes and draws are below.
inline void apply(PublicState& t, int action) {
  switch (t.phase) {
    case Phase::kReveal: return reveal(t, action);
    case Phase::kTile:
      if (action != kNo) {
        t.chosen = std::uint8_t(task_of_tile(t, action - kTile));
        t.phase = Phase::kTileTo;
      } else if (t.mission.has(Rule::kMemberSilent)) {
        t.phase = Phase::kName;
      } else {
        draft(t);
      }
      return;
    case Phase::kTileTo: {
      const int to = action < kNumCards ? task_of_card(t, action) : task_of_tile(t, action - kTile);
      std::swap(t.tasks[t.chosen].tile, t.tasks[to].tile);
      if (t.mission.has(Rule::kMemberSilent))
        t.phase = Phase::kName;
      else
        draft(t);
      return;
    }
    case Phase::kName: t.member = std::int8_t(next_seat(t.commander, action - kSeat)); return draft(t);
    case Phase::kDraft:
      give(t, task_of_card(t, action), t.current);
      t.current = std::int8_t(next_seat(t.current));
      if (t.owned == t.mission.tasks) begin_tricks(t);
      return;
    case Phase::kAsk:
      t.answer[t.current] = std::uint8_t(action);
      t.current = std::int8_t(next_seat(t.current));
      if (++t.step == kPlayers - 1) t.phase = Phase::kAppoint;
      return;
    case Phase::kAppoint:
    case Phase::kAppointLast: return appoint(t, next_seat(t.commander, action - kSeat));
    case Phase::kRadio:
      if (action == kSilent) {
        t.asked = std::uint8_t(t.asked | 1u << t.current);
        return ask_from(t, relative(t.current, t.leader) + 1);
      }
      t.label = std::uint8_t(action);
      t.phase = Phase::kRadioCard;
      return;
    case Phase::kRadioCard: return show(t, action);
    case Phase::kPlay: return play(t, action);
    default: return;
  }
}

// Records one more card passed to a neighbour. Returns true for the last one.
inline bool pass(PublicState& t) {
  t.current = std::int8_t(next_seat(t.current));
  if (++t.step < kPlayers) return false;
  begin_trick(t);
  return true;
}

// Records one more card drawn. Returns true for the last one.
inline bool draw(PublicState& t) {
  if (++t.step < kPlayers) return false;
  begin_trick(t);
  return true;
}

// The cards of a hand that may be shown under a label. The only card of its colour has the label `only`, and neither
// highest nor lowest.
inline Cards showable(Cards hand, int label) {
  Cards found = 0;
  for (int colour = 0; colour < kColours; ++colour) {
    const Cards of = hand & suit_cards(colour);
    if (!of) continue;
    const Cards low = of & (~of + 1), high = bit(highest(of));
    const bool alone = low == high;
    switch (label) {
      case kHighest: found |= alone ? 0 : high; break;
      case kOnly: found |= alone ? low : 0; break;
      case kLowest: found |= alone ? 0 : low; break;
      default: found |= low | high;
    }
  }
  return found;
}

// A set of actions.
using Actions = std::uint64_t;
static_assert(kActions <= 64);
constexpr Actions action(int a) { return Actions{1} << a; }

// The legal actions of a player who holds `hand`; empty if chance moves next or the mission is over.
inline Actions legal(const PublicState& t, Cards hand) {
  Actions set = 0;
  switch (t.phase) {
    case Phase::kTile:
      for (int i = 0; i < t.mission.tasks; ++i)
        if (t.tasks[i].tile != kNoTile) set |= action(kTile + t.tasks[i].tile);
      // a pair is named by its lower token first
      if (t.mission.has(Rule::kSwapTiles)) set &= ~action(highest(set));
      return set | action(kNo);
    case Phase::kTileTo:
      for (int i = 0; i < t.mission.tasks; ++i) {
        const Task& task = t.tasks[i];
        if (t.mission.has(Rule::kSwapTiles)) {
          if (task.tile != kNoTile && task.tile > t.tasks[t.chosen].tile) set |= action(kTile + task.tile);
        } else if (task.tile == kNoTile) {
          set |= action(task.card);
        }
      }
      return set;
    case Phase::kDraft:
      for (int i = 0; i < t.mission.tasks; ++i)
        if (t.tasks[i].owner < 0) set |= action(t.tasks[i].card);
      return set;
    case Phase::kAsk:
      if (t.mission.allocation == Allocation::kRoles)
        return action(kTile) | action(kTile + kTileOmega) | action(kTile + kNoTile);
      return action(kYes) | action(kNo);
    case Phase::kName: return Actions{7} << (kSeat + 1);
    case Phase::kAppoint:
      if (t.mission.allocation == Allocation::kRoles) return Actions{15} << kSeat;
      if (t.mission.allocation == Allocation::kDistribution) {
        // At the end nobody may have two tasks more than another.
        int has[kPlayers] = {}, above = 0;
        const int share = t.mission.tasks / kPlayers;
        for (int i = 0; i < t.revealed; ++i)
          if (t.tasks[i].owner >= 0) above += ++has[t.tasks[i].owner] > share;
        for (int p = 0; p < kPlayers; ++p)
          if (has[p] < share || (has[p] == share && above < t.mission.tasks % kPlayers))
            set |= action(kSeat + relative(p, t.commander));
        return set;
      }
      return Actions{7} << (kSeat + 1);
    case Phase::kAppointLast: return Actions{15} << kSeat & ~action(kSeat + relative(t.first_four, t.commander));
    case Phase::kPass: return hand & ~kRockets;
    case Phase::kRadio:
      set = action(kSilent);
      if (t.mission.communication == Communication::kDeadZone) {
        if (hand & ~kRockets) set |= action(kUnlabelled);
      } else {
        for (int label = kHighest; label <= kLowest; ++label)
          if (showable(hand, label)) set |= action(label);
      }
      return set;
    case Phase::kRadioCard: return showable(hand, t.label);
    case Phase::kPlay: return legal_plays(hand, t.lead());
    default: return 0;
  }
}

// The cards that may be drawn from a hand: all but an open card.
inline Cards drawable(const PublicState& t, int seat, Cards hand) {
  return t.message[seat].label ? hand & ~bit(t.message[seat].card) : hand;
}

// The next legal actions: a player's, or the cards that chance may turn up.
inline Actions legal(const State& s) {
  if (s.phase == Phase::kReveal) {
    Cards left = kAll & ~kRockets;
    for (int i = 0; i < s.revealed; ++i) left &= ~bit(s.tasks[i].card);
    return left;
  }
  if (s.phase == Phase::kDraw) return drawable(s, next_seat(s.step, 3), s.hand[next_seat(s.step, 3)]);
  return s.over() ? 0 : legal(s, s.hand[s.current]);
}

// Applies a legal action, of a player or of chance.
inline void apply(State& s, int action) {
  switch (s.phase) {
    case Phase::kPass: {
      s.passed[s.current] = std::uint8_t(action);
      if (!pass(s)) return;
      for (int p = 0; p < kPlayers; ++p) s.hand[p] ^= bit(s.passed[p]);
      for (int p = 0; p < kPlayers; ++p) s.hand[next_seat(p, s.mission.distress)] |= bit(s.passed[p]);
      return;
    }
    case Phase::kDraw:
      s.drawn[s.step] = std::uint8_t(action);
      if (!draw(s)) return;
      for (int p = 0; p < kPlayers; ++p) s.hand[next_seat(p, 3)] ^= bit(s.drawn[p]);
      for (int p = 0; p < kPlayers; ++p) s.hand[p] |= bit(s.drawn[p]);
      return;
    case Phase::kPlay: s.hand[s.current] ^= bit(action); return play(s, action);
    default: return apply(static_cast<PublicState&>(s), action);
  }
}

inline State new_game(const Mission& mission, const Cards hands[kPlayers]) {
  State s;
  int commander = 0, pink_nine = 0;
  for (int p = 0; p < kPlayers; ++p) {
    s.hand[p] = hands[p];
    if (hands[p] >> kCommandersCard & 1) commander = p;
    if (hands[p] >> kPinkNine & 1) pink_nine = p;
  }
  begin(s, mission, commander, pink_nine);
  return s;
}

// Deals a shuffled deck, ten cards to each of the seats 0 to 3.
inline void shuffle_deal(Rng& rng, std::uint8_t deck[kNumCards], Cards hands[kPlayers]) {
  for (int i = 0; i < kNumCards; ++i) deck[i] = std::uint8_t(i);
  for (int p = 0; p < kPlayers; ++p) hands[p] = 0;
  for (int i = 0; i < kNumCards; ++i) {
    std::swap(deck[i], deck[i + int(rng.below(std::uint32_t(kNumCards - i)))]);
    hands[i / kHand] |= bit(deck[i]);
  }
}

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer::crew
