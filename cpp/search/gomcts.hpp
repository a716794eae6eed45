// Generative Observation Monte Carlo Tree Search: Algorithms 1 and 3 of the GO-MCTS paper.
//
// A search never calls a model. It runs until all its runs wait, reports which nodes need a policy or a value, and
// continues with the answers. So any number of searches can share a forward pass, and any backend can answer.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/rng.hpp"
#include "core/share.hpp"
#include "core/tracker.hpp"

namespace trickformer::gomcts {

// Nodes, edges and tokens have int indices, because -1 means none; a vector is indexed by std::size_t.
template <typename Vector>
auto& element(Vector& items, int i) {
  return items[std::size_t(i)];
}

struct Options {
  int runs = 100;              // simulations per decision
  int steps = 2;               // a rollout stops when the own turn has come up this many times
  double c = 0.4;              // exploration constant
  double threshold = 0.05;     // an own action gets a child if its share of the legal policy is higher
  double mu = 0.01;            // penalty for each action on the path of an illegal history
  int wave = 1;                // number of runs in flight at the same time; virtual loss spreads them
  bool legal = false;          // sample only tokens that are possible in some deal; otherwise any token of the model
  bool features = false;       // the model reads the features of each token
  bool action_values = false;  // edges start with the model's Q(s, a), and need no forward pass of their own
  bool leaf_action_values = false;     // a run that stops at the own turn takes the best Q(s, a) as its value
  bool rollout_action_values = false;  // after leaving the tree, own moves are `best_action`s, not samples
  double temperature = 1;              // of the softmax that tokens are sampled from
};

// Statistics of an action.
struct Edge {
  Edge(int t, int node, double estimate)
      : token(t), child(node), value(estimate), squares(estimate * estimate), visits(1) {}

  int token;
  int child;          // index of the node after it
  double value;       // sum of the values, the model's estimate first, less penalties
  double squares;     // sum of the values' squares
  int visits;         // number of values
  int in_flight = 0;  // runs that passed through it and have not been backed up
};

// A node of the tree of imagined histories.
struct ImaginedNode {
  int parent;  // index, always lower than the node's own; -1 for the root
  int token;   // the token that leads to it; -1 for the root
  int runs;    // legal runs that passed through it
  double sum;  // sum of their values
};

class Search {
 public:
  // tracker: stands at the own turn. root: its node in the backend. outcome_values: float [outcomes, players], the own
  // seat first.
  Search(std::unique_ptr<Tracker> tracker, const Options& options, std::uint64_t seed, int root,
         std::span<const float> outcome_values, int players);

  // Continues until every run waits for the model. Returns false if all runs are done.
  bool advance();
  int runs() const { return options_.runs; }
  int started() const { return started_; }
  bool needs_actions() const { return options_.leaf_action_values || options_.rollout_action_values; }

  // The open requests. Each span lists nodes by their index in the search: nodes to append in the backend below their
  // parent, nodes whose policy is needed, and nodes whose value is needed.
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
  int best() const;  // index of the root edge with the highest value / visits; the first of equals
  int illegal() const { return illegal_; }
  std::vector<ImaginedNode> imagined_tree() const;  // by index, the root first
  int vocabulary() const { return root_tracker_->vocabulary(); }
  // Number of features of each token that the model reads.
  int feature_count() const { return options_.features ? root_tracker_->feature_count() : 0; }
  std::vector<int> backend_nodes() const;  // all but the root's

 private:
  struct Node {
    int parent, token;
    int backend = -1;
    int runs = 0;  // legal runs that passed through
    double sum = 0;
    bool has_value = false, expanded = false;
    bool asked_node = false, asked_policy = false, asked_value = false;
    float value = 0;
    std::vector<float> logits;   // empty until known
    std::vector<float> actions;  // Q(s, a) at an own turn, if the search uses action values
    TokenSet next;               // tokens that may be sampled, if Options::legal
    bool has_next = false;
    std::vector<std::pair<int, int>> children;  // (token, node); own turns have them in `edges` too
    std::vector<Edge> edges;                    // filled when an own turn is expanded
  };
  enum class Phase : std::uint8_t { kDescend, kExpand, kRollout, kIdle };
  struct Run {
    std::unique_ptr<Tracker> tracker;
    Rng rng{0};
    std::vector<std::pair<int, int>> selected;  // (node, index of the edge taken)
    int node = 0, steps = 0;
    Phase phase = Phase::kIdle;
  };

  void begin(Run& run);
  bool go_on(Run& run);  // false: it waits for the model
  bool expand(Run& run);
  bool rollout(Run& run);
  int select(const Node& node) const;
  // The legal actions whose share of the legal policy is above the threshold, or else the likeliest one.
  std::vector<int> likely_actions(const Node& node, const TokenSet& legal) const;
  int best_action(const Node& node, const TokenSet& legal) const;  // the likely action with the highest Q(s, a)
  int sample(Run& run);
  int child(int node, int token);
  Node& at(int node) { return element(nodes_, node); }
  const Node& at(int node) const { return element(nodes_, node); }
  // These request the policy of a node, its value, or its place in the backend. The first two return true if the answer
  // is already known. The tracker stands at the node if `token` is -1. Otherwise it stands at the parent, from which
  // `token` leads to the node.
  bool want_policy(int node, const Tracker& tracker);
  bool want_value(int node, const Tracker& tracker, int token = -1);
  void want_node(int node, const Tracker& tracker, int token);
  bool leaf_value(Run& run, double& value);
  void finish(Run& run);  // at a history that is terminal or cut off
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

// Any number of searches whose requests are answered together.
class Batch {
 public:
  Batch() = default;
  Batch(Batch&&) = default;  // searches own their trackers, so a batch can be moved but not copied

  // Throws std::invalid_argument if the vocabulary or the features differ from the searches in the batch.
  void add(Search search);
  std::size_t size() const { return searches_.size(); }
  const Search& operator[](std::size_t i) const { return searches_[i]; }

  // Continues every search. Returns false if all are done. If it returns true, read `branches` and call `give_nodes`;
  // then read `policy_nodes` and `value_nodes` and call `answer`. Throws std::invalid_argument if the last requests are
  // not answered, and in every call after a tracker has thrown an exception.
  bool advance();
  // Parent node in the backend and token of each branch, and features [branches, features] if the searches use them.
  void branches(std::vector<int>& parents, std::vector<int>& tokens, std::vector<float>& features) const;
  void give_nodes(std::span<const int> nodes);
  std::vector<int> policy_nodes() const;  // backend nodes
  std::vector<int> value_nodes() const;
  std::size_t asked_nodes() const { return nodes_.size(); }
  std::size_t asked_policies() const { return policies_.size(); }
  std::size_t asked_values() const { return values_.size(); }
  int vocabulary() const { return searches_.empty() ? 0 : searches_[0].vocabulary(); }
  // Whether some search needs action values to end its runs.
  bool needs_actions() const { return needs_actions_; }
  // policy: float [policy_nodes, vocabulary]. values: float [value_nodes, players], the own seat first. actions: float
  // [policy_nodes, vocabulary], or null; throws std::invalid_argument for null if needs_actions.
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
  Share share_;                           // progress in runs
  std::int64_t past_ = 0;                 // runs that had finished when share_ last ended; share_ does not count them
  bool placed_ = true, answered_ = true;  // whether the last requests are answered
  bool failed_ = false, needs_actions_ = false;
};

}  // namespace trickformer::gomcts
