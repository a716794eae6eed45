// Generative Observation Monte Carlo Tree Search: Algorithms 1 and 3 of the GO-MCTS paper.
//
// A search never calls a model. It goes as far as it can, says which nodes it needs the policy or the value of,
// and goes on with the answers; so any number of searches share a forward pass, and any backend can give it.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/rng.hpp"
#include "core/share.hpp"
#include "core/tracker.hpp"

namespace trickformer::gomcts {

// Nodes, edges and tokens are numbered by int, because -1 means none. Vectors want another type.
template <typename Vector>
auto& element(Vector& items, int i) {
  return items[std::size_t(i)];
}

struct Options {
  int runs = 100;                   // simulations a decision
  int steps = 2;                    // returns to the own turn after which a rollout stops
  double c = 0.4;                   // exploration
  double threshold = 0.05;          // own actions of a lower legal-normalized probability get no child
  double mu = 0.01;                 // what an illegal history costs each action on its path
  int wave = 1;                     // runs under way at once, spread by virtual loss
  bool legal = false;               // sample only what some deal allows; otherwise whatever the model says
  bool features = false;            // the model takes the features of each token
  bool action_values = false;       // edges begin with the model's Q(s, a), and need no pass of their own
  bool leaf_action_values = false;  // a run that stops at the own turn counts the best Q(s, a) there
};

// What the search learned of an action.
struct Edge {
  int token;
  int child;  // index of the node behind it
  double value;
  int visits;
  int in_flight = 0;  // runs that went through it and have not come back
};

// A node of the tree of imagined histories.
struct ImaginedNode {
  int parent;  // an index below the own; -1 of the root
  int token;   // that leads to it; -1 of the root
  int runs;    // legal ones that went through it
  double sum;  // of what those brought
};

class Search {
 public:
  // tracker: at the own turn. root: its node in the backend. outcome_values: float [outcomes, players], own first.
  Search(std::unique_ptr<Tracker> tracker, const Options& options, std::uint64_t seed, int root,
         std::span<const float> outcome_values, int players);

  // Goes on until every run waits for the model. False: all runs are done.
  bool advance();
  int runs() const { return options_.runs; }
  int begun() const { return started_; }
  bool needs_actions() const { return options_.leaf_action_values; }

  // The requests that the runs wait for, as indices of the search's own nodes: a place in the backend, below the
  // parent's; the policy; the value.
  std::span<const int> wants_node() const { return wants_node_; }
  std::span<const float> wanted_features() const { return wanted_features_; }  // [wants_node, features]
  std::span<const int> wants_policy() const { return wants_policy_; }
  std::span<const int> wants_value() const { return wants_value_; }
  int token(int node) const { return at(node).token; }
  int parent(int node) const { return at(node).parent; }
  int backend_node(int node) const { return at(node).backend; }
  void give_node(int node, int backend_node) { at(node).backend = backend_node; }
  // actions: Q(s, a) by token, or empty.
  void give_policy(int node, std::span<const float> logits, std::span<const float> actions);
  void give_value(int node, const float* values);

  std::span<const Edge> root_edges() const { return nodes_[0].edges; }
  int best() const;  // index of the root edge of highest value / visits, the first of equals
  int illegal() const { return illegal_; }
  std::vector<ImaginedNode> imagined_tree() const;  // by index, the root first
  int vocabulary() const { return root_tracker_->vocabulary(); }
  // Features of each token that the model receives.
  int feature_count() const { return options_.features ? root_tracker_->feature_count() : 0; }
  std::vector<int> backend_nodes() const;  // all but the root's

