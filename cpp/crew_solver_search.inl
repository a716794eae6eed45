// The search; included by one translation unit for each instruction set.
#include <algorithm>

#include "crew_solver_table.hpp"

namespace trickformer::crew::inline TRICKFORMER_ISA {

// What a mission asks of the tricks, as sets of cards. A task card must be won by its owner; so must, where the rules
// have it, all pink cards by the member, and each rocket by whoever holds it.
struct Goal {
  explicit Goal(const State& s) : rules(s.mission), commander(s.commander), member(s.member & 3) {
    first_four = s.first_four, last = s.last;
    for (int i = 0; i < s.mission.tasks; ++i) {
      const Task& task = s.tasks[i];
      tasks |= bit(task.card);
      owned[task.owner] |= bit(task.card);
      if (task.tile < kTileArrow) {
        for (int done = task.tile + 1; done <= kMaxTasks; ++done) due[done] |= bit(task.card);
        numbered |= bit(task.card);
      } else if (task.tile < kTileOmega) {
        arrow[task.tile - kTileArrow] |= bit(task.card);
      } else if (task.tile == kTileOmega) {
        omega |= bit(task.card);
      }
    }
    if (rules.has(Rule::kAllPink)) owned[member] |= kPink;
    if (rules.has(Rule::kOneWins)) ones = 1;
    if (rules.has(Rule::kOnesWinTwice)) ones = 2;
    nines = rules.any(Rule::kNinesLose | Rule::kNinesLoseTasks);
    rockets = rules.any(Rule::kRocketsWin | Rule::kRocketsInOrder);
    balance = rules.any(Rule::kBalance | Rule::kBalanceEnds);
    to_the_end = balance || rules.has(Rule::kSick) || rules.has(Rule::kOneTrick) || rules.has(Rule::kFirstAndLast) ||
                 rules.has(Rule::kRoles);
    no_rocket = rules.has(Rule::kOneTrick) || rules.has(Rule::kFirstAndLast);
    ordered = numbered || omega || arrow[0] || arrow[1] || arrow[2] || arrow[3];
  }

  int number_done(Cards open) const { return count(tasks & ~open); }

  // Whether the order of the tokens allows that, of the tasks so far open, these are fulfilled in one trick.
  bool in_order(Cards open, Cards made) const {
    const Cards left = open & ~made;
    if ((numbered & ~left) != due[number_done(left)] || ((made & omega) && left)) return false;
    Cards before = 0;
    for (const Cards at : arrow) {
      if (before & left && at & ~left) return false;
      before |= at;
    }
    return true;
  }

  Mission rules;
  int commander, member, first_four, last;
  Cards tasks = 0, owned[kPlayers] = {};
  Cards numbered = 0, due[kMaxTasks + 1] = {};  // due: those that are fulfilled once that many tasks are
  Cards arrow[4] = {}, omega = 0;
  int ones = 0;  // tricks that colour 1s must win
  bool nines, rockets, balance, to_the_end, no_rocket, ordered;
};

// Between tricks.
struct Position {
  Cards hand[kPlayers];
  std::int8_t leader;
  std::uint8_t trick, ones;
  std::uint8_t wins[kPlayers];

  Cards all() const { return hand[0] | hand[1] | hand[2] | hand[3]; }
};

class Searcher {
 public:
  Searcher(SolverTable& table, const State& s, std::uint64_t max_nodes, const Draws* draws, std::uint64_t& nodes,
           std::vector<std::uint8_t>& line)
      : table_(table), goal_(s), draws_(draws), max_nodes_(max_nodes), nodes_(nodes), line_(line) {
    for (int p = 0; p < kPlayers; ++p) {
      root_.hand[p] = s.hand[p];
      root_.wins[p] = s.wins[p];
      if (s.message[p].label) open_ |= bit(s.message[p].card);
    }
    root_.leader = s.leader;
    root_.trick = std::uint8_t(s.trick());
    root_.ones = s.ones;
    draw_pending_ = s.mission.has(Rule::kDraw) && s.trick() == 0;
    started_.size = s.num_plays % kPlayers;
    for (int i = 0; i < started_.size; ++i) {
      const int card = s.plays[s.trick() * kPlayers + i];
      started_.card[i] = std::uint8_t(card);
      root_.hand[next_seat(s.leader, i)] |= bit(card);  // the trick is played again from its lead
    }
  }

