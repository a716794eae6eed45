// BSR-UCT, built for each instruction set.
#include <algorithm>
#include <vector>

#include "mines/sampler.hpp"

namespace trickformer::mines::inline TRICKFORMER_ISA {

struct Edge {
  double sum = 0;  // sum of scores
  std::uint32_t visits = 0;
  std::int32_t child = -1;  // the first of the nodes it has led to
  std::uint16_t cell = 0;
};

// A node for an observation. Its actions get memory at the second visit; after the first, one score is enough. The
// cells of a cascade have a node each, which is never visited; it holds the nodes that the next cell's numbers lead to.
struct Node {
  std::int32_t edges = -1;  // the first action, or the first node after a cell of a cascade
  std::int32_t sibling = -1;
  std::uint32_t visits = 0;
  float first_score = 0;
  std::uint8_t number = 0;  // the number shown by the action or the cell of a cascade before it
  std::uint16_t first_cell = 0;
};

template <typename Cells>
class Search {
 public:
  Search(const Board<Cells>& board, const Observation<Cells>& observation, const SearchOptions& options,
         const Counter<Cells>* exact, std::uint64_t seed)
      : board_(board),
        root_(observation),
        options_(options),
        rng_(seed),
        deadline_(options.seconds, options.interrupted),
        sampler_(board, options.method, options.domain, exact) {
    nodes_.emplace_back();
    result_.visits.resize(board.cells());
    result_.values.resize(board.cells());
  }

  SearchResult run() {
    while (result_.simulations < options_.simulations && !deadline_.over()) simulate();
    const Cells unopened = board_.all & ~root_.opened;
    result_.cell = pick(unopened, rng_);
    std::uint32_t most = 0;
    const auto note = [&](int cell, std::uint32_t visits, double sum) {
      result_.visits[cell] = visits;
      result_.values[cell] = sum / visits;
      if (visits <= most) return;
      most = visits;
      result_.cell = cell;
      result_.value = sum / visits;
    };
    const Node& root = nodes_[0];
    if (root.edges < 0) {
      if (root.visits) note(root.first_cell, 1, root.first_score);
      return result_;
    }
    for (int i = root.edges; i < root.edges + count(unopened); ++i)
      if (edges_[i].visits) note(edges_[i].cell, edges_[i].visits, edges_[i].sum);
    return result_;
  }

 private:
  void simulate() {
    Observation<Cells> observation = root_;
    int at = 0, depth = 0;
    Cells layout{};
    double score = -1;
    while (score < 0 && nodes_[at].visits) {
      const int edge = select(at, board_.all & ~observation.opened);
      const int cell = edges_[edge].cell;
      layout = draw(observation, cell, nodes_[at].visits, layout);
      if (!any(layout)) return;  // the time is over; an unfinished simulation does not count
      path_nodes_[depth] = at;
      path_edges_[depth++] = edge;
      if (has(layout, cell)) {
        score = double(observation.n) / board_.safe();
      } else {
        const int shown = number(board_, layout, cell);
        const int before = observation.n;
        open(board_, observation, cell, shown);
        at = child(edge, shown);
        if (board_.cascade)
          open_cascade(board_, observation, layout, before, [&](int next) { at = after_cascaded(at, next); });
        if (observation.n == board_.safe()) score = 1;
      }
    }
    if (score < 0) {  // a new node; this action and all that follow are random
      const int cell = pick(board_.all & ~observation.opened, rng_);
      if (!any(layout)) layout = draw(observation, cell, 0, Cells{});
      if (!any(layout)) return;
      score = playout(layout, observation.opened, cell);
      Node& node = nodes_[at];
      node.visits = 1;
      node.first_cell = std::uint16_t(cell);
      node.first_score = float(score);
    }
    for (int i = 0; i < depth; ++i) {
      ++nodes_[path_nodes_[i]].visits;
      ++edges_[path_edges_[i]].visits;
      edges_[path_edges_[i]].sum += score;
    }
    ++result_.simulations;
  }

  // The layout that determines the result of opening `cell`. The exact method draws one layout per simulation: given
  // the numbers that the layout has shown, it is distributed like a new draw. Before the first move nothing is seen. If
  // the rule lays the mines after that move, the layout is drawn given the move.
  Cells draw(const Observation<Cells>& observation, int cell, std::uint64_t visits, Cells layout) {
    if (options_.method == Method::kExact && any(layout)) return layout;
    if (!observation.n && board_.first_move != FirstMove::kAny) {
      layout = sampler_.prior(cell, rng_);
      ++result_.drawn;
      return layout;
    }
    layout = sampler_.draw(observation, visits, 0, deadline_, rng_);
    if (any(layout)) {
      ++result_.drawn;
      result_.inconsistent += !is_consistent(board_, observation, layout);
    }
    return layout;
  }

