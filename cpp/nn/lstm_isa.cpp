// Elementwise loops of the LSTM, built for each instruction set.
#include <bit>

#include "nn/lstm.hpp"

namespace trickformer::lstm::built::TRICKFORMER_ISA {
namespace {

inline float wide(float x) { return x; }
inline float wide(Bf16 x) { return std::bit_cast<float>(std::uint32_t(x) << 16); }

inline void put(float& to, float x) { to = x; }
// Rounds to nearest, ties to even.
inline void put(Bf16& to, float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  to = Bf16((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// 1 / (1 + e^-x), within 2e-7. e^y = 2^n e^r, |r| <= ln 2 / 2, with the polynomial of Cephes' expf.
inline float sigmoid(float x) {
  const float low = x > 87.0f ? 87.0f : x, y = low < -87.0f ? 87.0f : -low;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it leaves a whole number in the low bits
  const float shifted = y * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const float r = (y - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const float e = p * std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) << 23) + 0x3f800000u);
  return 1.0f / (1.0f + e);
}

inline float tangent(float x) { return 2.0f * sigmoid(2.0f * x) - 1.0f; }

// Computes one row: index `row` within the step, index `at` within the layer. `before`: its cells before the step.
// `cell`: output, its cells after the step.
template <typename T>
void of_row(const Forward<T>& work, std::size_t h, std::size_t at, std::size_t row, const float* before,
            float* __restrict cell) {
  const T *gates = work.gates + at * 4 * h, *product = work.product + row * 4 * h;
  float* __restrict acts = work.acts + at * 4 * h;
  for (std::size_t gate = 0; gate < 4; ++gate) {
    const float by = gate == 2 ? 2.0f : 1.0f;  // the cell gate uses tanh(x) = 2 sigmoid(2 x) - 1
#pragma GCC ivdep
    for (std::size_t j = gate * h; j < (gate + 1) * h; ++j)
      acts[j] = by * sigmoid(by * (wide(gates[j]) + wide(product[j]))) + (1.0f - by);
  }
  float* __restrict out = work.outs + at * h;
  T* __restrict next_input = work.out + row * h;
#pragma GCC ivdep
  for (std::size_t j = 0; j < h; ++j) {
    cell[j] = acts[h + j] * before[j] + acts[j] * acts[2 * h + j];
    out[j] = acts[3 * h + j] * tangent(cell[j]);
    put(next_input[j], out[j]);
  }
}

template <typename T>
void of_row(const Backward<T>& work, std::size_t h, std::size_t at, std::size_t row, const float* before,
            const float* cell) {
  const float *acts = work.acts + at * 4 * h, *grad = work.grad + at * h;
  const T* d_out = work.d_out + row * h;
  float* __restrict d_cell = work.d_cell + row * h;
  T* __restrict d_gates = work.d_gates + at * 4 * h;
#pragma GCC ivdep
  for (std::size_t j = 0; j < h; ++j) {
    const float input = acts[j], forget = acts[h + j], candidate = acts[2 * h + j], output = acts[3 * h + j];
    const float tanh_cell = tangent(cell[j]), out = grad[j] + wide(d_out[j]);
    const float d = d_cell[j] + out * output * (1.0f - tanh_cell * tanh_cell);
    put(d_gates[j], d * candidate * input * (1.0f - input));
    put(d_gates[h + j], d * before[j] * forget * (1.0f - forget));
    put(d_gates[2 * h + j], d * input * (1.0f - candidate * candidate));
    put(d_gates[3 * h + j], out * tanh_cell * output * (1.0f - output));
    d_cell[j] = d * forget;
  }
}

template <typename W>
void run_step(const Sizes& z, std::size_t step, const W& work) {
  for (std::size_t row = 0; row < z.networks * z.rows; ++row) {
    const std::size_t network = row / z.rows, at = (network * z.steps + step) * z.rows + row % z.rows;
    auto* cell = work.cells + (at + (network + 1) * z.rows) * z.hidden;
    of_row(work, z.hidden, at, row, cell - z.rows * z.hidden, cell);
  }
}

}  // namespace

void run(const Sizes& sizes, std::size_t step, const Work& work) {
  std::visit([&](const auto& of) { run_step(sizes, step, of); }, work);
}

}  // namespace trickformer::lstm::built::TRICKFORMER_ISA
