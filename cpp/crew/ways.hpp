// The possible ways of the cards through the hands, given one seat's knowledge.
//
// A card is dealt to a seat, may be passed on in distress, and may be drawn by the next seat after the first trick.
// This makes 16 ways. A seat's knowledge restricts the ways of each card separately, with two exceptions: each seat is
// dealt ten cards, passes one and draws one; and a message concerns the rest of its colour. So the cards are handled
// one by one, colour by colour. The state between two cards has three parts: the numbers of cards dealt to two other
// seats (the third has the rest); one bit for each hidden move that has been made; within a colour, the facts that a
// message depends on.
#pragma once
#include <vector>

#include "crew/rules.hpp"

namespace trickformer::crew {

struct SeatView;

// The information in a message about the rest of a hand.
struct Claim {
  Cards cannot = 0;            // the hand has none of these
  Cards some = 0;              // the hand has at least one of these; 0: no information
  Cards above = 0, below = 0;  // the hand has none of `above` or none of `below`; 0: no information
  bool holds = true;           // false: it contradicts what is known
};

inline constexpr int kWays = 16;
using WaySet = std::uint16_t;

inline namespace TRICKFORMER_ISA {

constexpr int way_of(int dealt, bool passed, bool drawn) { return dealt * 4 + passed * 2 + drawn; }
constexpr int dealt_to(int way) { return way >> 2; }
constexpr bool is_passed(int way) { return way & 2; }
constexpr bool is_drawn(int way) { return way & 1; }
// The holder of the card after the pass, and now.
constexpr int passed_to(int way, int distress) { return next_seat(dealt_to(way), is_passed(way) ? distress : 0); }
constexpr int held_by(int way, int distress) { return next_seat(passed_to(way, distress), is_drawn(way)); }

}  // namespace TRICKFORMER_ISA

// A set of pairs of numbers: cards dealt to the seats one and two to the left of the own one. The pair (first, second)
// is bit 11 * first + second of the set.
using DealtSet = unsigned __int128;
inline constexpr int kDealtPairs = (kHand + 1) * (kHand + 1);

// A step over one card, or over the end of a colour.
struct Step {
  struct Option {
    std::uint8_t way, dealt;     // dealt: increment of a pair's bit number in a DealtSet
    std::uint16_t takes, marks;  // bits that the option sets; those in `takes` must not be set before
  };
  std::int8_t card = -1;  // -1: a colour ends
  std::uint8_t num_options = 0;
  std::uint16_t needs = 0;             // at the end of a colour: bits that must be set
  std::uint16_t pairs[kPlayers] = {};  // at the end of a colour: pairs of bits that must not both be set
  Option options[kWays];
};

// The steps in which the cards are handled, and the layout of the state between two steps. A state is a pair of a
// DealtSet, as its bit number below kDealtPairs, and `width` bits.
struct Course {
  std::vector<Step> steps;
  int width = 0;              // number of bits
  std::uint16_t goal = 0;     // bits that must be set at the end
  std::uint16_t lasting = 0;  // bits that are kept at the end of a colour
  // If a speaker has announced the label of a message (highest, only, ...) but not yet shown the card:
  std::uint8_t label = 0;
  std::uint16_t one = 0;  // bit: the speaker holds a card of the current colour. The next bit: it holds a second one
  std::uint16_t met = 0;  // bit: the speaker has cards of some colour of which one can be shown under the label
  static constexpr int kGoal = kDealtPairs - 1;  // ten cards each

  // Returns the bits after the end of a colour, or -1 if they contradict a message.
  int end_colour(const Step& step, int bits) const;
  // Returns the bits after an option, or -1 if its move has already been made.
  int follow(const Step::Option& option, int bits) const {
    if (bits & option.takes) return -1;
    const int two = option.marks & bits & one ? one << 1 : 0;
    return bits | option.takes | option.marks | two;
  }
  // Returns the set after one more card is dealt. dealt: as in Step::Option. Pairs with more than ten cards drop out.
  static DealtSet add(DealtSet set, int dealt);
  static bool room(int numbers, int dealt) {
    return dealt == 11 ? numbers < 11 * kHand : numbers % 11 + dealt <= kHand;
  }
  // Computes the sets after a step, indexed by bits: `from` and `to` have 1 << width entries, and those of `to` are
  // empty before.
  void advance(const Step& step, const DealtSet* from, DealtSet* to) const;
};

class Ways {
 public:
  explicit Ways(const SeatView& view);

  WaySet of(int card) const { return of_[card]; }
  // Two cards of equal kind can be exchanged in everything that is known.
  std::uint32_t kind(int card) const;
  // Restricts the ways: seat p holds `card` now, and the claim is true of the rest of its hand.
  void narrow(int p, int card, const Claim& claim);
  // Restricts the ways: seat p, which announced the label of a message, holds a card that can be shown under it.
  void announce(int p, int label);

  Course course() const;
  bool possible() const;  // whether some history is consistent

 private:
  struct Test {
    Cards some = 0, above = 0, below = 0;  // as in Claim
    WaySet held = 0;                       // ways that end in the speaker's hand
  };
  void restrict(int p, WaySet held, const Claim& claim, Cards rest);

  int seat_ = 0, distress_ = 0;
  WaySet of_[kNumCards];
  WaySet held_[2][kPlayers] = {};     // ways into a seat's hand before and after the draw
  WaySet hidden_[2 * kPlayers] = {};  // ways of each move whose card is not known
  Cards played_ = 0;
  Test tests_[kPlayers];
  WaySet announced_ = 0;
  std::uint8_t label_ = 0;
};

}  // namespace trickformer::crew
