#include "search/gomcts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace trickformer::gomcts {

Search::Search(std::unique_ptr<Tracker> tracker, const Options& options, std::uint64_t seed, int root,
               std::span<const float> outcome_values, int players)
    : root_tracker_(std::move(tracker)),
      options_(options),
      seed_(seed),
      outcome_values_(outcome_values),
      players_(players),
      runs_(std::size_t(std::min(options.wave, options.runs))) {
  // A tracker written in Python fixes its number of features at the first request, and its copies take it over.
  if (options.features) root_tracker_->feature_count();
  Node node{};
  node.parent = node.token = -1;
  node.backend = root;
  node.asked_node = true;
  nodes_.push_back(std::move(node));
}

bool Search::advance() {
  wants_node_.clear();
  wants_policy_.clear();
  wants_value_.clear();
  wanted_features_.clear();
  bool waiting = false;
  for (Run& run : runs_) {
    bool blocked = false;
    while (!blocked) {
      if (run.phase == Phase::kIdle) {
        if (started_ == options_.runs) break;
        begin(run);
      }
      blocked = !go_on(run);
    }
    waiting |= blocked;
  }
  return waiting;
}

void Search::begin(Run& run) {
  run.tracker = root_tracker_->copy();
  // each run has its own random stream, so the order of runs does not matter
  run.rng = Rng(seed_, std::uint64_t(started_++));
  run.selected.clear();
  run.node = 0;
  run.phase = Phase::kDescend;
}

bool Search::go_on(Run& run) {
  if (run.phase == Phase::kExpand) return expand(run);
  if (run.phase == Phase::kRollout) return rollout(run);
  // Descend the tree, to a node that is not expanded or to the end of the game.
  while (true) {
    if (run.tracker->terminal()) {
      finish(run);
      return true;
    }
    if (!want_policy(run.node, *run.tracker)) return false;
    if (!run.tracker->my_turn()) {
      const int token = sample(run);
      run.tracker->push(token);
      run.node = child(run.node, token);
      continue;
    }
    Node& node = at(run.node);
    if (!node.expanded) {
      // After a history that no deal explains, the seat may have no legal card, and so nothing to choose from.
      const bool stuck = run.tracker->legal().size() == 0;
      run.phase = stuck ? Phase::kRollout : Phase::kExpand;
      run.steps = options_.steps;
      return stuck ? rollout(run) : expand(run);
    }
    const int chosen = select(node);
    Edge& edge = element(node.edges, chosen);
    ++edge.in_flight;
    run.selected.emplace_back(run.node, chosen);
    run.tracker->push(edge.token);
    run.node = edge.child;
  }
}

// Expand: each legal action that is likely enough under the policy becomes a child with one visit. The value of the
// visit is the model's value after the action, or its Q(s, a) if it has action values. Two runs of a wave may reach
// this node at once; the first to get its answers expands it.
bool Search::expand(Run& run) {
  const int here = run.node;
  if (!at(here).expanded) {
    bool known = true;
    std::vector<Edge> edges;
    for (int token : likely_actions(at(here), run.tracker->legal())) {
      const int next = child(here, token);
      const std::vector<float>& actions = at(here).actions;
      if (options_.action_values && !actions.empty()) {
        edges.emplace_back(token, next, element(actions, token));
        continue;
      }
      known &= want_value(next, *run.tracker, token);
      edges.emplace_back(token, next, at(next).value);
    }
    if (!known) return false;
    at(here).edges = std::move(edges);
    at(here).expanded = true;
  }
  run.phase = Phase::kRollout;
  return rollout(run);
}

