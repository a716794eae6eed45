// The cells of an LSTM layer, step by step: all but the products with its weights.
//
// A layer's arrays are [networks, steps, rows, width] and contiguous; those of one step are [networks, rows, width].
// Float32 throughout, but for what comes from a product or goes into one: that is T, float or Bf16.
#pragma once
#include <cstddef>
#include <cstdint>
#include <variant>

#include "core/isa.hpp"

namespace trickformer::lstm {

enum class Bf16 : std::uint16_t {};  // its bits

struct Sizes {
  std::size_t networks, steps, rows, hidden;
};

template <typename T>
struct Forward {
  const T* gates;    // of the layer, [4 hidden]: what its inputs add to the gates enter, forget, new and show
  const T* product;  // of this step, [4 hidden]: what the outputs before add
  float* acts;       // of the layer, [4 hidden]; written at this step: the activations of the gates
  float* cells;      // of the layer and a step more: 0 before the first; written at this step
  float* outs;       // of the layer; written at this step
  T* out;            // of this step: the same outputs, for the next product
};

template <typename T>
struct Backward {
  const float *acts, *cells;  // as Forward has left them
  const float* grad;          // of the layer: the gradient of the outputs
  const T* d_out;             // of this step: what comes to it through the step after
  float* d_cell;              // of this step: the cells' gradient through the step after; then what the one before gets
  T* d_gates;                 // of the layer, [4 hidden]; written at this step
};

using Work = std::variant<Forward<float>, Forward<Bf16>, Backward<float>, Backward<Bf16>>;

// One step.
using Run = void(const Sizes& sizes, std::size_t step, const Work& work);
TRICKFORMER_PER_ISA(Run, run);

}  // namespace trickformer::lstm
