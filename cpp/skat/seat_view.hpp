// The view of one seat of a game of Skat, built token by token. It is the C++ form of a Python View.
//
// Tokens: the actions, 3 seats, end of sequence. A sequence consists of the own seat; the 10 cards dealt (ascending);
// the public auction; picking up or not; if the own seat picks up, the two cards of the skat (ascending) and the two
// discards (in order); the declaration and the announcements; if another seat plays ouvert, its ten cards (ascending);
// for each trick, the leader and the plays; the end. The rules imply the leader. It has a token because auctions differ
// in length, so that a position in the sequence does not determine the trick.
#pragma once
#include "skat/rules.hpp"

namespace trickformer::skat {

inline constexpr int kSeatToken = kActions, kEndToken = kSeatToken + kPlayers, kVocabulary = kEndToken + 1;
// The longest sequence is a defender's, after the longest auction, in a hand game that is played ouvert.
inline constexpr int kMaxLength = 1 + kHand + kMaxAuction + 3 + kHand + kTricks + kPlays + 1;

struct SeatView {
  enum class Stage : std::uint8_t {
    kSeat,
    kDeal,
    kAuction,
    kPickUp,
    kTake,
    kDiscard,
    kDeclare,
    kAnnounce,
    kShow,
    kLead,
    kPlay,
    kOver
  };

  Stage stage = Stage::kSeat;
  std::int8_t seat = 0;
  std::uint8_t seen = 0;  // number of tokens of the current stage so far
  std::int8_t last = -1;  // previous card, if cards ascend
  std::uint8_t num_said = 0, num_discards = 0, num_plays = 0, tricks = 0, points = 0;  // the last two: the soloist's
  std::int8_t current = 0;                                                             // on turn while cards are played
  std::int8_t best_seat = 0;                                                           // of the trick under way
  std::uint8_t best_card = 0;
  std::uint8_t discards[kSkat] = {};
  std::uint8_t plays[kPlays] = {};
  std::int8_t player[kPlays] = {};  // of each play
  std::uint8_t said[kMaxAuction] = {};
  Auction auction;
  Contract contract;
  Cards dealt = 0, hand = 0;  // own: as dealt, and held now
  Cards taken = 0, laid = 0;  // own skat: picked up, laid away
  Cards shown = 0;            // cards of another soloist's ouvert hand that are still held
  Cards played[kPlayers] = {};
  Cards cannot[kPlayers] = {};  // cards that a seat is known not to hold

  int soloist() const { return auction.soloist; }
  bool declared() const { return stage >= Stage::kShow; }
  int lead() const { return num_plays % kPlayers ? plays[num_plays / kPlayers * kPlayers] : -1; }
  // The seat that acts with the next token, or -1 if that token is no action.
  int turn() const {
    switch (stage) {
      case Stage::kAuction: return auction.current();
      case Stage::kPickUp:
      case Stage::kDiscard:
      case Stage::kDeclare:
      case Stage::kAnnounce: return soloist();
      case Stage::kPlay: return current;
      default: return -1;
    }
  }
  bool my_turn() const { return stage != Stage::kSeat && turn() == seat; }

