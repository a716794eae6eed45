// GPT-2 kernels for AMX: matrix products by tiles of bfloat16 (tdpbf16ps). All else is as for AVX-512-BF16.
#include "nn/gpt2_kernels_macros.hpp"

#if defined(__AMX_BF16__) && defined(__AVX512BF16__)
#include <immintrin.h>

namespace trickformer::gpt2 {
namespace {

constexpr int kWidth = 16;
constexpr int kRows = 6;
constexpr int kVectors = 4;
constexpr int kPaired = 2;
constexpr int kAhead = 32;
using V [[gnu::vector_size(64)]] = float;
using I [[gnu::vector_size(64)]] = std::int32_t;

INLINE V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
INLINE V reciprocal(V x) {
  return _mm512_maskz_rcp14_ps(0xffff, x);
}  // relative error below 2^-14, less than the error of rounding the result to bfloat16
#define HAS_DOT
INLINE V dot(V acc, I a, I b) {
  return _mm512_dpbf16_ps(acc, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
}

#include "nn/gpt2_kernels_impl.hpp"

// Use of the eight tiles: 0 to 3 hold sums (two rows of blocks by two columns), 4 and 5 activations, 6 and 7 weights. A
// block is 16 by 16, and a tile of inputs is 32 deep.
constexpr int kSide = 16;
constexpr int kDeep = 32;

struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {};
  std::uint8_t rows[16] = {};
};

// upper, lower: number of rows, 1 to 16, in each of the two rows of blocks.
void configure(int upper, int lower) {
  TileConfig config;
  const int rows[8] = {upper, upper, lower, lower, upper, lower, kSide, kSide};
  for (int i = 0; i < 8; ++i) {
    config.bytes[i] = 64;
    config.rows[i] = static_cast<std::uint8_t>(rows[i]);
  }
  _tile_loadconfig(&config);
}

// Writes the sums of up to 32 rows by half a panel to scratch [32][32]. b: that half of the panel.
template <bool kLower>
INLINE void sums(const std::uint16_t* a, std::size_t lda, const std::uint16_t* b, int depth, float* scratch) {
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (kLower) {
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int k = 0; k < depth; k += kDeep) {
    const std::uint16_t* w = b + static_cast<std::size_t>(k) * kPanel;
    _tile_loadd(4, a + k, lda * 2);
    _tile_loadd(6, w, kPanel * 4);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, w + 2 * kSide, kPanel * 4);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (kLower) {
      _tile_loadd(5, a + kSide * lda + k, lda * 2);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
  }
  constexpr int kStride = 2 * kSide * 4;
  _tile_stored(0, scratch, kStride);
  _tile_stored(1, scratch + kSide, kStride);
  if constexpr (kLower) {
    _tile_stored(2, scratch + kSide * 2 * kSide, kStride);
    _tile_stored(3, scratch + kSide * 2 * kSide + kSide, kStride);
  }
}

template <Epilogue E>
void tiled(const Gemm& g) {
  alignas(64) float scratch[2 * kSide * 2 * kSide];
  const auto* a = static_cast<const std::uint16_t*>(g.a);
  for (int row = 0; row < g.rows; row += 2 * kSide) {
    const int rows = g.rows - row < 2 * kSide ? g.rows - row : 2 * kSide;
    const int lower = rows - kSide;
    if (row == 0 || rows < 2 * kSide) configure(rows < kSide ? rows : kSide, lower > 0 ? lower : kSide);
    for (int half = 0; half < 2 * g.panels; ++half) {
      const std::size_t column = static_cast<std::size_t>(half) * 2 * kSide;
      const auto* b = static_cast<const std::uint16_t*>(g.b) +
                      static_cast<std::size_t>(half / 2) * kPanel * static_cast<std::size_t>(g.depth) +
                      half % 2 * (kPanel / 2) * 2;
      const std::uint16_t* from = a + static_cast<std::size_t>(row) * g.lda;
      if (lower > 0)
        sums<true>(from, g.lda, b, g.depth, scratch);
      else
        sums<false>(from, g.lda, b, g.depth, scratch);
      for (int i = 0; i < rows; ++i) {
        UNROLL for (int n = 0; n < 2; ++n) {
          const std::size_t at = static_cast<std::size_t>(row + i) * g.ldc + column + n * kSide;
          const V sum = load(scratch + i * 2 * kSide + n * kSide) + load(g.bias + column + n * kSide);
          if constexpr (E == Epilogue::kStore) store(static_cast<float*>(g.c) + at, sum);
          if constexpr (E == Epilogue::kAdd) {
            float* c = static_cast<float*>(g.c) + at;
            store(c, load(c) + sum);
          }
          if constexpr (E == Epilogue::kGeluTanh) narrow(static_cast<std::uint16_t*>(g.c) + at, gelu_tanh(sum));
          if constexpr (E == Epilogue::kGeluErf) narrow(static_cast<std::uint16_t*>(g.c) + at, gelu_erf(sum));
        }
      }
    }
  }
  _tile_release();
}

constexpr Kernels tiles() {
  Kernels kernels = table<Storage::kBfloat16Pairs>();
  kernels.gemm[0] = tiled<Epilogue::kStore>;
  kernels.gemm[1] = tiled<Epilogue::kAdd>;
  kernels.gemm[2] = tiled<Epilogue::kGeluTanh>;
  kernels.gemm[3] = tiled<Epilogue::kGeluErf>;
  return kernels;
}
constexpr Kernels kTiles = tiles();

}  // namespace

const Kernels* kernels_amx(Storage storage) { return storage == Storage::kBfloat16Pairs ? &kTiles : nullptr; }

}  // namespace trickformer::gpt2
#else
const trickformer::gpt2::Kernels* trickformer::gpt2::kernels_amx(Storage) { return nullptr; }
#endif
