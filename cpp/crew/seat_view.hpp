// The view of one seat of a mission, built token by token (crew/tokens.hpp). It is the C++ form of a Python View.
#pragma once
#include "crew/tokens.hpp"
#include "crew/ways.hpp"

namespace trickformer::crew {

// The cards that the viewer has not seen, and the facts about their holders. Index 0 is the viewer's left neighbour.
struct Knowledge {
  static constexpr int kOthers = kPlayers - 1;
  Cards unseen = 0;
  int need[kOthers] = {};      // number of unseen cards that each seat holds
  Cards cannot[kOthers] = {};  // cards that each seat does not hold
  Cards some[kOthers] = {};    // each seat holds at least one of these; 0: nothing known
  // each seat holds none of `above` or none of `below`; 0: nothing known
  Cards above[kOthers] = {}, below[kOthers] = {};
};

struct SeatView : PublicState {
  enum class Stage : std::uint8_t {
    kMission,
    kCommander,
    kHand,
    kMember,
    kLead,
    kGame,
    kOwner,
    kToken,
    kSpeaker,
    kReceive,
    kLost,
    kGained,
    kOver
  };

  Stage stage = Stage::kMission;
  std::int8_t seat = 0;
  std::uint8_t seen = 0;       // tokens of the mission, or cards of the hand, so far
  std::int8_t last_card = -1;  // last card dealt; they come in ascending order
  std::int8_t speaker = 0;
  std::uint8_t given = 0;  // the task that was assigned last
  bool drawn = false;      // whether cards have been drawn from hands
  std::uint8_t prefix[kMaxPrefix] = {};
  // cards passed on, received, drawn from the own hand, drawn by it
  std::uint8_t passed = 0, received = 0, lost = 0, gained = 0;
  Cards dealt = 0, hand = 0;  // own cards: as dealt, and held now
  Cards has[kPlayers] = {};   // cards that another seat is known to hold now
  Cards cannot[kPlayers] = {}, some[kPlayers] = {}, above[kPlayers] = {}, below[kPlayers] = {};  // as in Knowledge

