// The search of the solver, built for each instruction set.
#include "crew/solver_outlook.inl"

namespace trickformer::crew::inline TRICKFORMER_ISA {

class Searcher : Outlook {
 public:
  Searcher(SolverTable& table, const State& s, std::uint64_t max_nodes, const Draws* draws, std::uint64_t& nodes,
           std::vector<std::uint8_t>& line)
      : Outlook(s), table_(table), draws_(draws), max_nodes_(max_nodes), nodes_(nodes), line_(line) {
    for (int p = 0; p < kPlayers; ++p) {
      root_.hand[p] = s.hand[p];
      root_.wins[p] = s.wins[p];
      if (s.message[p].label) communicated_ |= bit(s.message[p].card);
    }
    root_.leader = s.leader;
    root_.trick = std::uint8_t(s.trick());
    root_.ones = s.ones;
    draw_pending_ = s.mission.has(Rule::kDraw) && s.trick() == 0;
    started_.size = s.num_plays % kPlayers;
    for (int i = 0; i < started_.size; ++i) {
      const int card = s.plays[s.trick() * kPlayers + i];
      started_.card[i] = std::uint8_t(card);
      root_.hand[next_seat(s.leader, i)] |= bit(card);  // the current trick is played again from its lead
    }
  }

  Verdict run() {
    table_.forget();
    prepare(root_);
    if (!draw_pending_ && assess(root_) < 0) return Verdict::kNo;
    Verdict answer = Verdict::kUnknown;
    for (std::uint64_t attempt = 0; answer == Verdict::kUnknown && nodes_ < max_nodes_; ++attempt) {
      limit_ = std::min(max_nodes_, nodes_ + budget(attempt));
      noise_ = attempt ? kNoise : 1;
      if (draw_pending_) prepare(root_);  // the last attempt left the holders after the draw
      answer = visit(root_, started_);
    }
    if (answer == Verdict::kYes) {
      std::reverse(line_.begin(), line_.end());
      line_.erase(line_.begin(), line_.begin() + started_.size);
    }
    return answer;
  }

 private:
  struct Start {
    std::uint8_t card[kPlayers] = {};
    int size = 0;  // cards of the trick that are already played
  };
  // A trick that may follow a position.
  struct Move {
    std::int32_t score;
    std::uint8_t card[kPlayers];
    std::int8_t winner;
  };
  struct Trick {
    std::uint8_t card[kPlayers];
    int best, best_seat;
    unsigned may_win;  // seats that may win it, as bits
    Cards cards;
  };
  // Data shared by all tricks that may follow a position.
  struct Node {
    Position at;
    Start start;
    Cards open;             // cards of open tasks
    Cards banned;           // those of them that may not be won in this trick
    Cards tried[kPlayers];  // one card for each group of equivalent ones
  };

  // Limits of the attempts: 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ... times kLeast (Luby, Sinclair & Zuckerman 1993).
  static std::uint64_t budget(std::uint64_t attempt) {
    std::uint64_t n = attempt + 1;
    while (n & (n + 1)) n -= (std::uint64_t{1} << highest(n)) - 1;
    return kLeast * (n + 1) / 2;
  }

  // ---- equivalent cards ----

  // Computes the holders of the cards, and `canonical_`. Both are valid until cards are drawn. Sets of cards of a suit
  // are equivalent if the same seats hold their cards in the same order, and if they have the same special cards.
  void prepare(const Position& at) {
    special_ = goal_.tasks | (goal_.ones ? kOnes : 0) | (goal_.nines ? kNines : 0);
    hold(at);
    for (int s = 0; s <= kRocket; ++s) {
      const int shift = kValues * s;
      const Cards here = at.all() & suit_cards(s);
      for (int cards = 1; cards < 512; ++cards) {
        const Cards set = Cards(cards) << shift;
        if (set & ~here) continue;
        const int low = lowest(set);
        const Cards above = Cards(canonical_[s][cards & (cards - 1)]) << shift;
        Cards same = bit(low);
        if (!(special_ >> low & 1)) same = here & at.hand[holder_[low]] & ~special_;
        if (above) same &= (above & (~above + 1)) - 1;
        canonical_[s][cards] = std::uint16_t(bit(highest(same)) >> shift | above >> shift);
      }
    }
  }

