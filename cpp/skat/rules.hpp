// The rules of Skat (ISkO): auction, skat, declaration, card play, scores. Forehand is seat 0.
//
// A decision is one action. 0-31 are cards; then come the 63 calls of the auction, ascending, and the other statements.
#pragma once
#include <algorithm>

#include "skat/types.hpp"

namespace trickformer::skat {

inline constexpr int kCalls = 63;
inline constexpr std::int16_t kCallValues[kCalls] = {
    18,  20,  22,  23,  24,  27,  30,  33,  35,  36,  40,  44,  45,  46,  48,  50,  54,  55,  59,  60,  63,
    66,  70,  72,  77,  80,  81,  84,  88,  90,  96,  99,  100, 108, 110, 117, 120, 121, 126, 130, 132, 135,
    140, 143, 144, 150, 153, 154, 156, 160, 162, 165, 168, 170, 176, 180, 187, 192, 198, 204, 216, 240, 264};

inline constexpr int kHighestBid = kCallValues[kCalls - 1];

inline constexpr int kCall = kNumCards, kPass = kCall + kCalls, kHold = kPass + 1, kPickUp = kHold + 1,
                     kPlayHand = kPickUp + 1,
                     kDeclare = kPlayHand + 1,  // diamonds, hearts, spades, clubs, grand, null, null ouvert
    kAnnounce = kDeclare + 7,                   // nothing, schneider, schwarz, ouvert
    kActions = kAnnounce + 4;
inline constexpr int kNullOuvert = 6;  // of the seven declarations
// The longest auction has every call made and held; then both players who do not hold the last one pass.
inline constexpr int kMaxAuction = 2 * kCalls + 2;
inline constexpr int kMaxActions = kMaxAuction + 1 + kSkat + 1 + kPlays;  // of the players

enum class Phase : std::uint8_t { kAuction, kPickUp, kDiscard, kDeclare, kAnnounce, kPlay, kOver };
// The level announced. Each level includes those before it.
enum class Level : std::uint8_t { kNone, kSchneider, kSchwarz, kOuvert };

// The auction, without cards. Middlehand calls to forehand, then rearhand to the one who is left.
struct Auction {
  std::int8_t caller = 1, listener = 0, soloist = -1;
  std::int8_t called = -1;                         // index of the highest call, or -1
  bool reply = false, over = false, last = false;  // reply: the listener must answer; last: forehand is alone
  bool rear = false;                               // whether rearhand is calling

  std::int16_t bid() const { return called < 0 ? std::int16_t{0} : kCallValues[called]; }
  int current() const { return reply || last ? listener : caller; }
  bool all_passed() const { return over && soloist < 0; }
  bool operator==(const Auction&) const = default;
};

// A contract: the result of the declaration.
struct Contract {
  Kind kind = Kind::kGrand;
  bool hand = false;
  Level level = Level::kNone;

