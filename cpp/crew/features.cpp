#include "crew/features.hpp"

#include <algorithm>

#include "crew/rules_player.hpp"

namespace trickformer::crew {
namespace {

using Stage = SeatView::Stage;

constexpr Cards kColoured = kAll & ~kRockets;

// Writes the features of a view.
class Writer {
 public:
  Writer(const SeatView& view, float* out) : v_(view), out_(out) { std::fill_n(out, int(kFeatures), 0.0f); }

  // Writes which tokens may come next, and the stage of the view.
  void next(const TokenSet& possible) {
    const auto from = [&](int token) {
      const int word = token >> 6, shift = token & 63;
      const Cards low = possible.words[word] >> shift;
      return (shift > 64 - kNumCards ? low | possible.words[word + 1] << (64 - shift) : low) & kAll;
    };
    cards(kNextFeature, from(0) | from(kPlayToken) | from(kPlayToken + kNumCards) | from(kPlayToken + 2 * kNumCards));
    cards(kSayFeature, from(kNumCards) & ((Cards{1} << kSpeechActions) - 1));
    out_[kStageFeature + int(v_.stage)] = 1;
  }

  void mission() {
    const Mission& m = v_.mission;
    out_[kCommunicationFeature + int(m.communication)] = 1;
    out_[kAllocationFeature + int(m.allocation)] = 1;
    cards(kRuleFeature, m.rules);
    if (m.distress) out_[kDistressFeature + (m.distress == 3)] = 1;
    if (v_.stage > Stage::kCommander) seat(kCommanderFeature, v_.commander);
  }

  void hand(Cards own) {
    cards(kOwnFeature, own);
    for (int s = 0; s <= kRocket; ++s) out_[kLengthFeature + s] = float(count(own & suit_cards(s))) / kHand;
  }

  // The holders of the cards, as if the cards lay independently of each other, apart from what their holders have
  // shown.
  void others() {
    const Knowledge k = knowledge(v_);
    const bool passing =
        v_.stage == Stage::kReceive || (v_.phase == Phase::kPass && relative(v_.seat, v_.commander) < v_.step);
    const Cards unseen = k.unseen & ~(passing ? bit(v_.passed) : 0);
    cards(kUnseenFeature, unseen);
    Cards may[kOthers];
    for (int i = 0; i < kOthers; ++i) {
      const Cards has = v_.has[next_seat(v_.seat, i + 1)];
      may[i] = k.need[i] > 0 ? unseen & ~k.cannot[i] : 0;
      cards(kHoldsFeature + i * kNumCards, has);
      for (int s = 0; s <= kRocket; ++s)
        if (!((may[i] | has) & suit_cards(s))) out_[kVoidFeature + i * (kColours + 1) + s] = 1;
    }
    float chance[1 << kOthers][kOthers] = {};  // indexed by the set of seats that may hold a card
    for (int who = 1; who < 1 << kOthers; ++who) {
      int room = 0;
      for (int i = 0; i < kOthers; ++i) room += who >> i & 1 ? std::max(k.need[i], 0) : 0;
      for (int i = 0; i < kOthers && room; ++i)
        if (who >> i & 1) chance[who][i] = float(std::max(k.need[i], 0)) / float(room);
    }
    for (Cards rest = unseen; rest;) {
      const int card = take_lowest(rest);
      const int who = int((may[0] >> card & 1) | (may[1] >> card & 1) << 1 | (may[2] >> card & 1) << 2);
      for (int i = 0; i < kOthers; ++i) out_[kHoldsFeature + i * kNumCards + card] = chance[who][i];
    }
    const Cards theirs = kAll & ~v_.played & ~v_.hand;
    for (Cards rest = v_.hand; rest;) {
      const int card = take_lowest(rest);
      out_[kOverFeature + card] = float(count(theirs & higher(card))) / kValues;
    }
  }

  void trick() {
    int laid = v_.num_plays % kPlayers;
    const bool just_over =
        v_.stage == Stage::kLead || v_.stage == Stage::kOver || v_.stage == Stage::kLost || v_.stage == Stage::kGained;
    if (!laid && just_over && v_.num_plays) laid = kPlayers;
    if (!laid) return;
    const int start = v_.num_plays - laid, best = v_.best_card;
    for (int i = start; i < v_.num_plays; ++i) {
      out_[kTrickFeature + v_.plays[i]] = 1;
      for (int k = 0; k < v_.mission.tasks; ++k)
        if (v_.tasks[k].card == v_.plays[i] && v_.tasks[k].owner >= 0) seat(kTrickTaskFeature, v_.tasks[k].owner);
    }
    const Cards over = higher(best) | (suit(best) == kRocket ? 0 : kRockets);
    if (laid < kPlayers) cards(kBeatsFeature, over & ~v_.played);
    out_[kLedFeature + suit(v_.plays[start])] = 1;
    seat(kWinnerFeature, v_.best_seat);
    out_[kBestFeature + value(best) - 1] = 1;
    if (suit(best) == kRocket) out_[kBestFeature + kValues] = 1;
  }