  Answer run() {
    table_.forget();
    prepare(root_);
    if (assess(root_) < 0) return Answer::kNo;
    const Answer answer = visit(root_, started_);
    if (answer == Answer::kYes) {
      std::reverse(line_.begin(), line_.end());
      line_.erase(line_.begin(), line_.begin() + started_.size);
    }
    return answer;
  }

 private:
  struct Start {
    std::uint8_t card[kPlayers] = {};
    int size = 0;  // cards of the trick that are given
  };
  // A trick that a position may go on with.
  struct Move {
    std::int32_t score;
    std::uint8_t card[kPlayers];
    std::int8_t winner;
  };
  struct Trick {
    std::uint8_t card[kPlayers];
    int best, best_seat;
    unsigned may_win;  // bits by seat
    Cards cards;
  };
  // What is the same for all tricks that a position may go on with.
  struct Node {
    Position at;
    Start start;
    Cards open, banned;  // tasks; those that the tokens' order does not allow in this trick
    Cards tried[kPlayers];  // of cards that are as good as each other, one
  };
  struct Wanted {
    std::uint8_t card;
    std::int8_t holder, owner;
  };

  // ---- what holds as long as the cards stay with whom they are ----

  void prepare(const Position& at) {
    special_ = goal_.tasks | (goal_.ones ? kOnes : 0) | (goal_.nines ? kNines : 0);
    num_wanted_ = 0;
    std::fill(owner_, owner_ + kNumCards, std::int8_t(-1));
    for (int p = 0; p < kPlayers; ++p)
      for (Cards left = at.hand[p]; left;) {
        const int card = take_lowest(left);
        holder_[card] = std::int8_t(p);
        for (int o = 0; o < kPlayers; ++o)
          if (goal_.owned[o] >> card & 1) want(card, p, o);
        if (goal_.rockets && suit(card) == kRocket) want(card, p, p);
      }
    for (int s = 0; s <= kRocket; ++s) {
      const int shift = kValues * s;
      const Cards here = at.all() & suit_cards(s);
      for (int cards = 1; cards < 512; ++cards) {
        const Cards set = Cards(cards) << shift;
        if (set & ~here) continue;
        const int low = lowest(set);
        const Cards above = Cards(alike_[s][cards & (cards - 1)]) << shift;
        Cards same = bit(low);
        if (!(special_ >> low & 1)) same = here & at.hand[holder_[low]] & ~special_;
        if (above) same &= (above & (~above + 1)) - 1;
        alike_[s][cards] = std::uint16_t(bit(63 - std::countl_zero(same)) >> shift | above >> shift);
      }
    }
  }

  void want(int card, int holder, int owner) {
    clash_ |= owner_[card] >= 0 && owner_[card] != owner;
    owner_[card] = std::int8_t(owner);
    wanted_[num_wanted_++] = {std::uint8_t(card), std::int8_t(holder), std::int8_t(owner)};
  }

  // Equal for positions of which either both fail or neither: in each suit only the order of the holders counts, but
  // for the cards that are something special.
  std::uint64_t key(const Position& at) const {
    const Cards all = at.all();
    std::uint64_t cards = 0;
    for (int s = 0; s <= kRocket; ++s) cards |= std::uint64_t(alike_[s][all >> kValues * s & 511]) << kValues * s;
    std::uint64_t rest = at.leader;
    if (goal_.ones) rest |= at.ones << 2;
    if (goal_.balance) {
      const int least = *std::min_element(at.wins, at.wins + kPlayers);
      for (int p = 0; p < kPlayers; ++p) rest |= (at.wins[p] > least) << (4 + p);
    } else if (goal_.rules.has(Rule::kOneTrick)) {
      rest |= (at.wins[goal_.member] > 0) << 4;
    }
    return cards | rest << kNumCards;
  }

