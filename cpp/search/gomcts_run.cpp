#include "search/gomcts_run.hpp"

#include <stdexcept>

namespace trickformer::gomcts {

void run(Batch& batch, gpt2::Backend& backend, bool actions) {
  if (batch.needs_actions() && !actions)
    throw std::invalid_argument("a search uses action values, but actions is false; run the batch with actions=True");
  const auto vocabulary = std::size_t(backend.config().vocab), players = std::size_t(backend.players());
  std::vector<int> parents, tokens, nodes;
  std::vector<float> features, policy, worth, values;
  while (batch.advance()) {
    parents.clear();
    tokens.clear();
    features.clear();
    batch.branches(parents, tokens, features);
    nodes.resize(tokens.size());
    backend.extend(parents, tokens, nullptr, features, nodes.data());
    batch.give_nodes(nodes);
    const std::vector<int> asked = batch.policy_nodes(), judged = batch.value_nodes();
    policy.resize(asked.size() * vocabulary);
    worth.resize(actions ? policy.size() : 0);
    values.resize(judged.size() * players);
    backend.policy(asked, policy.data());
    if (actions) backend.action_values(asked, worth.data());
    backend.values(judged, values.data());
    batch.answer(policy.data(), vocabulary, actions ? worth.data() : nullptr, values.data(), players);
  }
}

}  // namespace trickformer::gomcts