std::vector<int> Search::likely_actions(const Node& node, const TokenSet& legal) const {
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  int likeliest = legal.first();  // stays if all logits are NaN
  const int vocabulary = int(node.logits.size());
  for (int t = 0; t < vocabulary; ++t)
    if (legal.has(t) && element(node.logits, t) > top) {
      top = element(node.logits, t);
      likeliest = t;
    }
  for (int t = 0; t < vocabulary; ++t)
    if (legal.has(t)) sum += std::exp(element(node.logits, t) - top);
  std::vector<int> tokens;
  for (int t = 0; t < vocabulary; ++t)
    if (legal.has(t) && std::exp(element(node.logits, t) - top) / sum > options_.threshold) tokens.push_back(t);
  if (likeliest >= vocabulary)
    throw std::invalid_argument("legal() of a tracker has no token of the vocabulary, or changed between two calls");
  if (tokens.empty()) tokens.push_back(likeliest);
  return tokens;
}

int Search::best_action(const Node& node, const TokenSet& legal) const {
  const std::vector<int> tokens = likely_actions(node, legal);
  const auto less = [&](int a, int b) { return element(node.actions, a) < element(node.actions, b); };
  return *std::max_element(tokens.begin(), tokens.end(), less);
}

bool Search::rollout(Run& run) {
  while (!run.tracker->terminal()) {
    if (run.steps == 0) {
      double value = 0;
      if (!leaf_value(run, value)) return false;
      // The run stops before the game ends. Its history counts as legal.
      backup(run, value, true);
      return true;
    }
    if (!want_policy(run.node, *run.tracker)) return false;
    // After a history that no deal explains, the seat may have no legal action to choose from.
    const TokenSet own = options_.rollout_action_values && run.tracker->my_turn() ? run.tracker->legal() : TokenSet{};
    const int token = own.size() ? best_action(at(run.node), own) : sample(run);
    run.tracker->push(token);
    run.node = child(run.node, token);
    if (run.tracker->my_turn()) --run.steps;
  }
  finish(run);
  return true;
}

// The model's value of a history that has not ended.
bool Search::leaf_value(Run& run, double& value) {
  if (!options_.leaf_action_values || !run.tracker->my_turn()) {
    if (!want_value(run.node, *run.tracker)) return false;
    value = at(run.node).value;
    return true;
  }
  if (!want_policy(run.node, *run.tracker)) return false;
  const TokenSet legal = run.tracker->legal();
  const std::vector<float>& actions = at(run.node).actions;
  value = -std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t < actions.size(); ++t)
    if (legal.has(int(t))) value = std::max(value, double(actions[t]));
  if (legal.size() == 0) value = 0;  // no deal explains this history, so there is nothing to choose from
  return true;
}

void Search::finish(Run& run) {
  const bool legal = run.tracker->is_legal();
  illegal_ += !legal;
  double value = 0;
  if (legal) {
    const std::int64_t first = std::int64_t{run.tracker->outcome()} * players_;  // the own seat's value
    if (first < 0 || first >= std::int64_t(outcome_values_.size()))
      throw std::out_of_range("a tracker ended in an outcome that the game does not have");
    value = outcome_values_[std::size_t(first)];
  }
  backup(run, value, legal);
}

// Updates every edge on the path from the run's last node to the root, as in the paper. If the first move of a rollout
// is an edge of the node that was just expanded, that edge is updated too.
void Search::backup(Run& run, double value, bool legal) {
  for (const auto& [node, chosen] : run.selected) --element(at(node).edges, chosen).in_flight;
  for (int node = run.node; node != -1; node = at(node).parent) {
    at(node).runs += legal;
    at(node).sum += legal ? value : 0;
    if (node == 0) break;
    for (Edge& edge : at(at(node).parent).edges) {
      if (edge.child != node) continue;
      if (legal) {
        edge.value += value;
        edge.squares += value * value;
        ++edge.visits;
      } else {
        edge.value -= options_.mu;
      }
    }
  }
  run.phase = Phase::kIdle;
}

std::vector<ImaginedNode> Search::imagined_tree() const {
  std::vector<ImaginedNode> out;
  out.reserve(nodes_.size());
  for (const Node& node : nodes_) out.push_back({node.parent, node.token, node.runs, node.sum});
  return out;
}