  std::uint64_t& slot(std::uint64_t key) const { return table_.keys[key * 0x9e3779b97f4a7c15 >> table_.shift]; }
  bool fails(std::uint64_t key) const { return slot(key) == (key | table_.stamp << 48); }
  void failed(std::uint64_t key) { slot(key) = key | table_.stamp << 48; }

  // ---- what the rules say before a trick ----

  // Who may win it, as bits by seat.
  unsigned may_win(const Position& at) const {
    const bool first = at.trick == 0, last = at.trick == kTricks - 1;
    unsigned set = 15;
    const auto only = [&](int seat) { set &= 1u << seat; };
    const auto never = [&](int seat) { set &= ~(1u << seat); };
    if (goal_.rules.has(Rule::kSick)) never(goal_.member);
    if (goal_.balance) {
      const int least = *std::min_element(at.wins, at.wins + kPlayers);
      for (int p = 0; p < kPlayers; ++p)
        if (at.wins[p] > least) never(p);
      if (goal_.rules.has(Rule::kBalanceEnds) && (first || last)) only(goal_.commander);
    }
    if (goal_.rules.has(Rule::kOneTrick)) {
      if (at.wins[goal_.member]) never(goal_.member);
      else if (last) only(goal_.member);
    }
    if (goal_.rules.has(Rule::kFirstAndLast)) {
      if (first || last) only(goal_.member);
      else never(goal_.member);
    }
    if (goal_.rules.has(Rule::kRoles)) {
      if (at.trick < 4) only(goal_.first_four);
      else if (last) only(goal_.last);
      else never(goal_.first_four), never(goal_.last);
    }
    return set;
  }

  // Open tasks that cannot be fulfilled in this trick, for others would have to be with them that cannot: of another
  // owner, or in the same hand.
  Cards banned(const Position& at, Cards open) const {
    if (!goal_.ordered) return 0;
    const auto apart = [&](int a, Cards with) {
      return with & ~goal_.owned[owner_[a]] || with & at.hand[holder_[a]] & ~bit(a);
    };
    Cards out = 0;
    const int done = goal_.number_done(open);
    const Cards next = done < kMaxTasks ? goal_.due[done + 1] & open : 0;
    for (Cards left = open; left;) {
      const int card = take_lowest(left);
      Cards with = next;
      if (goal_.numbered >> card & 1)
        for (int n = done + 1; !(goal_.due[n] >> card & 1); ++n) with |= goal_.due[n] & open;
      if (goal_.omega >> card & 1) with |= open;
      Cards before = 0;
      for (const Cards arrows : goal_.arrow) {
        if (arrows >> card & 1) with |= before & open;
        before |= arrows;
      }
      if (apart(card, with)) out |= bit(card);
    }
    if (goal_.rules.has(Rule::kOmegaLast) && at.trick < kTricks - 1) out |= goal_.omega;
    return out;
  }

  bool may_win_with(const Position& at, int seat, int card) const {
    if (goal_.nines && kNines >> card & 1) return false;
    if (suit(card) != kRocket) return true;
    if (goal_.no_rocket && seat == goal_.member) return false;
    return !goal_.rules.has(Rule::kRocketsInOrder) || !(at.all() & lower(card));
  }

  // ---- how far it is to success ----

  // The tricks that a seat may still win at most.
  int capacity(const Position& at, int seat) const {
    const int left = kTricks - at.trick;
    int most = left;
    if (goal_.rules.has(Rule::kSick) && seat == goal_.member) most = 0;
    if (goal_.balance) most = std::min(most, 3 - at.wins[seat]);
    if (goal_.rules.has(Rule::kOneTrick) && seat == goal_.member) most = std::min(most, 1 - at.wins[seat]);
    if (goal_.rules.has(Rule::kFirstAndLast) && seat == goal_.member) most = std::min(most, 1 + (at.trick == 0));
    if (goal_.rules.has(Rule::kRoles)) {
      const int middle = std::min(left - 1, 5);
      most = std::min(most, seat == goal_.first_four ? std::max(4 - at.trick, 0) : seat == goal_.last ? 1 : middle);
    }
    return most;
  }

