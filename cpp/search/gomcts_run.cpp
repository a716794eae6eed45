#include "search/gomcts_run.hpp"

#include <stdexcept>

namespace trickformer::gomcts {

void run(Batch& batch, gpt2::Backend& backend, bool actions) {
  if (batch.needs_actions() && !actions)
    throw std::invalid_argument("a search uses action values, but actions is false; run the batch with actions=True");
  const auto vocabulary = std::size_t(backend.config().vocab), players = std::size_t(backend.players());
  std::vector<int> parents, tokens, nodes;
  std::vector<float> features, policy, action_values, values;
  while (batch.advance()) {
    parents.clear();
    tokens.clear();
    features.clear();
    batch.branches(parents, tokens, features);
    nodes.resize(tokens.size());
    backend.extend(parents, tokens, nullptr, features, nodes.data());
    batch.give_nodes(nodes);
    const std::vector<int> policy_nodes = batch.policy_nodes(), value_nodes = batch.value_nodes();
    policy.resize(policy_nodes.size() * vocabulary);
    action_values.resize(actions ? policy.size() : 0);
    values.resize(value_nodes.size() * players);
    backend.policy(policy_nodes, policy.data());
    if (actions) backend.action_values(policy_nodes, action_values.data());
    backend.values(value_nodes, values.data());
    batch.answer(policy.data(), vocabulary, actions ? action_values.data() : nullptr, values.data(), players);
  }
}

}  // namespace trickformer::gomcts
