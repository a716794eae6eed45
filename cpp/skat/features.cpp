#include "skat/features.hpp"

#include <algorithm>
#include <array>

#include "skat/evaluation.hpp"
#include "skat/hand.hpp"
#include "skat/rules_player.hpp"

namespace trickformer::skat {
namespace {

using Stage = SeatView::Stage;

// above[kind][card]: the stronger cards of the same suit, or stronger trumps.
const auto& above() {
  static const auto kTable = [] {
    std::array<std::array<Cards, kNumCards>, 6> found{};
    for (int kind = 0; kind < 6; ++kind)
      for (int card = 0; card < kNumCards; ++card)
        for (Cards rest = followers(Kind(kind), card); rest;) {
          const int other = take_lowest(rest);
          if (strength(Kind(kind), card, other) > strength(Kind(kind), card, card))
            found[std::size_t(kind)][std::size_t(card)] |= bit(other);
        }
    return found;
  }();
  return kTable;
}

constexpr float kFarBehind = -3;  // larger differences carry no more information

// The class of a call, by its index; -1: none.
int bid_class(int called) {
  constexpr int kSingle = 8;  // the calls 18 to 33 have a class each
  if (called < kSingle) return called + 1;
  return kCallValues[called] <= 36 ? kSingle + 1 : kCallValues[called] <= 48 ? kSingle + 2 : kSingle + 3;
}

class Writer {
 public:
  Writer(const SeatView& v, float* out)
      : v_(v),
        out_(out),
        soloist_(v.soloist()),
        declared_(v.stage >= Stage::kAnnounce && soloist_ >= 0),
        kind_(declared_ ? v.contract.kind : Kind::kGrand),
        trump_(trumps(kind_)),
        unseen_(v.unseen()) {}

  void write() {
    std::fill_n(out_, kFeatures, 0.0f);
    cards(kOwnFeature, v_.hand);
    cards(kNextFeature, possible_cards(v_));
    cards(kUnseenFeature, unseen_);
    cards(kSkatFeature, v_.laid);
    out_[kStageFeature + int(v_.stage)] = 1;
    if (v_.stage != Stage::kSeat && v_.turn() >= 0) out_[kTurnFeature + relative(v_.turn())] = 1;
    out_[kChairFeature + v_.seat] = 1;
    auction();
    if (soloist_ < 0 || soloist_ == v_.seat) values();
    contract();
    suits();
    if (declared_) play();
    if (v_.stage == Stage::kPlay || v_.stage == Stage::kLead) trick();
  }

  void script() {
    if (v_.stage == Stage::kPlay) return card();
    const int action = rules_player(v_);
    int at = kScriptCardFeature + action;
    if (action >= kAnnounce)
      at = kScriptLevelFeature + action - kAnnounce;
    else if (action >= kDeclare)
      at = kScriptGameFeature + action - kDeclare;
    else if (action == kPickUp || action == kPlayHand)
      at = kScriptSkatFeature + (action == kPlayHand);
    else if (v_.stage == Stage::kAuction)
      at = kScriptBidFeature + (action == kPass);
    out_[at] = 1;
    if (v_.stage == Stage::kAuction) out_[kLimitFeature] = float(prospect(v_.dealt, v_.seat == 0).limit) / 100;
  }

 private:
  void card() {
    CardThoughts thoughts;
    const int best = kind_ == Kind::kNull ? rules_null_card(v_, &thoughts) : rules_card(v_, &thoughts);
    out_[kScriptCardFeature + best] = 1;
    for (Cards rest = legal_plays(kind_, v_.hand, v_.lead()); rest;) {
      const int card = take_lowest(rest);
      out_[kBehindFeature + card] = std::max(thoughts.worth[card] - thoughts.worth[best], kFarBehind);
      out_[kGainFeature + card] = thoughts.gain[card];
      out_[kWinsFeature + card] = thoughts.wins[card];
    }
  }
  void cards(int at, Cards set) {
    while (set) out_[at + take_lowest(set)] = 1;
  }
  int relative(int seat) const { return (seat - v_.seat + kPlayers) % kPlayers; }
  Cards suit(int s) const { return s < 4 ? suit_cards(s) & ~trump_ : trump_; }
  Cards out() const { return unseen_ | v_.shown; }

  Cards may_hold(int p) const {
    if (p == soloist_ && v_.shown) return v_.shown | (v_.stage == Stage::kShow ? unseen_ : 0);
    return v_.hidden_in(p) ? unseen_ & ~v_.cannot[p] : 0;
  }

