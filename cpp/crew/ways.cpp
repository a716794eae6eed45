#include "crew/ways.hpp"

#include "crew/seat_view.hpp"

namespace trickformer::crew {
namespace {

// A way is the number 4 * dealt + 2 * passed + drawn (crew/ways.hpp). So these are all ways, the ways with a draw, and
// the ways with a pass.
constexpr WaySet kAllWays = 0xffff, kDrawn = 0xaaaa, kPassed = 0xcccc;

constexpr WaySet dealt_ways(int seat) { return WaySet(0xf << (4 * seat)); }

// The ways of which `holder` returns this seat.
template <typename Holder>
WaySet ways_to(int seat, Holder holder) {
  WaySet set = 0;
  for (int way = 0; way < kWays; ++way)
    if (holder(way) == seat) set = WaySet(set | 1 << way);
  return set;
}

}  // namespace

Ways::Ways(const SeatView& v) : seat_(v.seat), distress_(v.mission.distress), played_(v.played) {
  // pass[p]: ways of the card that seat p passes. draw[p]: ways of the card that the next seat draws from seat p.
  WaySet pass[kPlayers], draw[kPlayers];
  for (int p = 0; p < kPlayers; ++p) {
    pass[p] = dealt_ways(p) & kPassed;
    draw[p] = ways_to(p, [&](int way) { return passed_to(way, distress_); }) & kDrawn;
    held_[0][p] = ways_to(p, [&](int way) { return passed_to(way, distress_); });
    held_[1][p] = ways_to(p, [&](int way) { return held_by(way, distress_); });
  }
  const bool all_passed = distress_ && v.phase > Phase::kPass;
  const auto has_passed = [&](int p) {
    return all_passed || (v.phase == Phase::kPass && relative(p, v.commander) < v.step);
  };
  WaySet open = kAllWays;
  for (int p = 0; p < kPlayers; ++p) {
    if (!has_passed(p))
      open &= WaySet(~pass[p]);
    else if (p != seat_)
      hidden_[p] = pass[p];
    if (!v.drawn)
      open &= WaySet(~draw[p]);
    else if (p != seat_)
      hidden_[kPlayers + p] = draw[p];
  }
  std::fill(of_, of_ + kNumCards, open);
  // Handles a pass or draw whose card is known.
  const auto moved = [&](int card, WaySet ways, WaySet& hidden) {
    for (int c = 0; c < kNumCards; ++c) of_[c] &= c == card ? ways : WaySet(~ways);
    hidden = 0;
  };
  if (has_passed(seat_)) moved(v.passed, pass[seat_], hidden_[seat_]);
  const int giver = next_seat(seat_, kPlayers - distress_), right = next_seat(seat_, 3);
  if (all_passed) moved(v.received, pass[giver], hidden_[giver]);
  if (v.drawn) {
    moved(v.lost, draw[seat_], hidden_[kPlayers + seat_]);
    moved(v.gained, draw[right], hidden_[kPlayers + right]);
  }

  for (int c = 0; c < kNumCards; ++c) {
    const WaySet own = dealt_ways(seat_);
    of_[c] &= v.dealt >> c & 1 ? own : WaySet(~own);
    if (suit(c) == kRocket) of_[c] &= WaySet(~kPassed);
  }
  of_[kCommandersCard] &= dealt_ways(v.commander);
  if (v.mission.has(Rule::kAllPink)) of_[kPinkNine] &= dealt_ways(next_seat(v.member, 3));

  Cards gone[kPlays + 1] = {};  // cards played before each play
  for (int i = 0; i < v.num_plays; ++i) {
    const int card = v.plays[i], lead = v.plays[i & ~3];
    const int p = next_seat(i < kPlayers ? v.commander : v.winner[i / kPlayers - 1], i % kPlayers);
    const WaySet held = held_[i >= kPlayers][p];
    if (suit(card) != suit(lead))
      for (Cards rest = suit_cards(suit(lead)) & ~gone[i]; rest;) of_[take_lowest(rest)] &= WaySet(~held);
    of_[card] &= i < kPlayers ? WaySet(held & ~kDrawn) : held;
    gone[i + 1] = gone[i] | bit(card);
  }
  for (int p = 0; p < kPlayers; ++p) {
    const Message& m = v.message[p];
    if (!m.label) continue;
    const bool before_draw = m.before < kPlayers;
    const WaySet held = held_[!before_draw][p];
    of_[m.card] &= gone[m.before] >> m.card & 1 ? WaySet{0} : before_draw ? WaySet(held & ~kDrawn) : held;
    if (p != seat_) restrict(p, held, claim(m.label, m.card, 0), ~gone[m.before]);
  }
}

std::uint32_t Ways::kind(int card) const {
  std::uint32_t messages = 0;  // information about this card in messages
  for (const Test& test : tests_)
    messages = messages << 3 |
               unsigned((test.some >> card & 1) << 2 | (test.above >> card & 1) << 1 | (test.below >> card & 1));
  return of_[card] | messages << kWays | std::uint32_t(suit(card)) << (kWays + 3 * kPlayers);
}

// Enters one claim about the cards `rest` in the hand of seat p at one time, whose ways into the hand are `held`.
void Ways::restrict(int p, WaySet held, const Claim& c, Cards rest) {
  for (Cards cannot = c.cannot & rest; cannot;) of_[take_lowest(cannot)] &= WaySet(~held);
  if (c.some || c.above) tests_[p] = {c.some & rest, c.above & rest, c.below & rest, held};
  if (c.some && !tests_[p].some) of_[lowest(c.some)] = 0;  // all of them have been played, so no deal is consistent
}

// Enters a card that seat p shows now, and the claim about the rest of its present hand.
void Ways::narrow(int p, int card, const Claim& claim) {
  of_[card] &= held_[1][p];
  restrict(p, held_[1][p], claim, ~(played_ | bit(card)));
}

void Ways::announce(int p, int label) {
  announced_ = held_[1][p];
  label_ = std::uint8_t(label);
}

// Tests the messages about the colour. Of its bits only the `lasting` ones stay. `met` is added if the speaker holds
// cards of the colour of which one can be shown under its label.
int Course::end_colour(const Step& step, int bits) const {
  if ((bits & step.needs) != step.needs) return -1;
  for (const int pair : step.pairs)
    if (pair && (bits & pair) == pair) return -1;
  const bool some = bits & one, more = bits & one << 1;
  const bool shows = label == kOnly ? some && !more : label == kUnlabelled ? some : more;
  return (bits & lasting) | (shows ? met : 0);
}

DealtSet Course::add(DealtSet set, int dealt) {
  constexpr DealtSet kColumn = [] {  // pairs in which the second seat has ten cards
    DealtSet full = 0;
    for (int i = 0; i <= kHand; ++i) full |= DealtSet{1} << (11 * i + kHand);
    return full;
  }();
  constexpr DealtSet kRow = (DealtSet{1} << 11 * kHand) - 1;  // pairs in which the first seat has fewer than ten cards
  return dealt == 11 ? (set & kRow) << 11 : dealt == 1 ? (set & ~kColumn) << 1 : set;
}

Course Ways::course() const {
  Course course;
  int width = 0;
  std::uint16_t takes[2 * kPlayers];
  for (int i = 0; i < 2 * kPlayers; ++i) takes[i] = hidden_[i] ? std::uint16_t(1 << width++) : 0;
  course.goal = std::uint16_t((1 << width) - 1);
  if (announced_) {
    course.label = label_;
    course.met = std::uint16_t(1 << width++);
    course.goal |= course.met;
    course.one = std::uint16_t(1 << width);
    width += 2;
  }
  course.lasting = course.goal;
  course.width = width;
  course.steps.reserve(kNumCards + kColours);
  for (int s = 0; s <= kRocket; ++s) {
    Step end;
    int next = width, pairs = 0;
    std::uint16_t some[kPlayers] = {}, above[kPlayers] = {}, below[kPlayers] = {};
    for (int p = 0; p < kPlayers; ++p) {
      const Test& test = tests_[p];
      if (test.some & suit_cards(s)) end.needs |= some[p] = std::uint16_t(1 << next++);
      if (!test.above || !test.below || !(test.above & suit_cards(s))) continue;
      above[p] = std::uint16_t(1 << next++);
      below[p] = std::uint16_t(1 << next++);
      end.pairs[pairs++] = above[p] | below[p];
    }
    course.width = std::max(course.width, next);
    for (Cards cards = suit_cards(s); cards;) {
      Step step;
      const int card = take_lowest(cards);
      step.card = std::int8_t(card);
      bool idle = true;  // the card was dealt to the own seat and no option sets a bit, so no step is needed
      for (int way = 0; way < kWays; ++way) {
        const WaySet bit = WaySet(1 << way);
        if (!(of_[card] & bit)) continue;
        Step::Option option{};
        option.way = std::uint8_t(way);
        const int to = relative(dealt_to(way), seat_);
        option.dealt = to == 1 ? 11 : to == 2 ? 1 : 0;
        for (int i = 0; i < 2 * kPlayers; ++i)
          if (hidden_[i] & bit) option.takes |= takes[i];
        for (int p = 0; p < kPlayers; ++p) {
          if (!(tests_[p].held & bit)) continue;
          if (tests_[p].some >> card & 1) option.marks |= some[p];
          if (tests_[p].above >> card & 1) option.marks |= above[p];
          if (tests_[p].below >> card & 1) option.marks |= below[p];
        }
        if (s != kRocket && announced_ & bit && !(played_ >> card & 1)) option.marks |= course.one;
        idle = idle && to == 0 && !option.takes && !option.marks;
        step.options[step.num_options++] = option;
      }
      if (!idle || step.num_options != 1) course.steps.push_back(step);
    }
    if (next > width || (announced_ && s != kRocket)) course.steps.push_back(end);
  }
  return course;
}

void Course::advance(const Step& step, const DealtSet* from, DealtSet* to) const {
  for (int bits = 0; bits < 1 << width; ++bits) {
    if (!from[bits]) continue;
    if (step.card < 0) {
      if (const int end = end_colour(step, bits); end >= 0) to[end] |= from[bits];
      continue;
    }
    for (int i = 0; i < step.num_options; ++i)
      if (const int next = follow(step.options[i], bits); next >= 0) to[next] |= add(from[bits], step.options[i].dealt);
  }
}

bool Ways::possible() const {
  const Course c = course();
  std::vector<DealtSet> sets(std::size_t(1) << c.width), after(sets.size());
  sets[0] = 1;
  for (const Step& step : c.steps) {
    std::fill(after.begin(), after.end(), 0);
    c.advance(step, sets.data(), after.data());
    sets.swap(after);
  }
  return sets[c.goal] >> Course::kGoal & 1;
}

}  // namespace trickformer::crew
