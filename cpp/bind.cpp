// The Python face of the core, and the only file that knows nanobind.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "gpt2.hpp"

namespace nb = nanobind;

namespace {

// ------------------------------------------------------------------------------------------ GPT-2 decoder

namespace gpt2_binding {

using trickformer::gpt2::Config;
using trickformer::gpt2::Engine;
using Ids = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

template <class T>
nb::ndarray<nb::numpy, T> empty(std::initializer_list<std::size_t> shape) {
    std::size_t size = 1;
    for (const std::size_t n : shape) size *= n;
    T* data = new T[size > 0 ? size : 1];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T>(data, shape, owner);
}

std::span<const std::int32_t> ids(const Ids& array) { return {array.data(), array.size()}; }

void create(Engine* self, const nb::dict& sizes, float epsilon, const nb::dict& tensors, const Floats& values,
            bool bf16, const std::string& isa) {
    const auto size = [&](const char* name) { return nb::cast<int>(sizes[name]); };
    const Config config{size("n_layer"), size("n_embd"),     size("n_head"),   size("n_inner"),
                        size("vocab_size"), size("n_positions"), size("n_outcomes"), epsilon};
    std::vector<Floats> kept;  // the spans stay valid as long as the constructor reads them
    const auto tensor = [&](const std::string& name) -> std::span<const float> {
        if (!tensors.contains(name.c_str())) throw std::invalid_argument("there is no tensor " + name);
        kept.push_back(nb::cast<Floats>(tensors[name.c_str()]));
        return {kept.back().data(), kept.back().size()};
    };
    new (self) Engine(config, tensor, {values.data(), values.size()}, bf16, isa);
}

nb::ndarray<nb::numpy, std::int32_t> extend(Engine& self, const Ids& parents, const Ids& tokens,
                                            const std::optional<Ids>& lengths) {
    if (lengths && lengths->size() != parents.size())
        throw std::invalid_argument("there are " + std::to_string(parents.size()) + " parents, but " +
                                    std::to_string(lengths->size()) + " lengths");
    auto nodes = empty<std::int32_t>({tokens.size()});
    const nb::gil_scoped_release released;
    self.extend(ids(parents), ids(tokens), lengths ? lengths->data() : nullptr, nodes.data());
    return nodes;
}

template <void (Engine::*Head)(std::span<const std::int32_t>, float*)>
nb::ndarray<nb::numpy, float> head(Engine& self, const Ids& nodes, int columns) {
    auto out = empty<float>({nodes.size(), static_cast<std::size_t>(columns)});
    const nb::gil_scoped_release released;
    (self.*Head)(ids(nodes), out.data());
    return out;
}

void bind(nb::module_& m) {
    m.def("gpt2_instruction_sets", &trickformer::gpt2::instruction_sets, nb::arg("bf16"));
    nb::class_<Engine>(m, "GPT2Engine", "Transformer inference on the CPU; see trickformer.models.engine.Engine.")
        .def("__init__", create, nb::arg("sizes"), nb::arg("epsilon"), nb::arg("tensors"), nb::arg("values"),
             nb::arg("bf16"), nb::arg("isa") = "")
        .def("extend", extend, nb::arg("parents"), nb::arg("tokens"), nb::arg("lengths") = nb::none())
        .def("policy", [](Engine& e, const Ids& n) { return head<&Engine::policy>(e, n, e.config().vocab); },
             nb::arg("nodes"))
        .def("outcomes", [](Engine& e, const Ids& n) { return head<&Engine::outcomes>(e, n, e.config().outcomes); },
             nb::arg("nodes"))
        .def("values", [](Engine& e, const Ids& n) { return head<&Engine::values>(e, n, e.players()); },
             nb::arg("nodes"))
        .def("release", [](Engine& e, const Ids& n) { e.release(ids(n)); }, nb::arg("nodes"))
        .def("reset", &Engine::reset)
        .def_prop_ro("used", &Engine::used)
        .def_prop_ro("generation", &Engine::generation)
        .def_prop_ro("vocab_size", [](const Engine& e) { return e.config().vocab; })
        .def_prop_ro("n_outcomes", [](const Engine& e) { return e.config().outcomes; })
        .def_prop_ro("n_positions", [](const Engine& e) { return e.config().positions; })
        .def_prop_ro("dtype", [](const Engine& e) { return e.bf16() ? "bfloat16" : "float32"; })
        .def_prop_ro("isa", &Engine::isa);
}

}  // namespace gpt2_binding

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "C++ core of trickformer";
    gpt2_binding::bind(m);
}
