#include "skat/solver.hpp"

#include <algorithm>
#include <cstring>

#include "core/threads.hpp"
#include "skat/solver_table.hpp"

namespace trickformer::skat {

Cards SolverPosition::legal() const {
  const Cards held = hands[turn()];
  if (trick[0] < 0) return held;
  const Cards same = held & followers(kind, trick[0]);
  return same ? same : held;
}

const char* fault(const SolverPosition& p) {
  if (p.kind > Kind::kNull) return "a kind is 0 to 5";
  if (p.soloist < 0 || p.soloist >= kPlayers || p.leader < 0 || p.leader >= kPlayers) return "a seat is 0 to 2";
  if (p.trick[0] < -1 || p.trick[0] >= kNumCards || p.trick[1] < -1 || p.trick[1] >= kNumCards)
    return "a card of the trick is -1 to 31";
  if (p.trick[0] < 0 && p.trick[1] >= 0) return "the trick has a second card but no first one";
  Cards all = 0;
  int total = 0;
  for (const Cards hand : p.hands) {
    all |= hand;
    total += count(hand);
  }
  for (const int card : p.trick)
    if (card >= 0) {
      all |= bit(card);
      ++total;
    }
  if (count(all) != total) return "a card occurs twice";
  const int most = count(p.hands[p.turn()]);
  if (most < 1 || most > kHand) return "the hand on turn must have 1 to 10 cards";
  for (int i = 0; i < kPlayers; ++i)
    if (count(p.hands[(p.leader + i) % kPlayers]) != most - (i < p.num_trick()))
      return "the sizes of the hands do not fit the cards in the trick";
  if (p.points[0] < 0 || p.points[1] < 0 || p.points[0] > kAllPoints || p.points[1] > kAllPoints)
    return "card points are 0 to 120";
  return nullptr;
}

// ---- tables ----

static Layout make_layout(Kind kind) {
  Layout out{};
  int block = 0;
  for (int suit = 0; suit < 4; ++suit) {
    const int at = suit == int(kind) ? 3 : block++;
    for (int rank = 0; rank < 8; ++rank) {
      const int card = 8 * suit + rank;
      int to = rank == 7 ? 28 + suit : 7 * at + rank;
      if (kind == Kind::kNull) to = 8 * suit + strength(kind, card, card) - 1;
      out.to[card] = std::uint8_t(to);
    }
  }
  return out;
}

const Layout& layout(Kind kind) {
  static const std::array<Layout, 6> kAll = [] {
    std::array<Layout, 6> out;
    for (int k = 0; k < 6; ++k) out[std::size_t(k)] = make_layout(Kind(k));
    return out;
  }();
  return kAll[std::size_t(kind)];
}

const FamilyTables& tables(Family family) {
  static const std::array<FamilyTables, 3> kAll = [] {
    std::array<FamilyTables, 3> out;
    for (int f = 0; f < 3; ++f) {
      const Kind kind = f == 0 ? Kind::kClubs : f == 1 ? Kind::kGrand : Kind::kNull;
      const Layout& map = layout(kind);
      const auto mapped = [&](Cards cards) {
        Cards to = 0;
        while (cards) to |= bit(map.to[take_lowest(cards)]);
        return to;
      };
      FamilyTables& t = out[std::size_t(f)];
      t.trump = mapped(trumps(kind));
      for (int card = 0; card < kNumCards; ++card) {
        const int i = map.to[card];
        t.follow[i] = mapped(followers(kind, card));
        t.points[i] = kPoints[card % 8];
        for (int other = 0; other < kNumCards; ++other)
          if (strength(kind, card, other) > strength(kind, card, card)) t.beats[i] |= bit(map.to[other]);
      }
    }
    return out;
  }();
  return kAll[std::size_t(family)];
}

// Numbers the owners of the cards in play, in order of rank: the sequences over three players, sorted by length and
// then as numbers in base 3. There are (3^n - 1) / 2 sequences shorter than n.
static int sequence(int code, int from, int to) {
  int value = 0, length = 0, shorter = 0, power = 1;
  for (int i = from; i < to; ++i) {
    const int owner = code >> 2 * i & 3;
    if (owner == 3) continue;
    value = 3 * value + owner;
    shorter += power;
    power *= 3;
    ++length;
  }
  return shorter + value;
}

const Codes& codes() {
  static const std::unique_ptr<const Codes> kAll = [] {
    auto out = std::make_unique<Codes>();
    for (int code = 0; code < 1 << 14; ++code) {
      out->points[code] = std::uint16_t((code >> 6) * 40 + sequence(code, 0, 3));
      out->tricks[code] = std::uint16_t(sequence(code, 0, 7));
    }
    for (int code = 0; code < 1 << 16; ++code) out->eight[code] = std::uint16_t(sequence(code, 0, 8));
    for (int code = 0; code < 1 << 8; ++code) out->jacks[code] = std::uint8_t(sequence(code, 0, 4));
    return std::unique_ptr<const Codes>(std::move(out));
  }();
  return *kAll;
}

// ---- a solver ----

SearchTable::SearchTable(int log2_entries)
    : shift(64 - (log2_entries - 2)), groups(new Group[std::size_t{1} << (log2_entries - 2)]) {}

void SearchTable::forget() {
  if (++stamp == 0) {
    std::fill_n(groups.get(), std::size_t{1} << (64 - shift), Group{});
    stamp = 1;
  }
  std::memset(history, 0, sizeof(history));
}

Solver::Solver(int log2_entries) : table_(std::make_unique<SearchTable>(log2_entries)) {}
Solver::~Solver() = default;
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;

void Solver::reset() { table_->forget(); }

static int search(SearchTable& table, const Task& task, int need, std::uint64_t& nodes) {
  const std::uint8_t game = std::uint8_t(int(task.family) * 2 + task.tricks);
  if (table.game != game) {
    table.forget();
    table.game = game;
  }
  return zero_window(table, task, need, nodes);
}

static int seat_of(const SolverPosition& p, int seat) { return (seat - p.soloist + kPlayers) % kPlayers; }

static Task task_of(const SolverPosition& p, bool tricks) {
  const Layout& map = layout(p.kind);
  Task task{};
  task.family = family(p.kind);
  task.tricks = tricks;
  for (int i = 0; i < kPlayers; ++i) {
    Cards to = 0;
    for (Cards left = p.hands[std::size_t(i)]; left;) to |= bit(map.to[take_lowest(left)]);
    task.hands[seat_of(p, i)] = to;
  }
  task.leader = seat_of(p, p.leader);
  task.played = p.num_trick();
  for (int i = 0; i < task.played; ++i) task.trick[i] = map.to[p.trick[std::size_t(i)]];
  return task;
}

// Plays a card (in the search's numbers) and returns what the soloist gains by it: card points, or a trick.
static int play(Task& task, int card) {
  const FamilyTables& t = tables(task.family);
  const int p = (task.leader + task.played) % kPlayers;
  task.hands[p] &= ~bit(card);
  if (task.played < 2) {
    task.trick[task.played++] = card;
    return 0;
  }
  int best = task.trick[0], winner = task.leader, gain = task.tricks ? 1 : 0;
  const int cards[3] = {task.trick[0], task.trick[1], card};
  for (int i = 0; i < 3; ++i) {
    if (!task.tricks) gain += t.points[cards[i]];
    if (t.beats[best] & bit(cards[i])) {
      best = cards[i];
      winner = (task.leader + i) % kPlayers;
    }
  }
  task.leader = winner;
  task.played = 0;
  return winner == 0 ? gain : 0;
}

static int points_left(const SolverPosition& p) {
  Cards all = p.hands[0] | p.hands[1] | p.hands[2];
  for (const int card : p.trick)
    if (card >= 0) all |= bit(card);
  return card_points(all);
}

// The exact value between low and high by zero-window searches, the first at `guess`. Each search moves a bound.
static int exactly(SearchTable& table, const Task& task, int low, int high, int guess, std::uint64_t& nodes) {
  while (low < high) {
    const int need = std::clamp(guess, low + 1, high);
    const int value = search(table, task, need, nodes);
    if (value >= need) {
      low = value;
      guess = value + 1;
    } else {
      high = value;
      guess = value;
    }
  }
  return low;
}

bool Solver::at_least(const SolverPosition& p, int threshold) {
  if (p.kind == Kind::kNull) return !tricks_at_least(p, 1);
  const int need = threshold - p.points[0];
  return search(*table_, task_of(p, false), need, nodes_) >= need;
}

bool Solver::tricks_at_least(const SolverPosition& p, int n) {
  return search(*table_, task_of(p, true), n, nodes_) >= n;
}

int Solver::exact(const SolverPosition& p) {
  if (p.kind == Kind::kNull) return !tricks_at_least(p, 1);
  const int left = points_left(p);
  return p.points[0] + exactly(*table_, task_of(p, false), 0, left, std::max(61 - p.points[0], 1), nodes_);
}

Cards Solver::moves_at_least(const SolverPosition& p, int threshold) {
  const bool null = p.kind == Kind::kNull;
  const Task task = task_of(p, null);
  const Layout& map = layout(p.kind);
  Cards out = 0;
  for (Cards left = p.legal(); left;) {
    const int card = take_lowest(left);
    Task next = task;
    const int need = (null ? 1 : threshold - p.points[0]) - play(next, map.to[card]);
    const bool reached = (next.hands[0] | next.hands[1] | next.hands[2] | Cards(next.played)) == 0
                             ? need <= 0
                             : search(*table_, next, need, nodes_) >= need;
    if (reached != null) out |= bit(card);
  }
  return out;
}

std::array<std::int16_t, kNumCards> Solver::moves_exact(const SolverPosition& p) {
  std::array<std::int16_t, kNumCards> out;
  out.fill(-1);
  if (p.kind == Kind::kNull) {
    const Cards safe = moves_at_least(p, 0);
    for (Cards left = p.legal(); left;) {
      const int card = take_lowest(left);
      out[std::size_t(card)] = safe >> card & 1;
    }
    return out;
  }
  const Task task = task_of(p, false);
  const Layout& map = layout(p.kind);
  int guess = std::max(61 - p.points[0], 1);
  for (Cards left = p.legal(); left;) {
    const int card = take_lowest(left);
    Task next = task;
    const int gain = play(next, map.to[card]);
    int rest = 0;
    for (int i = 0; i < kPlayers; ++i)
      for (Cards hand = next.hands[i]; hand;) rest += tables(next.family).points[take_lowest(hand)];
    for (int i = 0; i < next.played; ++i) rest += tables(next.family).points[next.trick[i]];
    const int value = exactly(*table_, next, 0, rest, guess - gain, nodes_);
    out[std::size_t(card)] = std::int16_t(p.points[0] + gain + value);
    guess = gain + value;
  }
  return out;
}

// ---- batches ----

static void answer(Solver& solver, const SolverPosition& p, Query query, int limit, SolverResult& out) {
  const std::uint64_t before = solver.nodes();
  solver.reset();
  switch (query) {
    case Query::kAtLeast: out.value = solver.at_least(p, limit); break;
    case Query::kExact: out.value = std::int16_t(solver.exact(p)); break;
    case Query::kTricksAtLeast: out.value = solver.tricks_at_least(p, limit); break;
    case Query::kMovesExact: out.moves = solver.moves_exact(p); break;
    case Query::kMovesAtLeast: {
      const Cards reached = solver.moves_at_least(p, limit), legal = p.legal();
      for (int card = 0; card < kNumCards; ++card)
        out.moves[std::size_t(card)] = std::int16_t(legal >> card & 1 ? reached >> card & 1 : -1);
    }
  }
  out.nodes = solver.nodes() - before;
}

void solve(std::span<const SolverPosition> positions, Query query, std::span<const std::int16_t> limits, int threads,
           std::span<SolverResult> out) {
  on_threads(positions.size(), threads, [&](std::size_t i) {
    // each calling thread keeps its solver, and the memory of the table, for the next batch
    static thread_local Solver solver;
    answer(solver, positions[i], query, limits.empty() ? 0 : limits[i], out[i]);
  });
}

}  // namespace trickformer::skat