  // The key is equal for positions that either all fail or all succeed. Within a suit only the order of the holders
  // matters, except for special cards.
  std::uint64_t key(const Position& at) const {
    const Cards all = at.all();
    std::uint64_t cards = 0;
    for (int s = 0; s <= kRocket; ++s) cards |= std::uint64_t(canonical_[s][all >> kValues * s & 511]) << kValues * s;
    std::uint64_t rest = at.leader;
    if (goal_.ones) rest |= std::min<int>(at.ones, goal_.ones) << 2;
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
  void store_failure(std::uint64_t key) { slot(key) = key | table_.stamp << 48; }

  // ---- tricks ----

  // Merges cards of one hand that no other card separates: returns the lowest of each group.
  Cards distinct(Cards hand, Cards all) const {
    Cards out = 0;
    for (Cards left = hand; left;) {
      const int card = take_lowest(left);
      const Cards under = all & lower(card);
      const Cards next = under ? bit(highest(under)) : 0;
      if (!(next & hand) || (next | bit(card)) & special_) out |= bit(card);
    }
    return out;
  }

  // Tries the legal cards as card `i` of the trick, one of each group of equivalent cards, and for each of them all
  // cards that may follow. Returns true as soon as a trick fulfils the mission.
  bool extend(const Node& node, int i, const Trick& trick) {
    const Position& at = node.at;
    const int p = next_seat(at.leader, i), lead = i ? trick.card[0] : -1;
    Cards choices =
        i < node.start.size ? bit(node.start.card[i]) : legal_plays(at.hand[p], lead) & node.tried[p] & ~node.banned;
    if (goal_.rockets && trick.cards & kRockets) choices &= ~kRockets;
    while (choices) {
      const int card = take_lowest(choices);
      ++nodes_;
      Trick next = trick;
      next.card[i] = std::uint8_t(card);
      next.cards |= bit(card);
      if (i == 0 || beats(card, trick.best)) {
        next.best = card;
        next.best_seat = p;
      }
      if (owner_[card] >= 0) next.may_win &= 1u << owner_[card];
      if (!winnable(at, next, i)) continue;
      if (i == kPlayers - 1 ? complete(node, next) : extend(node, i + 1, next)) return true;
    }
    return false;
  }

  // Returns whether a seat that may win the trick still can.
  static bool winnable(const Position& at, const Trick& trick, int i) {
    if (trick.may_win >> trick.best_seat & 1) return true;
    const Cards over = suit(trick.best) == kRocket ? higher(trick.best) : higher(trick.best) | kRockets;
    for (int j = i + 1; j < kPlayers; ++j) {
      const int p = next_seat(at.leader, j);
      if (trick.may_win >> p & 1 && legal_plays(at.hand[p], trick.card[0]) & over) return true;
    }
    return false;
  }

  // Returns true if this trick fulfils the mission; keeps the trick as a move if the mission may continue.
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
    const bool unfinished = node.open & ~made || (goal_.to_the_end && !last) || to.ones < goal_.ones ||
                            (goal_.rockets && all & kRockets) || (goal_.nines && all & kNines) ||
                            (goal_.rules.has(Rule::kAllPink) && all & kPink);
    if (unfinished && last) return false;
    Move move{0, {}, std::int8_t(trick.best_seat)};
    std::copy(trick.card, trick.card + kPlayers, move.card);
    if (!unfinished) {
      remember(move);
      return true;
    }
    move.score = assess(to);
    if (!draw_pending_ && (move.score < 0 || fails(key(to)))) return false;
    if (move.score < 0) move.score = kImpossible;  // a draw may still change the holders
    move.score += int(rng_.below(noise_));
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

  // Every seat draws a card from the hand of its right neighbour, all at the same time. Communicated cards cannot be
  // drawn.
  void draw(Position& at) const {
    Cards drawn[kPlayers];
    for (int p = 0; p < kPlayers; ++p) {
      const Cards from = at.hand[next_seat(p, 3)] & ~communicated_;
      drawn[p] = bit(nth(from, int((*draws_)[std::size_t(p)] * count(from))));
    }
    for (int p = 0; p < kPlayers; ++p) at.hand[next_seat(p, 3)] ^= drawn[p];
    for (int p = 0; p < kPlayers; ++p) at.hand[p] |= drawn[p];
  }

  // ---- positions ----

  Verdict visit(const Position& at, const Start& start) {
    Node node{at, start, at.all() & goal_.tasks, 0, {}};
    node.banned = banned(at, node.open);
    for (int p = 0; p < kPlayers; ++p) node.tried[p] = distinct(at.hand[p], at.all());
    const std::size_t begin = moves_.size();
    if (extend(node, 0, {{}, 0, 0, may_win(at), 0})) return Verdict::kYes;
    std::sort(moves_.begin() + std::ptrdiff_t(begin), moves_.end(),
              [](const Move& a, const Move& b) { return a.score < b.score; });
    Verdict answer = Verdict::kNo;
    for (std::size_t i = begin; i < moves_.size() && answer == Verdict::kNo; ++i) {
      if (nodes_ >= limit_) {
        answer = Verdict::kUnknown;
        break;
      }
      const Move move = moves_[i];
      answer = descend(at, move);
    }
    moves_.resize(begin);
    return answer;
  }

  Verdict descend(const Position& at, const Move& move) {
    Position to = after(at, move.card, move.winner, best_card(at, move));
    if (draw_pending_) {
      draw_pending_ = false;
      draw(to);
      prepare(to);
      table_.forget();
      const Verdict answer = assess(to) < 0 ? Verdict::kNo : visit(to, Start());
      draw_pending_ = true;
      if (answer == Verdict::kYes) remember(move);
      return answer;
    }
    const std::uint64_t at_key = key(to);
    if (fails(at_key)) return Verdict::kNo;
    const Verdict answer = visit(to, Start());
    if (answer == Verdict::kYes) remember(move);
    if (answer == Verdict::kNo) store_failure(at_key);
    return answer;
  }

  static constexpr std::uint64_t kLeast = 2000;  // unit of the limits, in cards tried
  static constexpr std::uint32_t kNoise = 16;    // noise on a move's score: as much as one task more or less

  SolverTable& table_;
  const Draws* draws_;
  const std::uint64_t max_nodes_;
  std::uint64_t& nodes_;
  std::uint64_t limit_ = 0;  // limit of the current attempt
  std::uint32_t noise_ = 1;
  Rng rng_{0};
  std::vector<std::uint8_t>& line_;  // while it is built, the last card comes first

  Position root_;
  Start started_;
  Cards communicated_ = 0;
  bool draw_pending_ = false;

  Cards special_ = 0;  // cards that are not equivalent to their neighbours
  // By suit and set of its cards that are left: the equivalent set with the highest cards.
  std::uint16_t canonical_[kRocket + 1][512] = {};
  std::vector<Move> moves_;
};

}  // namespace trickformer::crew::inline TRICKFORMER_ISA

namespace trickformer::crew::built::TRICKFORMER_ISA {

Verdict search(SolverTable& table, const State& state, std::uint64_t max_nodes, const Draws* draws,
               std::uint64_t& nodes, std::vector<std::uint8_t>& line) {
  State s = state;
  while (s.phase == Phase::kDraw) {
    const Cards cards = legal(s);
    apply(s, nth(cards, int((*draws)[s.step] * count(cards))));
  }
  return Searcher(table, s, max_nodes, draws, nodes, line).run();
}

}  // namespace trickformer::crew::built::TRICKFORMER_ISA