  // The cards that the seat does not see. The two functions below return their number in a hand and in the skat.
  Cards unseen() const { return kAll & ~(dealt | taken | played[0] | played[1] | played[2] | shown); }
  int hidden_in(int p) const {
    if (p == seat || (shown && p == soloist())) return 0;
    return kHand - std::popcount(played[p]);
  }
  int hidden_in_skat() const { return taken ? 0 : kSkat; }
  bool operator==(const SeatView&) const = default;
};

inline namespace TRICKFORMER_ISA {

// Returns whether the unseen cards can be placed: `a` and `b` cards in two hands that cannot hold some cards, and
// `skat` cards in the skat, which can hold any. By Hall's theorem it is sufficient that for each set of the three
// places the cards which must lie there fit.
inline bool can_lay(Cards unseen, Cards not_a, Cards not_b, int a, int b, int skat) {
  return count(unseen) == a + b + skat && count(unseen & not_a & not_b) <= skat && count(unseen & not_b) <= a + skat &&
         count(unseen & not_a) <= b + skat;
}

// A set of actions. Those below 64 are bits of `low`, the others bits of `high`.
struct ActionSet {
  std::uint64_t low = 0, high = 0;

  void add(int action) { (action < 64 ? low : high) |= std::uint64_t{1} << (action & 63); }
  bool has(int action) const { return action >= 0 && action < 128 && (action < 64 ? low : high) >> (action & 63) & 1; }
};

// The legal statements of the seat on turn in the auction and the declaration. They are public.
inline ActionSet legal_statements(const SeatView& v) {
  ActionSet set;
  switch (v.stage) {
    case SeatView::Stage::kAuction: {
      const LegalCalls may = legal_calls(v.auction);
      for (std::uint64_t rest = may.calls; rest; rest &= rest - 1) set.add(kCall + std::countr_zero(rest));
      set.add(kPass);
      if (may.hold) set.add(kHold);
      break;
    }
    case SeatView::Stage::kPickUp:
      set.add(kPickUp);
      set.add(kPlayHand);
      break;
    case SeatView::Stage::kDeclare:
      for (unsigned rest = declarations(v.auction.bid(), v.contract.hand); rest; rest &= rest - 1)
        set.add(kDeclare + std::countr_zero(rest));
      break;
    case SeatView::Stage::kAnnounce:
      for (int level = 0; level < 4; ++level) set.add(kAnnounce + level);
      break;
    default: break;
  }
  return set;
}

// The own legal cards when one is to be discarded or played at the own turn.
inline Cards own_cards(const SeatView& v) {
  if (v.stage == SeatView::Stage::kDiscard) return v.hand;
  return v.stage == SeatView::Stage::kPlay && v.current == v.seat ? legal_plays(v.contract.kind, v.hand, v.lead()) : 0;
}

// Returns whether another seat may play a card next in some deal that is consistent with the view.
inline bool playable(const SeatView& v, int card) {
  const int p = v.current, lead = v.lead();
  const Kind kind = v.contract.kind;
  if (v.shown && p == v.soloist()) return legal_plays(kind, v.shown, lead) & bit(card);
  const Cards unseen = v.unseen(), follow = lead < 0 ? kAll : followers(kind, lead);
  if (!(unseen & ~v.cannot[p] & bit(card))) return false;
  const int other = kPlayers - p - v.seat;
  const Cards not_p = v.cannot[p] | (follow & bit(card) ? 0 : follow);
  return can_lay(unseen ^ bit(card), not_p, v.cannot[other], v.hidden_in(p) - 1, v.hidden_in(other),
                 v.hidden_in_skat());
}

// The cards that another seat may play next in some deal that is consistent with the view. The answer for a card
// depends only on whether the card follows the lead and whether the third seat may hold it. So one card of each of
// these four groups is tested.
inline Cards playable(const SeatView& v) {
  const int p = v.current, lead = v.lead();
  if (v.shown && p == v.soloist()) return legal_plays(v.contract.kind, v.shown, lead);
  const Cards may = v.unseen() & ~v.cannot[p], follow = lead < 0 ? kAll : followers(v.contract.kind, lead);
  const Cards other = v.cannot[kPlayers - p - v.seat];
  Cards found = 0;
  for (int sort = 0; sort < 4; ++sort) {
    const Cards alike = may & (sort & 1 ? follow : ~follow) & (sort & 2 ? other : ~other);
    if (alike && playable(v, lowest(alike))) found |= alike;
  }
  return found;
}

// The cards that may come next in some deal that is consistent with the view.
inline Cards possible_cards(const SeatView& v) {
  switch (v.stage) {
    case SeatView::Stage::kDeal: return ascending(kAll, v.last, kHand - v.seen);
    case SeatView::Stage::kTake: return ascending(kAll & ~v.dealt, v.last, kSkat - v.seen);
    case SeatView::Stage::kShow: return ascending(v.unseen(), v.last, kHand - v.seen);
    case SeatView::Stage::kDiscard: return v.hand;
    case SeatView::Stage::kPlay: return v.current == v.seat ? own_cards(v) : playable(v);
    default: return 0;
  }
}

// Returns whether a token may come next, for all tokens except the end of the sequence.
inline bool may_come(const SeatView& v, int token) {
  if (v.stage == SeatView::Stage::kSeat) return token >= kSeatToken && token < kEndToken;
  if (v.stage == SeatView::Stage::kLead) return token == kSeatToken + v.current;
  if (token < 0) return false;
  if (v.stage == SeatView::Stage::kPlay && v.current != v.seat) return token < kNumCards && playable(v, token);
  return token < kNumCards ? possible_cards(v) >> token & 1 : legal_statements(v).has(token);
}

// Applies a token. An impossible token also advances the view, so every sequence ends. If it stands for a seat or a
// statement, it is replaced by a legal one. A card is taken as it is, and any other token in a card's place as no card.
inline void see(SeatView& v, int token) {
  using Stage = SeatView::Stage;
  const Cards card = token >= 0 && token < kNumCards ? bit(token) : 0;
  const auto next = [&](Stage stage) {
    v.stage = stage;
    v.seen = 0;
    v.last = -1;
  };
  const auto ascend = [&](Cards& to, int n, Stage after) {
    to |= card;
    if (card) v.last = std::int8_t(std::max<int>(v.last, token));
    if (v.seen == n) next(after);
  };
  ++v.seen;
  switch (v.stage) {
    case Stage::kSeat: v.seat = std::int8_t(std::clamp(token - kSeatToken, 0, kPlayers - 1)); return next(Stage::kDeal);
    case Stage::kDeal:
      ascend(v.dealt, kHand, Stage::kAuction);
      v.hand = v.dealt;
      return;
    case Stage::kAuction: {
      const int action = token >= kCall && token < kPickUp && legal_statements(v).has(token) ? token : kPass;
      v.said[v.num_said++] = std::uint8_t(action);
      say(v.auction, action);
      if (v.auction.over) next(v.auction.all_passed() ? Stage::kOver : Stage::kPickUp);
      return;
    }
    case Stage::kPickUp:
      v.contract.hand = token == kPlayHand;
      return next(v.contract.hand || v.soloist() != v.seat ? Stage::kDeclare : Stage::kTake);
    case Stage::kTake:
      ascend(v.taken, kSkat, Stage::kDiscard);
      v.hand = v.dealt | v.taken;
      return;
    case Stage::kDiscard:
      v.hand &= ~card;
      v.laid |= card;
      v.discards[v.num_discards++] = std::uint8_t(card ? token : 0);
      if (v.num_discards == kSkat) next(Stage::kDeclare);
      return;
    case Stage::kDeclare:
    case Stage::kAnnounce: {
      const bool declaring = v.stage == Stage::kDeclare;
      if (declaring) {
        const int declared = legal_statements(v).has(token) ? token - kDeclare : int(Kind::kGrand);
        v.contract.kind = declared == kNullOuvert ? Kind::kNull : Kind(declared);
        v.contract.level = declared == kNullOuvert ? Level::kOuvert : Level::kNone;
        if (v.contract.hand && v.contract.kind != Kind::kNull) return next(Stage::kAnnounce);
      } else {
        v.contract.level = Level(std::clamp(token - kAnnounce, 0, 3));
      }
      return next(v.contract.level == Level::kOuvert && v.soloist() != v.seat ? Stage::kShow : Stage::kLead);
    }
    case Stage::kShow: return ascend(v.shown, kHand, Stage::kLead);
    case Stage::kLead: return next(Stage::kPlay);
    case Stage::kPlay: break;
    case Stage::kOver: return;
  }
  const int p = v.current, in_trick = v.num_plays % kPlayers, played = card ? token : 0;
  const Kind kind = v.contract.kind;
  const int lead = in_trick ? v.lead() : played;
  v.player[v.num_plays] = std::int8_t(p);
  v.plays[v.num_plays++] = std::uint8_t(played);
  v.played[p] |= card;
  v.hand &= ~card;
  v.shown &= ~card;
  if (in_trick && !(followers(kind, lead) & card)) v.cannot[p] |= followers(kind, lead);
  lay(v, kind, lead, in_trick, p, played);
  if (in_trick < kPlayers - 1) {
    v.current = std::int8_t((p + 1) % kPlayers);
    return;
  }
  v.current = v.best_seat;
  if (v.best_seat == v.soloist()) {
    ++v.tricks;
    for (int i = 1; i <= kPlayers; ++i) v.points = std::uint8_t(v.points + kPoints[v.plays[v.num_plays - i] % 8]);
  }
  next(v.num_plays == kPlays || (kind == Kind::kNull && v.tricks) ? Stage::kOver : Stage::kLead);
}

// The result of a game that a seat has seen to the end; by then the skat is the cards that nobody played. A null game
// that ended early leaves cards unplayed, and its result does not depend on them.
inline Result result(const SeatView& v) {
  if (v.soloist() < 0) return {};
  const Cards skat = v.laid ? v.laid : v.contract.kind == Kind::kNull ? 0 : v.unseen();
  return settle(v.contract, v.auction.bid(), v.soloist(), v.played[v.soloist()] | skat, v.points + card_points(skat),
                v.tricks);
}

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer::skat
