// Python bindings of GO-MCTS.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "python/guarded.hpp"
#include "python/tracker.hpp"
#include "search/gomcts.hpp"
#include "search/gomcts_run.hpp"

using namespace nb::literals;
using namespace trickformer;

namespace {

// Searches and the outcome values that they share.
struct SearchBatch {
  std::vector<float> outcome_values;
  std::size_t players;
  gomcts::Batch batch;
};

}  // namespace

void bind_gomcts(nb::module_& parent) {
  using namespace gomcts;
  nb::module_ m = parent.def_submodule("gomcts", "GO-MCTS: search over observation sequences.");
  Guarded<SearchBatch>(m, "SearchBatch",
                       "GO-MCTS searches that share the calls of a model; trickformer.gomcts.search shows the loop.")
      .def(
          "__init__",
          [](SearchBatch* self, In2<float> outcome_values) {
            if (!outcome_values.size())
              throw nb::value_error("outcome_values must be float32 [outcomes, players] with at least one outcome");
            new (self) SearchBatch{
                {outcome_values.data(), outcome_values.data() + outcome_values.size()}, outcome_values.shape(1), {}};
          },
          "outcome_values"_a, "outcome_values: float32 [outcomes, players], v(o), the own seat first.")
      .def(
          "add",
          [](SearchBatch& self, nb::handle given, std::uint64_t seed, int root, int runs, int steps, double c,
             double threshold, double mu, int wave, bool legal, bool features, bool action_values,
             bool leaf_action_values, bool rollout_action_values, double temperature) {
            std::unique_ptr<Tracker> tracker = copy_tracker(given);
            if (!tracker->my_turn()) throw nb::value_error("a search must begin at its own turn");
            if (tracker->vocabulary() > kMaxVocabulary)
              throw nb::value_error(
                  ("a vocabulary may have at most " + std::to_string(kMaxVocabulary) + " tokens").c_str());
            if (runs < 1 || steps < 0 || wave < 1)
              throw nb::value_error("runs and wave must be at least 1, steps at least 0");
            if (std::isnan(c) || std::isnan(threshold) || std::isnan(mu))
              throw nb::value_error("c, threshold and mu must not be NaN");
            if (!(temperature > 0) || std::isinf(temperature))
              throw nb::value_error("temperature must be a finite number above 0");
            check_room(std::size_t(std::min(wave, runs)), 1024);  // a run and its tracker take about that many bytes
            self.batch.add(Search(std::move(tracker),
                                  {runs, steps, c, threshold, mu, wave, legal, features, action_values,
                                   leaf_action_values, rollout_action_values, temperature},
                                  seed, root, self.outcome_values, int(self.players)));
          },
          "tracker"_a, "seed"_a, "root"_a, nb::kw_only(), "runs"_a, "steps"_a, "c"_a, "threshold"_a, "mu"_a, "wave"_a,
          "legal"_a, "features"_a = false, "action_values"_a = false, "leaf_action_values"_a = false,
          "rollout_action_values"_a = false, "temperature"_a = 1.0,
          "Add a search from the tracker's position, at its own turn. root: the backend's node of the tracker's last "
          "token. features: whether the model reads features. trickformer.gomcts.options.SearchOptions describes the "
          "other options.")
      .def("__len__", [](const SearchBatch& self) { return self.batch.size(); })
      .def(
          "advance",
          [](SearchBatch& self) {
            nb::gil_scoped_release release;
            return self.batch.advance();
          },
          "Run all searches until each is done or waits for the model. Returns False if all are done. Raises "
          "ValueError if the last requests were not answered, or after an exception of a tracker.")
      .def(
          "branches",
          [](const SearchBatch& self) {
            std::vector<int> parents, tokens;
            std::vector<float> features;
            self.batch.branches(parents, tokens, features);
            auto rows = make<float>({tokens.size(), tokens.empty() ? 0 : features.size() / tokens.size()});
            std::copy(features.begin(), features.end(), rows.data());
            return std::make_tuple(to_array(parents), to_array(tokens), rows);
          },
          "Return the nodes that the backend must add: parents and tokens, int32 [n], and features, float32 [n, F].")
      .def(
          "give_nodes",
          [](SearchBatch& self, In1<std::int32_t> nodes) {
            if (nodes.size() != self.batch.asked_nodes()) throw nb::value_error("expected one node for each branch");
            self.batch.give_nodes({nodes.data(), nodes.size()});
          },
          "Set the backend's node of each branch, int32 [n].")
      .def(
          "policy_nodes", [](const SearchBatch& self) { return to_array(self.batch.policy_nodes()); },
          "Return the backend's nodes whose policy is requested, int32 [n].")
      .def(
          "value_nodes", [](const SearchBatch& self) { return to_array(self.batch.value_nodes()); },
          "Return the backend's nodes whose value is requested, int32 [n].")
      .def(
          "answer",
          [](SearchBatch& self, In2<float> policy, In2<float> values, std::optional<In2<float>> actions) {
            if (policy.shape(0) != self.batch.asked_policies() ||
                policy.shape(1) != std::size_t(self.batch.vocabulary()) ||
                values.shape(0) != self.batch.asked_values() || values.shape(1) < 1)
              throw nb::value_error(
                  "expected one row of logits (one per token) for each policy node and one row of values for each "
                  "value node");
            if (actions && (actions->shape(0) != policy.shape(0) || actions->shape(1) != policy.shape(1)))
              throw nb::value_error("action values must have the shape of the policy");
            nb::gil_scoped_release release;
            self.batch.answer(policy.data(), policy.shape(1), actions ? actions->data() : nullptr, values.data(),
                              values.shape(1));
          },
          "policy"_a, "values"_a, "actions"_a = nb::none(),
          "Answer the last requests. policy, actions: float32 [policy nodes, tokens], logits and action values. "
          "values: float32 [value nodes, players], the searching seat first. Raises ValueError on other shapes, or if "
          "actions are missing and a search has leaf_action_values or rollout_action_values.")
      .def(
          "run",
          [](SearchBatch& self, gpt2::Backend& backend, bool actions) {
            if (self.batch.size() && backend.config().vocab != self.batch.vocabulary())
              throw std::invalid_argument("the model has " + std::to_string(backend.config().vocab) +
                                          " tokens, but the searches have " + std::to_string(self.batch.vocabulary()));
            if (actions && !backend.config().action_values) throw nb::value_error("the model has no action values");
            nb::gil_scoped_release release;
            gomcts::run(self.batch, backend, actions);
          },
          "backend"_a, "actions"_a,
          "Run all searches to their end with the C++ backend. actions: whether they use action values. Raises "
          "ValueError if actions is False and a search has leaf_action_values or rollout_action_values, or if the "
          "model does not fit the searches.")
      .def(
          "edges",
          [](const SearchBatch& self, std::int64_t i) {
            std::vector<std::tuple<int, double, double, int>> out;
            for (const Edge& e : self.batch[checked(i, self.batch.size(), "search")].root_edges())
              out.emplace_back(e.token, e.value, e.squares, e.visits);
            return out;
          },
          "Return (token, sum of values, sum of their squares, visits) of each action at the root of a search.")
      .def(
          "best",
          [](const SearchBatch& self, std::int64_t i) {
            return self.batch[checked(i, self.batch.size(), "search")].best();
          },
          "Return the index in `edges` of the action with the highest mean value.")
      .def(
          "illegal",
          [](const SearchBatch& self, std::int64_t i) {
            return self.batch[checked(i, self.batch.size(), "search")].illegal();
          },
          "Return the number of simulations that ended in an illegal history.")
      .def(
          "imagined_tree",
          [](const SearchBatch& self, std::int64_t i) {
            const std::vector<ImaginedNode> nodes = self.batch[checked(i, self.batch.size(), "search")].imagined_tree();
            auto parents = make<std::int32_t>({nodes.size()}), tokens = make<std::int32_t>({nodes.size()});
            auto runs = make<std::int32_t>({nodes.size()});
            auto sums = make<double>({nodes.size()});
            for (std::size_t n = 0; n < nodes.size(); ++n) {
              parents.data()[n] = nodes[n].parent;
              tokens.data()[n] = nodes[n].token;
              runs.data()[n] = nodes[n].runs;
              sums.data()[n] = nodes[n].sum;
            }
            return std::make_tuple(parents, tokens, runs, sums);
          },
          "search"_a,
          "Return the tree of imagined sequences, one row per node, the root first and each node after its parent: the "
          "parent's index and the node's token (both -1 at the root), the number of legal runs through the node, and "
          "the sum of their results.")
      .def(
          "backend_nodes",
          [](const SearchBatch& self) {
            std::vector<int> out;
            for (std::size_t i = 0; i < self.batch.size(); ++i)
              for (int node : self.batch[i].backend_nodes()) out.push_back(node);
            return to_array(out);
          },
          "Return all nodes that the searches added to the backend, int32 [n].");
}
