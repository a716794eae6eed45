#include "skat/solver_plain.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace trickformer::skat {

// ---- the baseline of the benchmark ----

struct PlainSolver::Node {
  Kind kind;
  int soloist, leader, played, rest;  // rest: card points yet to be taken, including the current trick
  Cards hands[3];
  int trick[3];
};

static constexpr int kPlainEntries = 1 << 20;

PlainSolver::PlainSolver() : table_(new Entry[kPlainEntries]()) {}
PlainSolver::~PlainSolver() = default;

bool PlainSolver::at_least(const SolverPosition& p, int threshold) {
  ++stamp_;
  Node node{p.kind, p.soloist, p.leader, p.num_trick(), 0, {}, {p.trick[0], p.trick[1], 0}};
  std::copy(p.hands.begin(), p.hands.end(), node.hands);
  for (int i = 0; i < 3; ++i) node.rest += card_points(p.hands[std::size_t(i)]);
  for (int i = 0; i < node.played; ++i) node.rest += kPoints[node.trick[i] % 8];
  return reach(node, threshold - p.points[0]);
}

bool PlainSolver::stronger(const Node& n, int card, int than) {
  return strength(n.kind, n.trick[0], card) > strength(n.kind, n.trick[0], than);
}

bool PlainSolver::holds(const Entry& e, const Node& n, int leader) const {
  return e.stamp == stamp_ && e.leader == leader && std::equal(n.hands, n.hands + 3, e.hands);
}

// A leader tries the strongest cards first. A follower tries to win the trick from the other side, with the card of
// most points first, and adds points if the own side is winning; otherwise it starts with the card of fewest points.
int PlainSolver::order(const Node& n, Cards legal, bool soloist, int* cards) {
  int best = 0, value[kNumCards], size = 0;
  for (int i = 1; i < n.played; ++i)
    if (stronger(n, n.trick[i], n.trick[best])) best = i;
  const bool ours = n.played && ((n.leader + best) % 3 == n.soloist) == soloist;
  while (legal) {
    const int card = take_lowest(legal), points = kPoints[card % 8];
    if (n.played == 0)
      value[card] = strength(n.kind, card, card);
    else if (stronger(n, card, n.trick[best]))
      value[card] = 20 + points;
    else
      value[card] = ours ? 30 + points : -points;
    int at = size++;
    for (; at > 0 && value[cards[at - 1]] < value[card]; --at) cards[at] = cards[at - 1];
    cards[at] = card;
  }
  return size;
}