  // -1 where no line can succeed any more, else a guess of how much there is to do. Where a card has to be got rid of
  // before another can be played, that costs its holder a trick each.
  int assess(const Position& at) const {
    if (clash_) return -1;
    const int left = kTricks - at.trick;
    int work = 0;
    Cards to_win[kPlayers] = {};
    const Cards all = at.all();
    for (int i = 0; i < num_wanted_; ++i) {
      const Wanted& w = wanted_[i];
      if (!(all >> w.card & 1)) continue;
      to_win[w.owner] |= bit(w.card);
      const int cost = w.holder == w.owner ? own_cost(at, w, left) : cost_of(at, w, left);
      if (cost < 0) return -1;
      work += 16 + cost;
    }
    int tricks = 0;
    for (int p = 0; p < kPlayers; ++p) {
      if (!to_win[p]) continue;
      int most = 0;
      for (const Cards hand : at.hand) most = std::max(most, count(to_win[p] & hand));
      if (most > capacity(at, p)) return -1;
      tricks += most;
    }
    if (tricks > left) return -1;
    if (goal_.ones) {
      const int more = ones_cost(at, left);
      if (more < 0) return -1;
      work += more;
    }
    if (goal_.nines) work += 4 * count(all & kNines);
    return work;
  }

  // Of a card that its holder must win: he wins with it. Who holds only higher ones of its suit has to lose them first.
  int own_cost(const Position& at, const Wanted& w, int left) const {
    const int s = suit(w.card);
    if (s == kRocket) return 0;
    if (goal_.nines && kNines >> w.card & 1) return -1;
    int cost = 0;
    for (int p = 0; p < kPlayers; ++p) {
      if (p == w.owner) continue;
      const Cards of = at.hand[p] & suit_cards(s);
      if (!of || of & lower(w.card)) {
        cost += count(of & higher(w.card)) ? 1 : 0;
        continue;
      }
      const int n = count(of);
      if (n >= left) return -1;
      cost += 6 * n;
    }
    return cost;
  }

  // Of a card that another than its holder must win: with a higher one of its suit; or with another suit or a rocket,
  // once the holder has none of what is led.
  int cost_of(const Position& at, const Wanted& w, int left) const {
    const Cards mine = at.hand[w.owner], theirs = at.hand[w.holder];
    const Cards over = mine & higher(w.card) & ~(goal_.nines ? kNines : 0);
    if (over && suit(w.card) != kRocket) return over & (over - 1) ? 0 : 1;
    int cost = kTricks;
    const bool rocket = mine & kRockets && !(goal_.no_rocket && w.owner == goal_.member);
    if (rocket) cost = count(mine & suit_cards(suit(w.card)));
    for (int s = 0; s <= kRocket; ++s)
      if (s != suit(w.card) && (mine & suit_cards(s) || (rocket && s != kRocket)) && (s != kRocket || rocket))
        cost = std::min(cost, count(theirs & suit_cards(s)));
    return cost >= left ? -1 : 4 * cost + 2;
  }

  // A colour 1 wins where the others have nothing left of its suit.
  int ones_cost(const Position& at, int left) const {
    const int missing = goal_.ones - at.ones;
    if (missing <= 0) return 0;
    int first = kImpossible, second = kImpossible;  // the two cheapest
    for (Cards some = at.all() & kOnes; some;) {
      const int card = take_lowest(some);
      int cost = 0;
      for (int p = 0; p < kPlayers; ++p) {
        if (p == holder_[card]) continue;
        const int of = count(at.hand[p] & suit_cards(suit(card)));
        cost = of < left ? cost + of : kImpossible;
      }
      if (cost < first) second = first, first = cost;
      else second = std::min(second, cost);
    }
    const int cost = missing == 1 ? first : first + second;
    return cost < kImpossible ? 6 * cost : -1;
  }