  void auction() {
    Auction a;
    int highest[kPlayers] = {-1, -1, -1};
    for (int i = 0; i < v_.num_said; ++i) {
      const int seat = a.current();
      say(a, v_.said[i]);
      if (v_.said[i] == kPass)
        out_[kPassedFeature + relative(seat)] = 1;
      else
        highest[seat] = a.called;
    }
    out_[kBidFeature] = float(a.bid()) / 100;
    out_[kBidClassFeature + bid_class(a.called)] = 1;
    for (int p = 0; p < kPlayers; ++p) out_[kSaidFeature + relative(p) * kBidClasses + bid_class(highest[p])] = 1;
    if (v_.stage != Stage::kAuction) return;
    out_[kCallerFeature + relative(a.caller)] = 1;
    out_[kListenerFeature + relative(a.listener)] = 1;
    out_[kAnswerFeature] = a.reply;
    out_[kAloneFeature] = a.last;
  }

  void values() {
    for (int declaration = 0; declaration < kDeclarations; ++declaration) {
      const int value = certain_value(declaration, v_.contract.hand, v_.dealt | v_.taken);
      out_[kValueFeature + declaration] = float(value) / 100;
      out_[kCoversFeature + declaration] = value >= v_.auction.bid();
    }
  }

  void contract() {
    out_[kSoloistFeature + (soloist_ < 0 ? 0 : 1 + relative(soloist_))] = 1;
    if (soloist_ >= 0 && v_.stage > Stage::kPickUp) out_[kHandFeature + v_.contract.hand] = 1;
    if (!declared_) return;
    out_[kKindFeature + int(kind_)] = 1;
    const Level level = v_.contract.level;
    out_[kLevelFeature] = level >= Level::kSchneider && kind_ != Kind::kNull;
    out_[kLevelFeature + 1] = level >= Level::kSchwarz && kind_ != Kind::kNull;
    out_[kLevelFeature + 2] = level == Level::kOuvert;
  }

  void suits() {
    for (int s = 0; s < kSuits; ++s) {
      out_[kOwnCountFeature + s] = float(count(v_.hand & suit(s))) / 8;
      out_[kOutCountFeature + s] = float(count(out() & suit(s))) / 8;
    }
    out_[kTrumpsOutFeature + count(out() & trump_)] = 1;
    for (int i = 1; i < kPlayers; ++i) {
      const Cards may = may_hold((v_.seat + i) % kPlayers);
      cards(kMayHoldFeature + (i - 1) * kNumCards, may);
      for (int s = 0; declared_ && s < kSuits; ++s)
        out_[kVoidFeature + (i - 1) * kSuits + s] = suit(s) && !(may & suit(s));
    }
  }

  void play() {
    for (Cards rest = v_.hand; rest;) {
      const int card = take_lowest(rest);
      out_[kHighFeature + card] = !(above()[std::size_t(kind_)][std::size_t(card)] & out());
    }
    for (int i = v_.num_plays % kPlayers; i > 0; --i) in_trick_ |= bit(v_.plays[v_.num_plays - i]);
    const Cards played = v_.played[0] | v_.played[1] | v_.played[2];
    const int theirs = card_points(played & ~in_trick_) - v_.points, his = v_.points + card_points(v_.laid);
    const int points[2] = {his, theirs};
    constexpr int kSteps[2][3] = {{31, 61, 90}, {31, 60, 90}};
    for (int side = 0; side < 2; ++side) {
      out_[kPointsFeature + side] = float(points[side]) / kAllPoints;
      for (int i = 0; i < std::min(points[side] / 3, kPointSteps); ++i)
        out_[kAtLeastFeature + side * kPointSteps + i] = 1;
      for (int i = 0; i < 3; ++i) out_[kReachedFeature + 3 * side + i] = points[side] >= kSteps[side][i];
    }
    out_[kTookFeature] = v_.tricks > 0;
    out_[kTookFeature + 1] = v_.num_plays / kPlayers > v_.tricks;
  }

  void trick() {
    out_[kTricksFeature + v_.num_plays / kPlayers] = 1;
    out_[kPlaceFeature + v_.num_plays % kPlayers] = 1;
    if (!in_trick_) return;
    cards(kTrickFeature, in_trick_);
    const Cards follow = followers(kind_, v_.lead()), best = bit(v_.best_card);
    cards(kFollowFeature, follow);
    const Cards stronger = above()[std::size_t(kind_)][v_.best_card] | (best & trump_ ? 0 : trump_);
    cards(kBeatsFeature, stronger & (v_.hand | out()));
    out_[kLedFeature + (follow & trump_ ? kSuits - 1 : v_.lead() / 8)] = 1;
    out_[kWinnerFeature + relative(v_.best_seat)] = 1;
    out_[kSideFeature] = v_.best_seat == soloist_;
    out_[kSideFeature + 1] = (v_.best_seat == soloist_) == (v_.seat == soloist_);
    out_[kTrickPointsFeature] = float(card_points(in_trick_)) / 30;
  }

  const SeatView& v_;
  float* out_;
  int soloist_;
  bool declared_;
  Kind kind_;
  Cards trump_, unseen_, in_trick_ = 0;
};

}  // namespace

void features(const SeatView& view, bool consistent, float out[kFeatures]) {
  Writer writer(view, out);
  writer.write();
  if (consistent && view.my_turn()) writer.script();
}

}  // namespace trickformer::skat
