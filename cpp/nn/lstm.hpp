// The cells of an LSTM layer, one time step at a time. The matrix products are computed elsewhere, by the caller.
//
// Arrays of a layer are contiguous [networks, steps, rows, width]; arrays of one step are [networks, rows, width]. All
// are float32, except inputs and outputs of a product: these have type T, float or Bf16.
#pragma once
#include <cstddef>
#include <cstdint>
#include <variant>

#include "core/isa.hpp"

namespace trickformer::lstm {

enum class Bf16 : std::uint16_t {};  // holds the 16 bits

struct Sizes {
  std::size_t networks, steps, rows, hidden;
};

template <typename T>
struct Forward {
  const T* gates;    // layer, [4 hidden]: contribution of the inputs to the gates input, forget, cell and output
  const T* product;  // this step, [4 hidden]: contribution of the previous outputs
  float* acts;       // layer, [4 hidden]: activations of the gates; this step's are written
  float* cells;      // layer, with one more step of zeros in front; this step's are written
  float* outs;       // layer: outputs; this step's are written
  T* out;            // this step: the same outputs, as input of the next product
};

template <typename T>
struct Backward {
  const float *acts, *cells;  // as written by Forward
  const float* grad;          // layer: gradient of the outputs
  const T* d_out;             // this step: gradient of the outputs that comes through the following step
  // this step: gradient of the cells through the following step; overwritten with that for the previous step
  float* d_cell;
  T* d_gates;  // layer, [4 hidden]: gradient of the gates; this step's is written
};

using Work = std::variant<Forward<float>, Forward<Bf16>, Backward<float>, Backward<Bf16>>;

// Computes one step.
using Run = void(const Sizes& sizes, std::size_t step, const Work& work);
TRICKFORMER_PER_ISA(Run, run);

}  // namespace trickformer::lstm