  // ---- tricks ----

  // Of cards of one hand that nothing lies between, the lowest.
  Cards distinct(Cards hand, Cards all) const {
    Cards out = 0;
    for (Cards left = hand; left;) {
      const int card = take_lowest(left);
      const Cards under = all & lower(card);
      const Cards next = under ? bit(63 - std::countl_zero(under)) : 0;
      if (!(next & hand) || (next | bit(card)) & special_) out |= bit(card);
    }
    return out;
  }

  // Tries every card as number `i` of the trick. True as soon as one succeeds.
  bool extend(const Node& node, int i, const Trick& trick) {
    const Position& at = node.at;
    const int p = next_seat(at.leader, i), lead = i ? trick.card[0] : -1;
    Cards choices = i < node.start.size ? bit(node.start.card[i])
                                        : legal_plays(at.hand[p], lead) & node.tried[p] & ~node.banned;
    if (goal_.rockets && trick.cards & kRockets) choices &= ~kRockets;
    while (choices) {
      const int card = take_lowest(choices);
      ++nodes_;
      Trick next = trick;
      next.card[i] = std::uint8_t(card);
      next.cards |= bit(card);
      if (i == 0 || beats(card, trick.best)) next.best = card, next.best_seat = p;
      if (owner_[card] >= 0) next.may_win &= 1u << owner_[card];
      if (!winnable(at, next, i)) continue;
      if (i == kPlayers - 1 ? complete(node, next) : extend(node, i + 1, next)) return true;
    }
    return false;
  }

  // Whether one who may win the trick still can.
  static bool winnable(const Position& at, const Trick& trick, int i) {
    if (trick.may_win >> trick.best_seat & 1) return true;
    const Cards over = suit(trick.best) == kRocket ? higher(trick.best) : higher(trick.best) | kRockets;
    for (int j = i + 1; j < kPlayers; ++j) {
      const int p = next_seat(at.leader, j);
      if (trick.may_win >> p & 1 && legal_plays(at.hand[p], trick.card[0]) & over) return true;
    }
    return false;
  }

  // True where the mission is fulfilled by this trick; keeps it as a move if it may go on.
  bool complete(const Node& node, const Trick& trick) {
    const Position& at = node.at;
    if (!may_win_with(at, trick.best_seat, trick.best)) return false;
    const Cards made = node.open & trick.cards;
    const bool last = at.trick == kTricks - 1;
    if (made && goal_.ordered && !goal_.in_order(node.open, made)) return false;
    if (made & goal_.omega && goal_.rules.has(Rule::kOmegaLast) && !last) return false;
    const Position to = after(at, trick.card, trick.best_seat, trick.best);
    const Cards all = to.all();
    if (to.ones + count(kOnes & all) < goal_.ones) return false;
    const bool open = node.open & ~made || (goal_.to_the_end && !last) || to.ones < goal_.ones ||
                      (goal_.rockets && all & kRockets) || (goal_.nines && all & kNines) ||
                      (goal_.rules.has(Rule::kAllPink) && all & kPink);
    if (open && last) return false;
    Move move{0, {}, std::int8_t(trick.best_seat)};
    std::copy(trick.card, trick.card + kPlayers, move.card);
    if (!open) {
      remember(move);
      return true;
    }
    if (!draw_pending_) {
      move.score = assess(to);
      if (move.score < 0 || fails(key(to))) return false;
    }
    moves_.push_back(move);
    return false;
  }

  void remember(const Move& move) {
    for (int i = kPlayers - 1; i >= 0; --i) line_.push_back(move.card[i]);
  }