  int select(int at, const Cells& unopened) {
    const int actions = count(unopened);
    if (nodes_[at].edges < 0) expand(nodes_[at], unopened);
    const Node& node = nodes_[at];
    int considered = actions;
    if (options_.widening > 0)
      considered = int(std::min(double(actions), std::ceil(std::pow(double(node.visits), options_.widening))));
    const double log = std::log(double(node.visits));
    int best = node.edges;
    double most = -1;
    for (int i = node.edges; i < node.edges + considered; ++i) {
      const Edge& edge = edges_[i];
      if (!edge.visits) return i;
      const double ucb = edge.sum / edge.visits + options_.c * std::sqrt(log / edge.visits);
      if (ucb > most) {
        most = ucb;
        best = i;
      }
    }
    return best;
  }

  // Lists the actions in random order, in which widening considers them. The action of the first visit comes first.
  void expand(Node& node, Cells unopened) {
    node.edges = std::int32_t(edges_.size());
    Edge first;
    first.cell = node.first_cell;
    first.visits = 1;
    first.sum = node.first_score;
    edges_.push_back(first);
    unopened ^= bit<Cells>(node.first_cell);
    while (any(unopened)) {
      Edge edge;
      edge.cell = std::uint16_t(pick(unopened, rng_));
      unopened ^= bit<Cells>(edge.cell);
      edges_.push_back(edge);
    }
  }

  // The node that an action leads to if its cell shows this number.
  int child(int edge, int shown) {
    const int known = find(edges_[edge].child, shown);
    return known >= 0 ? known : edges_[edge].child = add(edges_[edge].child, shown);
  }

  // The node that a cell of a cascade leads to if it shows this number.
  int after_cascaded(int at, int shown) {
    const int known = find(nodes_[at].edges, shown);
    if (known >= 0) return known;
    const std::int32_t added = add(nodes_[at].edges, shown);  // may move the nodes
    return nodes_[at].edges = added;
  }

  // The node with this number in the list that starts at `first`; -1 if there is none.
  int find(int first, int shown) const {
    int at = first;
    while (at >= 0 && nodes_[at].number != shown) at = nodes_[at].sibling;
    return at;
  }

  // Returns a new node before the list that starts at `first`.
  std::int32_t add(std::int32_t first, int shown) {
    Node node;
    node.number = std::uint8_t(shown);
    node.sibling = first;
    nodes_.push_back(node);
    return std::int32_t(nodes_.size()) - 1;
  }

  // The score of opening `cell`, then random cells, until a mine or the last safe cell is opened.
  double playout(const Cells& layout, Cells opened, int cell) {
    int n = count(opened);
    while (!has(layout, cell)) {
      if (board_.cascade) {  // a layout that is not consistent could open more cells than are safe
        opened = with_cascade(board_, layout, opened, cell);
        n = std::min(count(opened), board_.safe());
      } else {
        opened |= bit<Cells>(cell);
        ++n;
      }
      if (n == board_.safe()) break;
      cell = pick(board_.all & ~opened, rng_);
    }
    return double(n) / board_.safe();
  }

  const Board<Cells>& board_;
  const Observation<Cells>& root_;
  SearchOptions options_;
  Rng rng_;
  Deadline deadline_;
  Sampler<Cells> sampler_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  int path_nodes_[kRoom<Cells>], path_edges_[kRoom<Cells>];
  SearchResult result_;
};

}  // namespace trickformer::mines::inline TRICKFORMER_ISA

namespace trickformer::mines::built::TRICKFORMER_ISA {

SearchResult search(const Any<Board>& board, const Any<Observation>& observation, const Any<Counter>* exact,
                    const SearchOptions& options, std::uint64_t seed) {
  return on_board(board, observation, [&]<typename Cells>(const Board<Cells>& b, const Observation<Cells>& s) {
    return Search<Cells>(b, s, options, std::get_if<Counter<Cells>>(exact), seed).run();
  });
}

void sample(const Any<Board>& board, const Any<Observation>& observation, const Any<Counter>* exact, Method method,
            Domain domain, std::uint64_t trials, std::uint64_t seed, std::size_t n, bool (*interrupted)(),
            std::uint64_t* out) {
  on_board(board, observation, [&]<typename Cells>(const Board<Cells>& b, const Observation<Cells>& s) {
    Sampler<Cells> sampler(b, method, domain, std::get_if<Counter<Cells>>(exact));
    Deadline deadline(0, interrupted);
    Rng rng(seed);
    const std::uint64_t limit = method == Method::kRejection ? trials : 0;
    for (std::size_t i = 0; i < n && !deadline.over(); ++i) {
      const Cells layout = sampler.draw(s, trials, limit, deadline, rng);
      store(layout, out + i * kWords<Cells>);
    }
  });
}

}  // namespace trickformer::mines::built::TRICKFORMER_ISA