  bool ended() const { return stage == Stage::kOver; }
  // The seat that acts next, or -1 if chance acts or the rules imply the next token.
  int turn() const {
    return stage != Stage::kGame || phase == Phase::kReveal || phase == Phase::kDraw ? -1 : int(current);
  }
  bool my_turn() const { return turn() == seat && stage == Stage::kGame; }
  Cards unseen() const { return kAll & ~(played | hand | has[0] | has[1] | has[2] | has[3]); }
};

inline namespace TRICKFORMER_ISA {

// Returns whether the unseen cards can be dealt out. It first resolves what is known from messages, then tests Hall's
// condition on the three hands.
inline bool can_lay(const Knowledge& k) {
  constexpr int kOthers = Knowledge::kOthers;
  for (int p = 0; p < kOthers; ++p) {
    if (!k.above[p] || !k.below[p]) continue;
    for (const Cards none : {k.above[p], k.below[p]}) {
      Knowledge one = k;
      one.above[p] = one.below[p] = 0;
      one.cannot[p] |= none;
      if (can_lay(one)) return true;
    }
    return false;
  }
  int total = 0;
  for (int p = 0; p < kOthers; ++p) {
    if (k.need[p] < 0) return false;
    total += k.need[p];
  }
  if (total != count(k.unseen)) return false;
  for (int bound = 0; bound < 7; ++bound) {  // set of hands that some cards are bound to
    Cards only = k.unseen;
    int room = 0;
    for (int p = 0; p < kOthers; ++p)
      if (bound >> p & 1)
        room += k.need[p];
      else
        only &= k.cannot[p];
    if (count(only) > room) return false;
  }
  for (int p = 0; p < kOthers; ++p) {
    if (!k.some[p]) continue;
    for (Cards rest = k.some[p] & k.unseen & ~k.cannot[p]; rest;) {
      Knowledge one = k;
      one.some[p] = 0;
      one.unseen ^= bit(take_lowest(rest));
      --one.need[p];
      if (can_lay(one)) return true;
    }
    return false;
  }
  return true;
}

inline Knowledge knowledge(const SeatView& v) {
  Knowledge k;
  k.unseen = v.unseen();
  const int in_trick = v.num_plays % kPlayers;
  for (int i = 0; i < Knowledge::kOthers; ++i) {
    const int p = next_seat(v.seat, 1 + i);
    const bool has_played = relative(p, v.leader) < in_trick;
    k.need[i] = kHand - v.num_plays / kPlayers - has_played - count(v.has[p]);
    k.cannot[i] = v.cannot[p];
    k.some[i] = v.some[p];
    k.above[i] = v.above[p];
    k.below[i] = v.below[p];
  }
  return k;
}

// Adds to the knowledge that seat p holds `card`. Returns false if that is impossible.
inline bool place(Knowledge& k, const SeatView& v, int p, int card) {
  const int i = relative(p, v.seat) - 1;
  if (v.has[p] >> card & 1) return true;
  if (!(k.unseen >> card & 1) || (k.cannot[i] >> card & 1)) return false;
  k.unseen ^= bit(card);
  --k.need[i];
  if (k.some[i] >> card & 1) k.some[i] = 0;
  if (k.above[i] >> card & 1) {
    k.cannot[i] |= k.below[i];
    k.above[i] = k.below[i] = 0;
  }
  if (k.below[i] >> card & 1) {
    k.cannot[i] |= k.above[i];
    k.above[i] = k.below[i] = 0;
  }
  return true;
}

// The information in a message about the rest of a hand of which `has` is known.
inline Claim claim(int label, int card, Cards has) {
  Claim c;
  const Cards up = higher(card), down = lower(card);
  if (label == kUnlabelled) {
    if (has & up && has & down) c.holds = false;
    if (has & up)
      c.cannot = down;
    else if (has & down)
      c.cannot = up;
    else {
      c.above = up;
      c.below = down;
    }
    if (!up || !down) c.above = c.below = 0;
    return c;
  }
  c.cannot = label == kHighest ? up : label == kLowest ? down : up | down;
  c.some = label == kHighest ? down : label == kLowest ? up : 0;
  c.holds = !(has & c.cannot) && (label == kOnly || c.some);
  if (has & c.some) c.some = 0;
  return c;
}

// Returns those of `cards` that another seat p may hold now in some deal that is consistent with the view, if
// claim_of(card) is true of the rest of its hand. Returns at most one card if `any`. by_suit: the claim is the same for
// all cards of a suit and does not concern the suit's other cards, so that one card of each kind is tested for all.
template <typename ClaimOf>
Cards holdable(const SeatView& v, int p, Cards cards, ClaimOf claim_of, bool any = false, bool by_suit = false) {
  Cards found = 0;
  const int i = relative(p, v.seat) - 1;
  const auto collect = [&](auto possible) {
    for (cards &= v.unseen() | v.has[p]; cards && !(any && found);) {
      const int card = take_lowest(cards);
      const Claim c = claim_of(card);
      if (c.holds && possible(card, c)) found |= bit(card);
    }
  };
  if (v.drawn) {  // earlier information about a hand no longer binds one single hand
    const Ways base(v);
    std::uint32_t kinds[kNumCards];
    bool is_holdable[kNumCards];
    int num_kinds = 0;
    collect([&](int card, const Claim& c) {
      const std::uint32_t kind = base.kind(card);
      for (int k = 0; k < num_kinds && by_suit; ++k)
        if (kinds[k] == kind) return is_holdable[k];
      Ways ways = base;
      ways.narrow(p, card, c);
      kinds[num_kinds] = kind;
      return is_holdable[num_kinds++] = ways.possible();
    });
  } else {
    const Knowledge base = knowledge(v);
    collect([&](int card, const Claim& c) {
      Knowledge k = base;
      if (!place(k, v, p, card)) return false;
      k.cannot[i] |= c.cannot;
      if (c.some) k.some[i] = c.some;
      if (c.above) {
        k.above[i] = c.above;
        k.below[i] = c.below;
      }
      return can_lay(k);
    });
  }
  return found;
}

// Returns those of `cards` that another seat may show next under a label.
inline Cards showable(const SeatView& v, int p, int label, Cards cards = kAll, bool any = false) {
  return holdable(v, p, cards & ~kRockets, [&](int c) { return claim(label, c, v.has[p] & ~bit(c)); }, any);
}

// Returns those of `cards` that another seat may play next.
inline Cards playable(const SeatView& v, Cards cards) {
  const int p = v.current, lead = v.lead();
  const Cards follow = lead < 0 ? kAll : suit_cards(suit(lead));
  return holdable(
      v, p, cards,
      [&](int card) {
        Claim c;
        if (!(follow & bit(card))) {
          c.cannot = follow;
          c.holds = !(v.has[p] & follow);
        }
        return c;
      },
      false, true);
}

// The actions that are possible for the seat on turn: the legal ones for the own seat, those that are legal in some
// deal for another. Only actions in `among` are tested, which saves time; others may be missing from the result.
inline Actions may_do(const SeatView& v, Actions among = ~Actions{0}) {
  if (v.phase == Phase::kReveal) {
    Cards left = kAll & ~kRockets;
    for (int i = 0; i < v.revealed; ++i) left &= ~bit(v.tasks[i].card);
    return left;
  }
  if (v.current == v.seat || v.phase < Phase::kPass) return legal(v, v.hand);
  if (v.phase == Phase::kPlay) return playable(v, among);
  if (v.phase == Phase::kRadioCard) return showable(v, v.current, v.label, among);
  Actions set = 0;
  if (v.phase == Phase::kRadio) {
    set = action(kSilent);
    const bool dead = v.mission.communication == Communication::kDeadZone;
    for (int label = dead ? kUnlabelled : kHighest; label <= (dead ? kUnlabelled : kLowest); ++label)
      if (among & action(label) && showable(v, v.current, label, kAll, true)) set |= action(label);
  }
  return set;
}

// The cards that may come next when only this seat sees the card.
inline Cards own_card(const SeatView& v) {
  switch (v.stage) {
    case SeatView::Stage::kHand: {
      Cards cards = kAll & ~((Cards{1} << (v.last_card + 1)) - 1);
      if (v.commander != v.seat) cards &= ~bit(kCommandersCard);
      int still = kHand - v.seen;
      if (v.commander == v.seat) {  // cards ascend, so the commander's card is the last one
        if (still == 1) return bit(kCommandersCard);
        cards &= ~bit(kCommandersCard);
        --still;
      }
      for (int drop = still - 1; drop > 0 && cards; --drop) cards &= ~bit(highest(cards));
      return cards;
    }
    case SeatView::Stage::kReceive: {
      const int giver = next_seat(v.seat, kPlayers - v.mission.distress);
      return (v.unseen() | v.has[giver]) & ~kRockets & ~bit(v.passed);
    }
    case SeatView::Stage::kLost: return drawable(v, v.seat, v.hand);
    case SeatView::Stage::kGained: {
      const int giver = next_seat(v.seat, 3);
      return holdable(v, giver, drawable(v, giver, kAll), [](int) { return Claim{}; }, false, true);
    }
    default: return 0;
  }
}

// The token of a card that is played. by: the seat that plays it, counted from the viewer; 0 is the viewer.
constexpr int play_token(int by, int card) { return by ? kPlayToken + (by - 1) * kNumCards + card : card; }

// Converts a token to the action of the acting seat, or -1 if it is not an action of that seat; and back.
inline int as_action(const SeatView& v, int token) {
  if (token >= kSeat && token < kTile) return kSeat + relative(next_seat(v.seat, token - kSeat), v.current);
  const int by = v.phase == Phase::kPlay ? relative(v.current, v.seat) : 0;
  if (!by) return token;
  const int card = token - play_token(by, 0);
  return card >= 0 && card < kNumCards ? card : -1;
}
inline int as_token(const SeatView& v, int act) {
  if (act >= kSeat && act < kTile) return kSeat + relative(next_seat(v.current, act - kSeat), v.seat);
  return v.phase == Phase::kPlay ? play_token(relative(v.current, v.seat), act) : act;
}

inline void learn(SeatView& v, int p, const Claim& c) {
  v.cannot[p] |= c.cannot;
  v.some[p] = c.some;
  v.above[p] = c.above;
  v.below[p] = c.below;
}

// Updates the view when another seat p shows or plays a card.
inline void reveal_held(SeatView& v, int p, int card) {
  if (v.some[p] >> card & 1) v.some[p] = 0;
  if (v.above[p] >> card & 1) {
    v.cannot[p] |= v.below[p];
    v.above[p] = v.below[p] = 0;
  }
  if (v.below[p] >> card & 1) {
    v.cannot[p] |= v.above[p];
    v.above[p] = v.below[p] = 0;
  }
}

// Called when the hand has been dealt and the holder of the pink 9 is known.
inline void begin(SeatView& v) {
  const int holder = v.member >= 0 ? next_seat(v.member, 3) : 0;
  const Mission mission = v.mission;
  begin(static_cast<PublicState&>(v), mission, v.commander, holder);
  v.hand = v.dealt;
  if (v.commander != v.seat) v.has[v.commander] |= bit(kCommandersCard);
  if (mission.has(Rule::kAllPink) && holder != v.seat) v.has[holder] |= bit(kPinkNine);
}

// The next token if the rules imply it, else -1.
inline int implied_token(const SeatView& v) {
  switch (v.stage) {
    case SeatView::Stage::kLead: return kSeat + relative(v.leader, v.seat);
    case SeatView::Stage::kOwner: return kSeat + relative(v.tasks[v.given].owner, v.seat);
    case SeatView::Stage::kToken: return kTile + v.tasks[v.given].tile;
    case SeatView::Stage::kSpeaker: return kSeat + relative(v.speaker, v.seat);
    case SeatView::Stage::kOver: return kEndToken;
    default: return -1;
  }
}

// Sets the stage of the view by its phase. fresh: whether the leader of a new trick may come next.
inline void settle_stage(SeatView& v, bool fresh) {
  v.stage = v.over()                      ? SeatView::Stage::kOver
            : fresh && v.at_trick_start() ? SeatView::Stage::kLead
            : v.phase == Phase::kDraw     ? SeatView::Stage::kLost
                                          : SeatView::Stage::kGame;
}

// After a distress pass, the pink 9 is with its former holder or with the seat to which the holder passed. The view
// marks that no other seat can hold it.
inline void pass_pink_nine(SeatView& v) {
  const int holder = next_seat(v.member, 3), to = next_seat(holder, v.mission.distress);
  v.has[holder] &= ~bit(kPinkNine);
  if (v.hand >> kPinkNine & 1 || v.passed == kPinkNine) return;
  for (int p = 0; p < kPlayers; ++p)
    if (p != v.seat && p != holder && p != to) v.cannot[p] |= bit(kPinkNine);
}

// Applies a token of the course of the game. An impossible action is read as a possible one, so that every sequence
// ends.
inline void see_action(SeatView& v, int token) {
  const int p = v.current;
  const Phase before = v.phase;
  int act = as_action(v, token);
  if (before == Phase::kPlay || before == Phase::kRadioCard) {
    if (act < 0 || act >= kNumCards) act = lowest(v.unseen() | v.hand | 1);
  } else if (before != Phase::kPass) {
    const Actions may = v.phase == Phase::kRadio ? action(kSilent) | Actions{15} << kHighest : may_do(v);
    if (act < 0 || act >= kActions || !(may >> act & 1)) act = lowest(may | Actions{1} << 63) & 63;
    if (act == 63) act = kSilent;
  }
  switch (before) {
    case Phase::kPass:
      if (p == v.seat) {
        v.passed = std::uint8_t(act >= 0 && act < kNumCards ? act : lowest(v.hand));
        v.hand &= ~bit(v.passed);
      }
      if (pass(v)) v.stage = SeatView::Stage::kReceive;
      return;
    case Phase::kRadioCard:
      if (p != v.seat) {
        const Claim c = claim(v.label, act, v.has[p] & ~bit(act));
        reveal_held(v, p, act);
        v.has[p] |= bit(act);
        learn(v, p, c);
      }
      v.speaker = std::int8_t(p);
      show(v, act);
      v.stage = SeatView::Stage::kSpeaker;
      return;
    case Phase::kPlay: {
      const int lead = v.lead();
      v.hand &= ~bit(act);
      for (Cards& has : v.has) has &= ~bit(act);
      if (p != v.seat) {
        reveal_held(v, p, act);
        if (lead >= 0 && suit(act) != suit(lead)) v.cannot[p] |= suit_cards(suit(lead));
      }
      break;
    }
    default: break;
  }
  const int owned = v.owned;
  apply(v, act);
  settle_stage(v, before != Phase::kRadio);
  if (v.owned == owned) return;
  v.given = std::uint8_t(before == Phase::kDraft ? task_of_card(v, act) : v.owned - 1);
  if (before != Phase::kAppoint)
    v.stage = SeatView::Stage::kOwner;
  else if (v.tasks[v.given].tile != kNoTile)
    v.stage = SeatView::Stage::kToken;
}

// Applies a token after the mission is complete (Logbook::see).
inline void see(SeatView& v, int token) {
  using Stage = SeatView::Stage;
  const int card = token >= 0 && token < kNumCards ? token : -1;
  const auto own = [&] { return card >= 0 ? card : lowest(own_card(v) | bit(kNumCards - 1)); };
  switch (v.stage) {
    case Stage::kCommander:
      v.commander = std::int8_t(next_seat(v.seat, token - kSeat));
      v.stage = Stage::kHand;
      v.seen = 0;
      return;
    case Stage::kHand:
      v.last_card = std::int8_t(std::max<int>(v.last_card, own()));
      v.dealt |= bit(v.last_card);
      if (++v.seen < kHand) return;
      v.stage = Stage::kMember;
      if (v.mission.has(Rule::kAllPink)) return;
      begin(v);
      return settle_stage(v, true);
    case Stage::kMember:
      v.member = std::int8_t(next_seat(v.seat, token - kSeat));
      begin(v);
      return settle_stage(v, true);
    case Stage::kLead: v.stage = Stage::kGame; return;
    case Stage::kOwner:
      if (v.tasks[v.given].tile == kNoTile) return settle_stage(v, true);
      v.stage = Stage::kToken;
      return;
    case Stage::kToken: return settle_stage(v, true);
    case Stage::kSpeaker: return settle_stage(v, false);
    case Stage::kReceive: {
      v.received = std::uint8_t(own());
      v.hand |= bit(v.received);
      for (Cards& has : v.has) has &= ~bit(v.received);
      v.has[next_seat(v.seat, v.mission.distress)] |= bit(v.passed);
      if (v.mission.has(Rule::kAllPink)) pass_pink_nine(v);
      return settle_stage(v, true);
    }
    case Stage::kLost:
      v.lost = std::uint8_t(own());
      v.stage = Stage::kGained;
      return;
    case Stage::kGained:
      v.gained = std::uint8_t(own());
      v.hand = (v.hand & ~bit(v.lost)) | bit(v.gained);
      for (int p = 0; p < kPlayers; ++p) {  // from now on the ways of the cards tell who can hold them (crew/ways.hpp)
        v.has[p] &= v.message[p].label ? bit(v.message[p].card) : 0;
        v.cannot[p] = v.some[p] = v.above[p] = v.below[p] = 0;
      }
      v.has[next_seat(v.seat)] |= bit(v.lost);
      v.drawn = true;
      v.step = kPlayers;
      begin_trick(v);
      return settle_stage(v, true);
    case Stage::kGame: return see_action(v, token);
    default: return;
  }
}

}  // namespace TRICKFORMER_ISA
}  // namespace trickformer::crew