// UCT. A run in flight counts as a visit whose value was c below the mean. With one run at a time there are none in
// flight.
int Search::select(const Node& node) const {
  int total = 0, best = 0;
  for (const Edge& e : node.edges) total += e.visits + e.in_flight;
  double best_score = -std::numeric_limits<double>::infinity();
  const double log_total = std::log(double(total));
  for (std::size_t i = 0; i < node.edges.size(); ++i) {
    const Edge& e = node.edges[i];
    const double visits = e.visits + e.in_flight;
    const double mean = (e.value + e.in_flight * (e.value / e.visits - options_.c)) / visits;
    const double score = mean + options_.c * std::sqrt(log_total / visits);
    if (score > best_score) {
      best_score = score;
      best = int(i);
    }
  }
  return best;
}

int Search::sample(Run& run) {
  Node& node = at(run.node);
  if (options_.legal && !node.has_next) {
    node.next = run.tracker->possible();
    node.has_next = true;
  }
  if (options_.legal && node.next.size() == 1) return node.next.first();
  const auto ok = [&](std::size_t t) { return !options_.legal || node.next.has(int(t)); };
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t t = 0; t < node.logits.size(); ++t)
    if (ok(t)) top = std::max(top, double(node.logits[t]));
  const double sharpness = 1 / options_.temperature;
  double weights[kMaxVocabulary];
  for (std::size_t t = 0; t < node.logits.size(); ++t) {
    weights[t] = ok(t) ? std::exp((double(node.logits[t]) - top) * sharpness) : 0.0;
    sum += weights[t];
  }
  double left = run.rng.uniform() * sum;
  int last = 0;
  for (std::size_t t = 0; t < node.logits.size(); ++t) {
    if (weights[t] == 0) continue;
    last = int(t);
    left -= weights[t];
    if (left < 0) break;
  }
  return last;
}

int Search::child(int node, int token) {
  for (const auto& [t, index] : at(node).children)
    if (t == token) return index;
  const int index = int(nodes_.size());
  at(node).children.emplace_back(token, index);
  Node fresh{};
  fresh.parent = node;
  fresh.token = token;
  nodes_.push_back(std::move(fresh));
  return index;
}

// The parent of a node is always in the backend already: it is the root, or the node's token was sampled from it.
void Search::want_node(int index, const Tracker& tracker, int token) {
  Node& node = at(index);
  if (node.asked_node) return;
  node.asked_node = true;
  wants_node_.push_back(index);
  if (!options_.features) return;
  wanted_features_.resize(wanted_features_.size() + std::size_t(tracker.feature_count()));
  float* features = wanted_features_.data() + wanted_features_.size() - tracker.feature_count();
  if (token < 0) return tracker.features(features);
  const auto next = tracker.copy();
  next->push(token);
  next->features(features);
}

bool Search::want_policy(int index, const Tracker& tracker) {
  Node& node = at(index);
  if (!node.logits.empty()) return true;
  want_node(index, tracker, -1);
  if (!node.asked_policy) wants_policy_.push_back(index);
  node.asked_policy = true;
  return false;
}

bool Search::want_value(int index, const Tracker& tracker, int token) {
  Node& node = at(index);
  if (node.has_value) return true;
  want_node(index, tracker, token);
  if (!node.asked_value) wants_value_.push_back(index);
  node.asked_value = true;
  return false;
}

void Search::give_policy(int node, std::span<const float> logits, std::span<const float> actions) {
  at(node).logits.assign(logits.begin(), logits.end());
  at(node).actions.assign(actions.begin(), actions.end());
}

void Search::give_value(int node, const float* values) {
  at(node).value = values[0];
  at(node).has_value = true;
}

int Search::best() const {
  int best = 0;
  for (std::size_t i = 1; i < nodes_[0].edges.size(); ++i) {
    const Edge& e = nodes_[0].edges[i];
    const Edge& b = element(nodes_[0].edges, best);
    if (e.value / e.visits > b.value / b.visits) best = int(i);
  }
  return best;
}