 private:
  struct Node {
    int parent, token;
    int backend = -1;
    int runs = 0;  // legal ones that came through here
    double sum = 0;
    bool has_value = false, expanded = false;
    bool asked_node = false, asked_policy = false, asked_value = false;
    float value = 0;
    std::vector<float> logits;   // empty until known
    std::vector<float> actions;  // Q(s, a) of an own turn, where the search uses it
    TokenSet next;               // what may be sampled, where the search asks for it
    bool has_next = false;
    std::vector<std::pair<int, int>> children;  // token, node; own turns keep them in `edges` too
    std::vector<Edge> edges;                    // of an expanded own turn
  };
  enum class Phase : std::uint8_t { kDescend, kExpand, kRollout, kIdle };
  struct Run {
    std::unique_ptr<Tracker> tracker;
    Rng rng{0};
    std::vector<std::pair<int, int>> selected;  // node, index of the edge taken
    int node = 0, steps = 0;
    Phase phase = Phase::kIdle;
  };

  void begin(Run& run);
  bool go_on(Run& run);  // false: waits for the model
  bool expand(Run& run);
  bool rollout(Run& run);
  int select(const Node& node) const;
  int sample(Run& run);
  int child(int node, int token);
  Node& at(int node) { return element(nodes_, node); }
  const Node& at(int node) const { return element(nodes_, node); }
  // Request the policy, the value or a place in the backend of a node. True: the answer is known already. The tracker
  // stands at the node, or at its parent if `token`, which leads from there to the node, is not -1.
  bool want_policy(int node, const Tracker& tracker);
  bool want_value(int node, const Tracker& tracker, int token = -1);
  void want_node(int node, const Tracker& tracker, int token);
  bool leaf_value(Run& run, double& value);
  void finish(Run& run);  // a terminal or cut history
  void backup(Run& run, double value, bool legal);

  std::unique_ptr<Tracker> root_tracker_;
  Options options_;
  std::uint64_t seed_;
  std::span<const float> outcome_values_;
  int players_, started_ = 0, illegal_ = 0;
  std::vector<Node> nodes_;
  std::vector<Run> runs_;
  std::vector<int> wants_node_, wants_policy_, wants_value_;
  std::vector<float> wanted_features_;
};

// Any number of searches that ask together.
class Batch {
 public:
  Batch() = default;
  Batch(Batch&&) = default;  // searches own their trackers: a batch moves, it is not copied

  // Throws std::invalid_argument where its model has other tokens or features than that of the searches before.
  void add(Search search);
  std::size_t size() const { return searches_.size(); }
  const Search& operator[](std::size_t i) const { return searches_[i]; }

  // Goes on with every search. False: all are done. Afterwards the three questions below stand; give_nodes
  // must be called before policy_nodes and value_nodes are read, and all must be answered before the next call, else
  // it throws std::invalid_argument, and in every call after one in which a tracker threw.
  bool advance();
  // Backend node and token, and the features [branches, features] where the searches give them.
  void branches(std::vector<int>& parents, std::vector<int>& tokens, std::vector<float>& features) const;
  void give_nodes(std::span<const int> nodes);
  std::vector<int> policy_nodes() const;  // backend nodes
  std::vector<int> value_nodes() const;
  std::size_t asked_nodes() const { return nodes_.size(); }
  std::size_t asked_policies() const { return policies_.size(); }
  std::size_t asked_values() const { return values_.size(); }
  int vocabulary() const { return searches_.empty() ? 0 : searches_[0].vocabulary(); }
  // Whether some search counts action values at the end of its runs, and so cannot do without them.
  bool needs_actions() const { return needs_actions_; }
  // policy: float [policy_nodes, vocabulary]; values: float [value_nodes, players], own first.
  // actions: float [policy_nodes, vocabulary], or null; throws std::invalid_argument where needs_actions.
  void answer(const float* policy, std::size_t vocabulary, const float* actions, const float* values,
              std::size_t players);

 private:
  // A node of one of the searches.
  struct Place {
    std::size_t search;
    int node;
  };
  std::vector<Search> searches_;
  std::vector<Place> nodes_, policies_, values_;
  Share share_;                           // of runs
  std::int64_t past_ = 0;                 // runs that are counted in it no more
  bool placed_ = true, answered_ = true;  // what was asked for last
  bool failed_ = false, needs_actions_ = false;
};

}  // namespace trickformer::gomcts