  static Position after(const Position& at, const std::uint8_t* card, int winner, int best) {
    Position to = at;
    for (int i = 0; i < kPlayers; ++i) to.hand[next_seat(at.leader, i)] ^= bit(card[i]);
    to.leader = std::int8_t(winner);
    ++to.trick;
    ++to.wins[winner];
    to.ones = std::uint8_t(to.ones + (kOnes >> best & 1));
    return to;
  }

  static int best_card(const Position& at, const Move& move) { return move.card[relative(move.winner, at.leader)]; }

  void draw(Position& at) const {
    Cards drawn[kPlayers];
    for (int p = 0; p < kPlayers; ++p) {
      const Cards from = at.hand[next_seat(p, 3)] & ~open_;
      drawn[p] = bit(nth(from, int((*draws_)[std::size_t(p)] * count(from))));
    }
    for (int p = 0; p < kPlayers; ++p) at.hand[next_seat(p, 3)] ^= drawn[p];
    for (int p = 0; p < kPlayers; ++p) at.hand[p] |= drawn[p];
  }

  // ---- positions ----

  Answer visit(const Position& at, const Start& start) {
    Node node{at, start, at.all() & goal_.tasks, 0, {}};
    node.banned = banned(at, node.open);
    for (int p = 0; p < kPlayers; ++p) node.tried[p] = distinct(at.hand[p], at.all());
    const std::size_t begin = moves_.size();
    if (extend(node, 0, {{}, 0, 0, may_win(at), 0})) return Answer::kYes;
    std::sort(moves_.begin() + std::ptrdiff_t(begin), moves_.end(),
              [](const Move& a, const Move& b) { return a.score < b.score; });
    Answer answer = Answer::kNo;
    for (std::size_t i = begin; i < moves_.size() && answer == Answer::kNo; ++i) {
      if (nodes_ >= max_nodes_) {
        answer = Answer::kUnknown;
        break;
      }
      const Move move = moves_[i];
      answer = descend(at, move);
    }
    moves_.resize(begin);
    return answer;
  }

  Answer descend(const Position& at, const Move& move) {
    Position to = after(at, move.card, move.winner, best_card(at, move));
    if (draw_pending_) {
      draw_pending_ = false;
      draw(to);
      prepare(to);
      table_.forget();
      const Answer answer = assess(to) < 0 ? Answer::kNo : visit(to, Start());
      draw_pending_ = true;
      if (answer == Answer::kYes) remember(move);
      return answer;
    }
    const std::uint64_t at_key = key(to);
    if (fails(at_key)) return Answer::kNo;
    const Answer answer = visit(to, Start());
    if (answer == Answer::kYes) remember(move);
    if (answer == Answer::kNo) failed(at_key);
    return answer;
  }

  static constexpr int kImpossible = 1000;

  SolverTable& table_;
  const Goal goal_;
  const Draws* draws_;
  const std::uint64_t max_nodes_;
  std::uint64_t& nodes_;
  std::vector<std::uint8_t>& line_;  // last card first, while it is found

  Position root_;
  Start started_;
  Cards open_ = 0;  // cards that have been communicated
  bool draw_pending_ = false, clash_ = false;

  Cards special_ = 0;  // cards that are not as good as their neighbours
  Wanted wanted_[kMaxTasks + kNumCards];
  int num_wanted_ = 0;
  std::int8_t owner_[kNumCards], holder_[kNumCards];
  std::uint16_t alike_[kRocket + 1][512] = {};  // by suit and the cards of it that are left: the highest set like it
  std::vector<Move> moves_;
};

static Answer search_here(SolverTable& table, const State& state, std::uint64_t max_nodes, const Draws* draws,
                          std::uint64_t& nodes, std::vector<std::uint8_t>& line) {
  State s = state;
  while (s.phase == Phase::kDraw) {
    const Cards cards = legal(s);
    apply(s, nth(cards, int((*draws)[s.step] * count(cards))));
  }
  return Searcher(table, s, max_nodes, draws, nodes, line).run();
}

}  // namespace trickformer::crew::inline TRICKFORMER_ISA