std::vector<int> Search::backend_nodes() const {
  std::vector<int> out;
  for (std::size_t i = 1; i < nodes_.size(); ++i)
    if (nodes_[i].backend >= 0) out.push_back(nodes_[i].backend);
  return out;
}

void Batch::add(Search search) {
  if (!searches_.empty() &&
      (search.vocabulary() != vocabulary() || search.feature_count() != searches_[0].feature_count()))
    throw std::invalid_argument("the search has another vocabulary or another number of features than its batch");
  share_.more(search.runs());
  needs_actions_ |= search.needs_actions();
  searches_.push_back(std::move(search));
}

bool Batch::advance() {
  // A failed search loses requests, so a batch that continued would wait for their answers for ever.
  if (failed_)
    throw std::invalid_argument("a search of this batch has failed, so the batch cannot continue; make a new one");
  if (!placed_ || !answered_)
    throw std::invalid_argument("the searches still wait for nodes or answers; give them before the batch advances");
  nodes_.clear();
  policies_.clear();
  values_.clear();
  bool waiting = false;
  std::int64_t started = 0;
  try {
    for (std::size_t i = 0; i < searches_.size(); ++i) {
      Search& s = searches_[i];
      waiting |= s.advance();
      started += s.started();
      for (int node : s.wants_node()) nodes_.push_back({i, node});
      for (int node : s.wants_policy()) policies_.push_back({i, node});
      for (int node : s.wants_value()) values_.push_back({i, node});
    }
  } catch (...) {
    failed_ = true;
    nodes_.clear();
    policies_.clear();
    values_.clear();
    share_.end();
    throw;
  }
  share_.reach(started - past_);
  if (!waiting) {
    share_.end();
    past_ = started;
  }
  placed_ = nodes_.empty();
  answered_ = policies_.empty() && values_.empty();
  return waiting;
}

void Batch::branches(std::vector<int>& parents, std::vector<int>& tokens, std::vector<float>& features) const {
  if (nodes_.empty()) return;
  for (const Place& at : nodes_) {
    const Search& s = searches_[at.search];
    parents.push_back(s.backend_node(s.parent(at.node)));
    tokens.push_back(s.token(at.node));
  }
  for (const Search& s : searches_)
    features.insert(features.end(), s.wanted_features().begin(), s.wanted_features().end());
}

void Batch::give_nodes(std::span<const int> nodes) {
  placed_ = true;
  for (std::size_t i = 0; i < nodes_.size(); ++i) searches_[nodes_[i].search].give_node(nodes_[i].node, nodes[i]);
}

std::vector<int> Batch::policy_nodes() const {
  std::vector<int> out;
  out.reserve(policies_.size());
  for (const Place& at : policies_) out.push_back(searches_[at.search].backend_node(at.node));
  return out;
}

std::vector<int> Batch::value_nodes() const {
  std::vector<int> out;
  out.reserve(values_.size());
  for (const Place& at : values_) out.push_back(searches_[at.search].backend_node(at.node));
  return out;
}

void Batch::answer(const float* policy, std::size_t vocabulary, const float* actions, const float* values,
                   std::size_t players) {
  if (needs_actions_ && !policies_.empty() && !actions)
    throw std::invalid_argument("a search uses action values, but the answer has none; give the actions too");
  answered_ = true;
  for (std::size_t i = 0; i < policies_.size(); ++i)
    searches_[policies_[i].search].give_policy(
        policies_[i].node, {policy + i * vocabulary, vocabulary},
        actions ? std::span{actions + i * vocabulary, vocabulary} : std::span<const float>{});
  for (std::size_t i = 0; i < values_.size(); ++i)
    searches_[values_[i].search].give_value(values_[i].node, values + i * players);
}

}  // namespace trickformer::gomcts