// Returns whether the soloist gets `need` more points.
bool PlainSolver::reach(Node& n, int need) {
  ++nodes_;
  if (need <= 0) return true;
  if (n.rest < need) return false;
  Entry* entry = nullptr;
  if (n.played == 0) {
    std::uint64_t hash = 0;
    for (const Cards hand : n.hands) {
      hash = (hash ^ hand) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    entry = &table_[(hash + std::uint64_t(n.leader) * 0x5851f42d) % kPlainEntries];
    const bool same = holds(*entry, n, n.leader);
    if (same && entry->low >= need) return true;
    if (same && entry->high < need) return false;
    const Entry fresh{{n.hands[0], n.hands[1], n.hands[2]}, stamp_, std::uint8_t(n.leader), 0, std::uint8_t(n.rest)};
    if (!same) *entry = fresh;
  }
  const Entry key = entry ? *entry : Entry{};
  const int p = (n.leader + n.played) % 3;
  Cards legal = n.hands[p];
  if (n.played && legal & followers(n.kind, n.trick[0])) legal &= followers(n.kind, n.trick[0]);
  const bool soloist = p == n.soloist;
  int cards[kHand];
  const int size = order(n, legal, soloist, cards);
  bool found = !soloist;
  for (int i = 0; i < size && found != soloist; ++i) {
    const int card = cards[i];
    Node next = n;
    next.hands[p] &= ~bit(card);
    next.trick[next.played++] = card;
    int gain = 0;
    if (next.played == 3) {
      int winner = 0, points = 0;
      for (int i = 0; i < 3; ++i) {
        points += kPoints[next.trick[i] % 8];
        if (stronger(next, next.trick[i], next.trick[winner])) winner = i;
      }
      next.leader = (n.leader + winner) % 3;
      next.played = 0;
      next.rest -= points;
      if (next.leader == n.soloist) gain = points;
    }
    found = reach(next, need - gain);
  }
  if (entry) {
    if (!holds(*entry, n, n.leader)) *entry = key;
    if (found)
      entry->low = std::max(entry->low, std::uint8_t(need));
    else
      entry->high = std::min(entry->high, std::uint8_t(need - 1));
  }
  return found;
}

// ---- the reference of the tests ----

// The rules, written independently of skat/rules.hpp: ranks have names, and an order lists them from the strongest on.
static int place_in(const char* order, char rank) {
  int i = 0;
  while (order[i] != rank) ++i;
  return i;
}

static bool takes(Kind kind, int led, int best, int card) {
  constexpr char kRanks[] = "789QKTAJ";
  const char a = kRanks[best % 8], b = kRanks[card % 8];
  if (kind == Kind::kNull) return card / 8 == led / 8 && place_in("AKQJT987", b) < place_in("AKQJT987", a);
  const auto trump = [&](int c) { return kRanks[c % 8] == 'J' || (kind != Kind::kGrand && c / 8 == int(kind)); };
  if (trump(card) != trump(best)) return trump(card);
  if (a == 'J' || b == 'J') return b == 'J' && (a != 'J' || card / 8 > best / 8);
  return card / 8 == best / 8 && place_in("ATKQ987", b) < place_in("ATKQ987", a);
}

static bool obeys(Kind kind, int led, int card) {
  const int jacks = kind == Kind::kGrand ? 4 : int(kind);
  const auto suit = [&](int c) { return kind != Kind::kNull && c % 8 == 7 ? jacks : c / 8; };
  return suit(led) == suit(card);
}

namespace {
struct Twin {
  Kind kind;
  int soloist;
  bool tricks;
  std::map<std::tuple<Cards, Cards, Cards, int>, int> memo;

  // The gain of the soloist from here on after `card`.
  int after(std::array<Cards, 3> hands, int leader, std::array<int, 3> trick, int played, int card) {
    const int p = (leader + played) % 3;
    hands[std::size_t(p)] &= ~bit(card);
    trick[std::size_t(played)] = card;
    if (played < 2) return value(hands, leader, trick, played + 1);
    int best = 0, gain = 0;
    for (int i = 0; i < 3; ++i) {
      constexpr int kWorth[8] = {0, 0, 0, 3, 4, 10, 11, 2};
      gain += kWorth[trick[std::size_t(i)] % 8];
      if (i && takes(kind, trick[0], trick[std::size_t(best)], trick[std::size_t(i)])) best = i;
    }
    const int winner = (leader + best) % 3;
    const int mine = winner != soloist ? 0 : tricks ? 1 : gain;
    return mine + value(hands, winner, {}, 0);
  }

  Cards legal(Cards hand, int led) {
    Cards out = 0;
    for (int c = 0; c < kNumCards; ++c)
      if (hand >> c & 1 && obeys(kind, led, c)) out |= bit(c);
    return out ? out : hand;
  }

  int value(const std::array<Cards, 3>& hands, int leader, const std::array<int, 3>& trick, int played) {
    if ((hands[0] | hands[1] | hands[2]) == 0 && played == 0) return 0;
    const auto key = std::make_tuple(hands[0], hands[1], hands[2], leader);
    if (played == 0)
      if (const auto it = memo.find(key); it != memo.end()) return it->second;
    const int p = (leader + played) % 3;
    const Cards hand = hands[std::size_t(p)], cards = played ? legal(hand, trick[0]) : hand;
    const bool raises = (p == soloist) != (kind == Kind::kNull);
    int best = raises ? -1 : 1000;
    for (int c = 0; c < kNumCards; ++c) {
      if (!(cards >> c & 1)) continue;
      const int v = after(hands, leader, trick, played, c);
      best = raises ? std::max(best, v) : std::min(best, v);
    }
    if (played == 0) memo[key] = best;
    return best;
  }
};
}  // namespace

std::array<std::int16_t, kNumCards> minimax_moves(const SolverPosition& p, bool tricks) {
  tricks |= p.kind == Kind::kNull;
  Twin twin{p.kind, p.soloist, tricks, {}};
  const int played = p.num_trick();
  const Cards hand = p.hands[std::size_t(p.turn())], cards = played ? twin.legal(hand, p.trick[0]) : hand;
  std::array<std::int16_t, kNumCards> out;
  out.fill(-1);
  for (int c = 0; c < kNumCards; ++c) {
    if (!(cards >> c & 1)) continue;
    const int taken = twin.after(p.hands, p.leader, {p.trick[0], p.trick[1], 0}, played, c);
    out[std::size_t(c)] = std::int16_t(taken + (tricks ? 0 : p.points[0]));
  }
  return out;
}

}  // namespace trickformer::skat