  void tasks() {
    const Mission& m = v_.mission;
    int free = 0;
    for (int i = 0; i < m.tasks; ++i) {
      const Task& task = v_.tasks[i];
      free += task.owner < 0;
      if (i >= v_.revealed || task.done || task.card >= kColourCards) continue;
      if (task.owner >= 0) {
        const int who = relative(task.owner, v_.seat);
        out_[kTaskFeature + who * kColourCards + task.card] = 1;
        out_[kTasksFeature + who] += 1.0f / kPlayers;
      } else {
        out_[kFreeFeature + task.card] = 1;
      }
      if (due(i)) out_[kDueFeature + task.card] = 1;
      if (task.tile < kTileArrow)
        out_[kOrderFeature + task.card] = float(task.tile + 1) / 5;
      else if (task.tile < kTileOmega)
        out_[kOrderFeature + task.card] = float(task.tile - kTileArrow + 1) / -4;
      else if (task.tile == kTileOmega)
        out_[kOmegaFeature + task.card] = 1;
    }
    out_[kLeftFeature] = float(m.tasks) / kMaxTasks;
    out_[kLeftFeature + 1] = float(free) / kMaxTasks;
    out_[kLeftFeature + 2] = float(m.tasks - v_.done) / kMaxTasks;
  }

  void messages() {
    for (int p = 0; p < kPlayers; ++p) {
      const Message& message = v_.message[p];
      if (message.label) {
        cards(kShownFeature, bit(message.card) & kColoured & ~v_.played);
        out_[kLabelFeature + relative(p, v_.seat) * kLabels + message.label - kHighest] = 1;
      } else if (!(v_.mission.has(Rule::kMemberSilent) && p == v_.member)) {
        seat(kMaySpeakFeature, p);
      }
      if (v_.asked >> p & 1) seat(kAskedFeature, p);
      if (const int reply = answer(v_.answer[p]); reply >= 0)
        out_[kAnswerFeature + relative(p, v_.seat) * kAnswers + reply] = 1;
    }
    out_[kRadioFeature] = v_.trick() >= v_.mission.first_open_trick();
  }

  void course() {
    if (!v_.over()) out_[kPhaseFeature + int(v_.phase)] = 1;
    seat(kTurnFeature, v_.turn());
    if (v_.phase == Phase::kPlay && v_.turn() >= 0) out_[kPlaceFeature + v_.num_plays % kPlayers] = 1;
    if (v_.phase > Phase::kPass) seat(kLeaderFeature, v_.leader);
    seat(kMemberFeature, v_.member);
    seat(kFirstFourFeature, v_.first_four);
    seat(kLastFeature, v_.last);
    out_[kTricksFeature + v_.trick()] = 1;
    const int least = *std::min_element(v_.wins, v_.wins + kPlayers);
    for (int p = 0; p < kPlayers; ++p) {
      out_[kWinsFeature + relative(p, v_.seat)] = float(v_.wins[p]) / kTricks;
      if (v_.wins[p] > least) seat(kAheadFeature, p);
    }
    out_[kCountsFeature] = float(v_.ones) / 2;
    out_[kCountsFeature + 1] = float(v_.rockets) / 4;
    out_[kCountsFeature + 2] = float(count(kNines & ~v_.played)) / kColours;
    out_[kCountsFeature + 3] = float(count(kPink & ~v_.played)) / kValues;
    if (v_.over()) out_[kResultFeature + (v_.result < 0)] = 1;
  }

  void script() {
    if (v_.phase != Phase::kPlay) {
      out_[kScriptFeature + rules_action(v_, v_.seat, v_.hand)] = 1;
      return;
    }
    const Cards may = legal_plays(v_.hand, v_.lead());
    const int best = rules_card(v_, v_.seat, v_.hand, may, out_ + kBehindFeature);
    out_[kScriptFeature + best] = 1;
    out_[kWorthFeature] = out_[kBehindFeature + best];
    for (Cards rest = may; rest;) out_[kBehindFeature + take_lowest(rest)] -= out_[kWorthFeature];
  }

 private:
  void cards(int at, Cards set) {
    while (set) out_[at + take_lowest(set)] = 1;
  }
  void seat(int at, int p) {
    if (p >= 0) out_[at + relative(p, v_.seat)] = 1;
  }

  // Returns whether the order of the task tokens lets this task be fulfilled next; the same rule as in judge.
  bool due(int which) const {
    const Task& task = v_.tasks[which];
    if (task.tile == kTileOmega && v_.done < v_.mission.tasks - 1) return false;
    if (task.tile == kTileOmega && v_.mission.has(Rule::kOmegaLast) && v_.trick() < kTricks - 1) return false;
    if (task.tile < kTileArrow && task.tile != v_.done) return false;
    for (int i = 0; i < v_.mission.tasks; ++i) {
      const Task& other = v_.tasks[i];
      if (i == which || other.done) continue;
      if (other.tile < kTileArrow && other.tile <= v_.done) return false;
      if (task.tile >= kTileArrow && task.tile < kTileOmega && other.tile >= kTileArrow && other.tile < task.tile)
        return false;
    }
    return true;
  }

  static int answer(int action) {
    switch (action) {
      case kYes: return 0;
      case kNo: return 1;
      case kTile: return 2;
      case kTile + kTileOmega: return 3;
      case kTile + kNoTile: return 4;
      default: return -1;
    }
  }

  const SeatView& v_;
  float* const out_;
};

}  // namespace

void features(const SeatView& v, const TokenSet& possible, bool consistent, float* out) {
  Writer write(v, out);
  write.next(possible);
  if (v.stage == Stage::kMission) return;
  write.mission();
  if (v.stage < Stage::kLead) return write.hand(v.dealt);
  write.hand(v.hand);
  write.others();
  write.trick();
  write.tasks();
  write.messages();
  write.course();
  if (consistent && v.my_turn()) write.script();
}

}  // namespace trickformer::crew
