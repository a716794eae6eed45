#include "skat/rules_player.hpp"

#include "skat/hand.hpp"

namespace trickformer::skat {
namespace {

// Bids step by step: the next call up, or holding the call, as far as the hand is worth it.
int say_next(const SeatView& v) {
  const int limit = prospect(v.dealt, v.seat == 0).limit;
  if (v.auction.reply) return v.auction.bid() <= limit ? kHold : kPass;
  const std::uint64_t calls = legal_calls(v.auction).calls;
  const int next = calls ? std::countr_zero(calls) : kCalls;
  return next < kCalls && kCallValues[next] <= limit ? kCall + next : kPass;
}

}  // namespace

int rules_player(const SeatView& v) {
  using Stage = SeatView::Stage;
  const bool forehand = v.seat == 0;
  const int bid = v.auction.bid();
  switch (v.stage) {
    case Stage::kAuction: return say_next(v);
    case Stage::kPickUp:
      return choose_hand_contract(v.dealt, bid, forehand).score > prospect(v.dealt, forehand).score ? kPlayHand
                                                                                                    : kPickUp;
    case Stage::kDiscard: return lowest(choose_contract(v.dealt | v.taken, v.laid, bid, forehand).laid & ~v.laid);
    case Stage::kDeclare:
    case Stage::kAnnounce: {
      const Choice choice = v.contract.hand ? choose_hand_contract(v.dealt, bid, forehand)
                                            : choose_contract(v.dealt | v.taken, v.laid, bid, forehand);
      if (v.stage == Stage::kAnnounce) return kAnnounce + int(choice.level);
      return choice.kind == Kind::kNull && choice.level == Level::kOuvert ? kDeclare + kNullOuvert
                                                                          : kDeclare + int(choice.kind);
    }
    default: return v.contract.kind == Kind::kNull ? rules_null_card(v) : rules_card(v);
  }
}

}  // namespace trickformer::skat
