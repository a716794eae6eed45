// The view of one seat of Hanabi, token by token, and the tokens that may come next.
//
// The view runs the rules themselves, with the own cards and the deck unknown. Hints restrict each own card separately,
// never several together. So the question whether a consistent deal exists becomes: can the own slots, each with its
// set of kinds, be filled with unseen cards? Hall's condition answers it.
#pragma once
#include <span>
#include <utility>

#include "core/tracker.hpp"
#include "hanabi/marks.hpp"
#include "hanabi/tokens.hpp"

namespace trickformer::hanabi {

inline constexpr std::uint8_t kUnknown = 255;

// Returns whether the slots, each with its set of possible kinds, can be filled with the cards that are left.
bool fits(const std::uint32_t* kinds, int slots, const Copies& unseen);

struct SeatView {
  enum class Stage : std::uint8_t { kSeat, kDeal, kMove, kCard, kDraw, kSlots, kOver };

  State state;  // own cards and those in the deck are kUnknown
  // dealt: number of cards of the deal seen so far; pending: the action whose effect comes next
  std::uint8_t seat = 0, dealt = 0, pending = 0;
  Stage stage = Stage::kSeat;
  bool ended = false;  // whether the end token was seen

  explicit SeatView(const Rules& rules) { state.rules = rules; }

  bool my_turn() const { return stage == Stage::kMove && state.player == seat; }
  int size() const { return state.sizes[seat]; }
  std::uint32_t kinds(int slot) const;  // kinds that hints allow for an own card
  Copies unseen() const;                // cards that the seat has not seen: its own and the deck
  int actor() const {                   // the seat that moves, counted from the own one
    const int from = state.player - seat;
    return from < 0 ? from + state.rules.players : from;
  }
};

// allows: whether some deal continues with this token. range: bounds of the tokens that may be possible. all_allowed:
// all possible tokens.
bool allows(const Codec& codec, const SeatView& v, int token);
std::pair<int, int> range(const Codec& codec, const SeatView& v);
TokenSet all_allowed(const Codec& codec, const SeatView& v);

// Applies a token that some deal allows.
void see(const Codec& codec, SeatView& v, int token);

// The view after these tokens. Throws std::invalid_argument if no deal explains them.
SeatView view_of(const Codec& codec, std::span<const int> tokens);

}  // namespace trickformer::hanabi