  bool operator==(const Contract&) const = default;
};

// A game of Skat from the deal on.
struct State {
  Cards hand[kPlayers];  // held now
  Cards skat;            // the two cards that lie there: as dealt, or discarded
  Cards dealt_skat;
  Auction auction;
  Contract contract;
  Phase phase;
  std::int8_t current, leader;  // leader: of the trick under way
  std::uint8_t discarded, num_plays;
  std::int8_t best_seat;  // of the trick under way
  std::uint8_t best_card;
  std::uint8_t plays[kPlays];
  std::uint8_t tricks;   // of the soloist
  std::uint8_t points;   // card points in the soloist's tricks
  Cards soloists_cards;  // hand and skat, from which matadors are counted
};

// The result of a game.
struct Result {
  std::int8_t soloist = -1;  // -1: all passed
  bool won = false, overbid = false, schneider = false, schwarz = false;
  std::int8_t matadors = 0;  // with: positive; without: negative; 0 in null
  std::int16_t points = 0;   // card points of the soloist, skat included
  std::int8_t tricks = 0;
  std::int16_t value = 0;  // of a won game; for a lost one minus twice the value
};

inline namespace TRICKFORMER_ISA {

constexpr int null_value(bool hand, bool ouvert) { return ouvert ? (hand ? 59 : 46) : (hand ? 35 : 23); }

// Number of jacks from clubs down, then the other trumps from the ace down, that are held in one unbroken row, or that
// are missing from the top. The row is collected first because GCC 12.2 at -O3 miscompiles a loop that tests one card
// after the other and stops.
inline int matadors(Kind kind, Cards soloists) {
  if (kind == Kind::kNull) return 0;
  unsigned row = 0;
  int n = 0;
  for (int suit = 3; suit >= 0; --suit) row |= (soloists >> (8 * suit + 7) & 1) << n++;
  if (is_suit(kind))
    for (int rank = 6; rank >= 0; --rank) row |= (soloists >> (8 * int(kind) + rank) & 1) << n++;
  return row & 1 ? std::countr_one(row) : -std::countr_zero(row | 1u << n);
}

// The lowest multiple of the game's base that covers a bid.
inline int covering_value(Kind kind, int bid) {
  const int base = kBase[int(kind)];
  return (bid + base - 1) / base * base;
}

// The value of a game that ended with these card points and tricks of the soloist.
inline Result settle(const Contract& c, int bid, int soloist, Cards soloists_cards, int points, int tricks) {
  Result r;
  r.soloist = std::int8_t(soloist);
  r.points = std::int16_t(points);
  r.tricks = std::int8_t(tricks);
  if (c.kind == Kind::kNull) {
    const int value = null_value(c.hand, c.level == Level::kOuvert);
    r.overbid = value < bid;
    r.won = tricks == 0 && !r.overbid;
    r.value = std::int16_t(r.won ? value : -2 * value);
    return r;
  }
  r.matadors = std::int8_t(matadors(c.kind, soloists_cards));
  r.schneider = points >= 90 || points <= 30;
  r.schwarz = tricks == kTricks || tricks == 0;
  const bool announced_schneider = c.level >= Level::kSchneider, announced_schwarz = c.level >= Level::kSchwarz;
  const int multiplier = std::abs(r.matadors) + 1 + c.hand + (r.schneider || announced_schneider) +
                         announced_schneider + (r.schwarz || announced_schwarz) + announced_schwarz +
                         (c.level == Level::kOuvert);
  int value = kBase[int(c.kind)] * multiplier;
  r.won = points >= 61 && (!announced_schneider || points >= 90) && (!announced_schwarz || tricks == kTricks);
  if (value < bid) {
    r.overbid = true;
    r.won = false;
    value = covering_value(c.kind, bid);
  }
  r.value = std::int16_t(r.won ? value : -2 * value);
  return r;
}

// Scores by seat: extended Seeger-Fabian at a table of three, or the plain value to the soloist.
inline void scores(const Result& r, bool seeger, std::int16_t out[kPlayers]) {
  for (int p = 0; p < kPlayers; ++p) {
    if (r.soloist < 0)
      out[p] = 0;
    else if (p == r.soloist)
      out[p] = std::int16_t(r.value + (!seeger ? 0 : r.won ? 50 : -50));
    else
      out[p] = seeger && !r.won ? 40 : 0;
  }
}

// The legal statements in an auction: bit i for call i, and whether the listener may hold. Passing is always legal.
struct LegalCalls {
  std::uint64_t calls;
  bool hold;
};

inline LegalCalls legal_calls(const Auction& a) {
  if (a.reply) return {0, true};
  if (a.last) return {1, false};
  const std::uint64_t all = (std::uint64_t{1} << kCalls) - 1;
  return {all & ~((std::uint64_t{1} << (a.called + 1)) - 1), false};
}

inline void say(Auction& a, int action) {
  const auto settle_on = [&](int seat) {
    a.soloist = std::int8_t(seat);
    a.over = true;
  };
  const auto rearhand_calls_to = [&](int seat) {
    a.rear = true;
    a.caller = 2;
    a.listener = std::int8_t(seat);
    a.reply = false;
  };
  if (action != kPass && action != kHold) {
    a.called = std::int8_t(action - kCall);
    if (a.last) return settle_on(a.listener);
    a.reply = true;
  } else if (action == kHold) {
    a.reply = false;
  } else if (a.last) {
    a.over = true;
  } else if (a.reply) {  // the listener gives way
    if (a.rear) return settle_on(a.caller);
    rearhand_calls_to(a.caller);
  } else if (!a.rear) {  // middlehand gives way
    rearhand_calls_to(a.listener);
  } else if (a.called < 0) {
    a.last = true;
  } else {
    settle_on(a.listener);
  }
}

inline State new_game(const Cards hands[kPlayers], Cards skat) {
  State s{};
  for (int p = 0; p < kPlayers; ++p) s.hand[p] = hands[p];
  s.skat = s.dealt_skat = skat;
  s.current = std::int8_t(s.auction.current());
  return s;
}

// The cards that a hand may play to a trick. lead: the first card of the trick, or -1.
inline Cards legal_plays(Kind kind, Cards hand, int lead) {
  if (lead < 0) return hand;
  const Cards follow = hand & followers(kind, lead);
  return follow ? follow : hand;
}

inline int lead_of(const State& s) { return s.num_plays % kPlayers ? s.plays[s.num_plays / kPlayers * kPlayers] : -1; }

inline Cards legal_cards(const State& s) {
  if (s.phase == Phase::kDiscard) return s.hand[s.current];
  return s.phase == Phase::kPlay ? legal_plays(s.contract.kind, s.hand[s.current], lead_of(s)) : 0;
}

// The declarations, of seven, that a bid allows: the value of a null game must cover it.
inline unsigned declarations(int bid, bool hand) {
  unsigned legal = 0x1f;
  if (null_value(hand, false) >= bid) legal |= 1u << int(Kind::kNull);
  if (null_value(hand, true) >= bid) legal |= 1u << kNullOuvert;
  return legal;
}

// Writes the legal actions in ascending order and returns their number. out must have room for kCalls + 1.
inline int legal_actions(const State& s, std::uint8_t* out) {
  int n = 0;
  const auto add = [&](int action) { out[n++] = std::uint8_t(action); };
  switch (s.phase) {
    case Phase::kAuction: {
      const LegalCalls may = legal_calls(s.auction);
      for (std::uint64_t rest = may.calls; rest; rest &= rest - 1) add(kCall + std::countr_zero(rest));
      add(kPass);
      if (may.hold) add(kHold);
      return n;
    }
    case Phase::kPickUp:
      add(kPickUp);
      add(kPlayHand);
      return n;
    case Phase::kDeclare:
      for (unsigned rest = declarations(s.auction.bid(), s.contract.hand); rest; rest &= rest - 1)
        add(kDeclare + std::countr_zero(rest));
      return n;
    case Phase::kAnnounce:
      for (int level = 0; level < 4; ++level) add(kAnnounce + level);
      return n;
    case Phase::kDiscard:
    case Phase::kPlay:
      for (Cards rest = legal_cards(s); rest;) add(take_lowest(rest));
      return n;
    case Phase::kOver: return 0;
  }
  return 0;
}

inline bool is_legal(const State& s, int action) {
  if (action < 0 || action >= kActions) return false;
  if (action < kNumCards) return legal_cards(s) & bit(action);
  std::uint8_t legal[kActions];
  const int n = legal_actions(s, legal);
  return std::find(legal, legal + n, action) != legal + n;
}

inline void begin_play(State& s) {
  s.phase = Phase::kPlay;
  s.current = s.leader = 0;
}

// Adds a card to the current trick of any struct with these members: the winning seat and its card.
template <typename Trick>
void lay(Trick& t, Kind kind, int lead, int in_trick, int seat, int card) {
  if (in_trick && strength(kind, lead, card) <= strength(kind, lead, t.best_card)) return;
  t.best_card = std::uint8_t(card);
  t.best_seat = std::int8_t(seat);
}

inline void apply_play(State& s, int card) {
  const int seat = s.current, soloist = s.auction.soloist;
  const Kind kind = s.contract.kind;
  const int in_trick = s.num_plays % kPlayers, lead = in_trick ? lead_of(s) : card;
  s.hand[seat] ^= bit(card);
  s.plays[s.num_plays++] = std::uint8_t(card);
  lay(s, kind, lead, in_trick, seat, card);
  if (in_trick < kPlayers - 1) {
    s.current = std::int8_t((seat + 1) % kPlayers);
    return;
  }
  s.current = s.leader = s.best_seat;
  if (s.best_seat == soloist) {
    const std::uint8_t* trick = s.plays + s.num_plays - kPlayers;
    ++s.tricks;
    s.points = std::uint8_t(s.points + kPoints[trick[0] % 8] + kPoints[trick[1] % 8] + kPoints[trick[2] % 8]);
  }
  if (s.num_plays == kPlays || (kind == Kind::kNull && s.tricks)) s.phase = Phase::kOver;
}

// Applies a legal action.
inline void apply(State& s, int action) {
  switch (s.phase) {
    case Phase::kAuction:
      say(s.auction, action);
      s.current = std::int8_t(s.auction.current());
      if (!s.auction.over) return;
      s.phase = s.auction.all_passed() ? Phase::kOver : Phase::kPickUp;
      if (s.phase == Phase::kPickUp) {
        s.current = s.auction.soloist;
        s.soloists_cards = s.hand[s.current] | s.skat;
      }
      return;
    case Phase::kPickUp:
      s.contract.hand = action == kPlayHand;
      s.phase = s.contract.hand ? Phase::kDeclare : Phase::kDiscard;
      if (s.contract.hand) return;
      s.hand[s.current] |= s.skat;
      s.skat = 0;
      return;
    case Phase::kDiscard:
      s.hand[s.current] ^= bit(action);
      s.skat |= bit(action);
      if (++s.discarded == kSkat) s.phase = Phase::kDeclare;
      return;
    case Phase::kDeclare: {
      const int declared = action - kDeclare;
      s.contract.kind = declared == kNullOuvert ? Kind::kNull : Kind(declared);
      if (declared == kNullOuvert) s.contract.level = Level::kOuvert;
      if (s.contract.hand && s.contract.kind != Kind::kNull)
        s.phase = Phase::kAnnounce;
      else
        begin_play(s);
      return;
    }
    case Phase::kAnnounce:
      s.contract.level = Level(action - kAnnounce);
      begin_play(s);
      return;
    case Phase::kPlay: apply_play(s, action); return;
    case Phase::kOver: return;
  }
}

// The result of a game that is over.
inline Result result(const State& s) {
  if (s.auction.soloist < 0) return {};
  return settle(s.contract, s.auction.bid(), s.auction.soloist, s.soloists_cards, s.points + card_points(s.skat),
                s.tricks);
}

// Deals a shuffled deck: ten cards to each of the seats 0, 1, 2, and two to the skat.
inline void shuffle_deal(Rng& rng, std::uint8_t deck[kNumCards], Cards hands[kPlayers], Cards& skat) {
  for (int i = 0; i < kNumCards; ++i) deck[i] = std::uint8_t(i);
  hands[0] = hands[1] = hands[2] = skat = 0;
  for (int i = 0; i < kNumCards; ++i) {
    std::swap(deck[i], deck[i + int(rng.below(std::uint32_t(kNumCards - i)))]);
    (i < kPlayers * kHand ? hands[i / kHand] : skat) |= bit(deck[i]);
  }
}

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer::skat
