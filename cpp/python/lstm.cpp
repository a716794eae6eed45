// Python bindings of the LSTM cells. bfloat16 arrays are passed as int16, because numpy has no such dtype. Arrays are
// never converted: results would be written to a copy.
#include "nn/lstm.hpp"
#include "python/bind.hpp"

using namespace nb::literals;
using namespace trickformer;

namespace {

template <typename T>
using Of = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

// Raises ValueError unless an array has these sizes.
template <typename T>
void expect(const Of<T>& array, std::initializer_list<std::size_t> shape) {
  bool same = array.ndim() == shape.size();
  for (std::size_t i = 0; same && i < shape.size(); ++i) same = array.shape(i) == shape.begin()[i];
  if (!same) throw nb::value_error("the arrays of a layer have incompatible shapes");
}

// Returns the sizes of a layer from its activations, [networks, steps, rows, 4 hidden]. Raises IndexError on a step
// that it lacks.
template <typename T>
lstm::Sizes sizes(const Of<T>& acts, std::size_t step) {
  if (acts.ndim() != 4) throw nb::value_error("the arrays of a layer must have four dimensions");
  if (step >= acts.shape(1)) throw nb::index_error("step out of range");
  return {acts.shape(0), acts.shape(1), acts.shape(2), acts.shape(3) / 4};
}

// Raw: numpy's dtype for T.
template <typename T, typename Raw>
void bind_type(nb::module_& m) {
  m.def(
      "forward",
      [](std::size_t step, Of<const Raw> gates, Of<const Raw> product, Of<float> acts, Of<float> cells, Of<float> outs,
         Of<Raw> out) {
        const auto z = sizes(acts, step);
        const auto [g, s, n, h] = z;
        expect(gates, {g, s, n, 4 * h});
        expect(product, {g, n, 4 * h});
        expect(acts, {g, s, n, 4 * h});
        expect(cells, {g, s + 1, n, h});
        expect(outs, {g, s, n, h});
        expect(out, {g, n, h});
        nb::gil_scoped_release release;
        lstm::run(z, step,
                  lstm::Forward<T>{reinterpret_cast<const T*>(gates.data()), reinterpret_cast<const T*>(product.data()),
                                   acts.data(), cells.data(), outs.data(), reinterpret_cast<T*>(out.data())});
      },
      "step"_a, "gates"_a.noconvert(), "product"_a.noconvert(), "acts"_a.noconvert(), "cells"_a.noconvert(),
      "outs"_a.noconvert(), "out"_a.noconvert(),
      "Compute one time step of a layer. Inputs: gates [g, s, n, 4h], the contribution of the layer's inputs; product "
      "[g, n, 4h], the contribution of the previous outputs. Outputs: acts [g, s, n, 4h], cells [g, s + 1, n, h], outs "
      "[g, s, n, h], and out [g, n, h], the input of the next product. g: networks, s: steps, n: rows, h: hidden "
      "units.");
  m.def(
      "backward",
      [](std::size_t step, Of<const float> acts, Of<const float> cells, Of<const float> grad, Of<const Raw> d_out,
         Of<float> d_cell, Of<Raw> d_gates) {
        const auto z = sizes(acts, step);
        const auto [g, s, n, h] = z;
        expect(acts, {g, s, n, 4 * h});
        expect(cells, {g, s + 1, n, h});
        expect(grad, {g, s, n, h});
        expect(d_out, {g, n, h});
        expect(d_cell, {g, n, h});
        expect(d_gates, {g, s, n, 4 * h});
        nb::gil_scoped_release release;
        lstm::run(z, step,
                  lstm::Backward<T>{acts.data(), cells.data(), grad.data(), reinterpret_cast<const T*>(d_out.data()),
                                    d_cell.data(), reinterpret_cast<T*>(d_gates.data())});
      },
      "step"_a, "acts"_a.noconvert(), "cells"_a.noconvert(), "grad"_a.noconvert(), "d_out"_a.noconvert(),
      "d_cell"_a.noconvert(), "d_gates"_a.noconvert(),
      "Compute the gradient of one time step. Inputs: acts and cells of `forward`; grad [g, s, n, h], the gradient of "
      "the outputs; d_out [g, n, h], its part from the following step. d_cell [g, n, h] is read and overwritten. "
      "Output: d_gates [g, s, n, 4h].");
}

}  // namespace

void bind_lstm(nb::module_& parent) {
  auto m = parent.def_submodule("lstm", "LSTM cells of one layer, evaluated step by step.");
  bind_type<float, float>(m);
  bind_type<lstm::Bf16, std::int16_t>(m);
}
