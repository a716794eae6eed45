// Python bindings of the transformer on the CPU.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "nn/gpt2.hpp"
#include "python/bind.hpp"

using namespace trickformer;

namespace {

using trickformer::gpt2::Backend;
using trickformer::gpt2::Config;
using Ids = In1<std::int32_t>;
using Floats = In<float>;

std::span<const std::int32_t> ids(const Ids& array) { return {array.data(), array.size()}; }

void create(Backend* self, const nb::typed<nb::dict, std::string, int>& sizes, float epsilon,
            const nb::typed<nb::dict, std::string, Floats>& tensors, const Floats& values, bool bf16,
            const std::string& isa) {
  const auto size = [&](const char* name) {
    int value = 0;
    if (!sizes.contains(name) || !nb::try_cast(sizes[name], value))
      throw std::invalid_argument(std::string(name) + ", a size of the model, must be a 32-bit integer");
    return value;
  };
  const Config config{size("n_layer"),
                      size("n_embd"),
                      size("n_head"),
                      size("n_inner"),
                      size("vocab_size"),
                      size("n_positions"),
                      size("n_outcomes"),
                      size("n_features"),
                      size("n_actions") > 0,
                      size("masked") > 0,
                      epsilon};
  std::vector<Floats> kept;  // keeps the spans valid while the constructor reads them
  const auto tensor = [&](const std::string& name) -> std::span<const float> {
    if (!tensors.contains(name.c_str())) throw std::invalid_argument("tensor " + name + " is missing from the weights");
    if (!nb::try_cast(tensors[name.c_str()], kept.emplace_back()))
      throw nb::type_error(("tensor " + name + " is not an array of numbers").c_str());
    return {kept.back().data(), kept.back().size()};
  };
  new (self) Backend(config, tensor, {values.data(), values.size()}, bf16, isa);
}

Out<std::int32_t> extend(Backend& self, const Ids& parents, const Ids& tokens, const std::optional<Ids>& lengths,
                         const std::optional<Floats>& features) {
  if (lengths && lengths->size() != parents.size())
    throw std::invalid_argument("there are " + std::to_string(parents.size()) + " parents, but " +
                                std::to_string(lengths->size()) + " lengths");
  const int n = self.config().features;
  if (features &&
      (features->ndim() != 2 || features->shape(0) != tokens.size() || features->shape(1) != std::size_t(n)))
    throw std::invalid_argument("features must be [tokens, " + std::to_string(n) + "]");
  if (n && !features && tokens.size()) throw std::invalid_argument("this model needs the features of each token");
  auto nodes = make<std::int32_t>({tokens.size()});
  const nb::gil_scoped_release released;
  self.extend(ids(parents), ids(tokens), lengths ? lengths->data() : nullptr,
              features ? std::span<const float>{features->data(), features->size()} : std::span<const float>{},
              nodes.data());
  return nodes;
}

template <void (Backend::*kHead)(std::span<const std::int32_t>, float*)>
Out<float> head(Backend& self, const Ids& nodes, int columns) {
  auto out = make<float>({nodes.size(), static_cast<std::size_t>(columns)});
  const nb::gil_scoped_release released;
  (self.*kHead)(ids(nodes), out.data());
  return out;
}

}  // namespace

void bind_gpt2(nb::module_& m) {
  m.def("gpt2_instruction_sets", &trickformer::gpt2::instruction_sets, nb::arg("bf16"),
        "Return the names of the instruction sets that this CPU can run with float32 or bfloat16 weights, the fastest "
        "last.");
  nb::class_<Backend>(m, "GPT2Backend", "Transformer inference on the CPU, see trickformer.models.backend.Backend.")
      .def("__init__", create, nb::arg("sizes"), nb::arg("epsilon"), nb::arg("tensors"), nb::arg("values"),
           nb::arg("bf16"), nb::arg("isa") = "")
      .def("extend", extend, nb::arg("parents"), nb::arg("tokens"), nb::arg("lengths") = nb::none(),
           nb::arg("features") = nb::none())
      .def(
          "policy", [](Backend& e, const Ids& n) { return head<&Backend::policy>(e, n, e.config().vocab); },
          nb::arg("nodes"))
      .def(
          "outcomes", [](Backend& e, const Ids& n) { return head<&Backend::outcomes>(e, n, e.config().outcomes); },
          nb::arg("nodes"))
      .def(
          "values", [](Backend& e, const Ids& n) { return head<&Backend::values>(e, n, e.players()); },
          nb::arg("nodes"))
      .def(
          "action_values",
          [](Backend& e, const Ids& n) { return head<&Backend::action_values>(e, n, e.config().vocab); },
          nb::arg("nodes"))
      .def(
          "hidden_states",
          [](Backend& e, const Ids& n) { return head<&Backend::hidden_states>(e, n, e.config().embd); },
          nb::arg("nodes"))
      .def(
          "release",
          [](Backend& e, const Ids& n) {
            const nb::gil_scoped_release released;
            e.release(ids(n));
          },
          nb::arg("nodes"))
      .def("reset", &Backend::reset, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("node_count", &Backend::node_count)
      .def_prop_ro("generation", &Backend::generation)
      .def_prop_ro("vocab_size", [](const Backend& e) { return e.config().vocab; })
      .def_prop_ro("n_outcomes", [](const Backend& e) { return e.config().outcomes; })
      .def_prop_ro("n_features", [](const Backend& e) { return e.config().features; })
      .def_prop_ro("has_masked_policy", [](const Backend& e) { return e.config().masked; })
      .def_prop_ro("has_action_values", [](const Backend& e) { return e.config().action_values; })
      .def_prop_ro("width", [](const Backend& e) { return e.config().embd; })
      .def_prop_ro("n_positions", [](const Backend& e) { return e.config().positions; })
      .def_prop_ro("dtype", [](const Backend& e) { return e.bf16() ? "bfloat16" : "float32"; })
      .def_prop_ro("isa", &Backend::isa);
}
