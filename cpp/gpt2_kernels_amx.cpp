// GPT-2 kernels for AMX: matrices by tiles of bfloat16 products (tdpbf16ps), the rest as with AVX-512-BF16.
#include "gpt2_kernels_macros.hpp"

#if defined(__AMX_BF16__) && defined(__AVX512BF16__)
#include <immintrin.h>

namespace trickformer::gpt2 {
namespace {

constexpr int WIDTH = 16, ROWS = 6, VECTORS = 4, PAIRED = 2, AHEAD = 32;
using V [[gnu::vector_size(64)]] = float;
using I [[gnu::vector_size(64)]] = std::int32_t;

INLINE V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
INLINE V reciprocal(V x) { return _mm512_maskz_rcp14_ps(0xffff, x); }  // within 2^-14, finer than the bfloat16 it ends in
#define HAS_DOT
INLINE V dot(V acc, I a, I b) {
    return _mm512_dpbf16_ps(acc, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
}

#include "gpt2_kernels_impl.hpp"

// Tiles: 0 to 3 sums, two rows of blocks by two columns; 4, 5 activations; 6, 7 weights. A block is 16 by 16, and a
// tile of inputs 32 deep.
constexpr int SIDE = 16, DEEP = 32;

struct alignas(64) TileConfig {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t bytes[16] = {};
    std::uint8_t rows[16] = {};
};

// upper, lower: rows of the two rows of blocks, each 1 to 16.
void configure(int upper, int lower) {
    TileConfig config;
    const int rows[8] = {upper, upper, lower, lower, upper, lower, SIDE, SIDE};
    for (int i = 0; i < 8; ++i) {
        config.bytes[i] = 64;
        config.rows[i] = static_cast<std::uint8_t>(rows[i]);
    }
    _tile_loadconfig(&config);
}

// The sums of up to 32 rows by half a panel, into scratch [32][32]. b: that half of the panel.
template <bool LOWER>
INLINE void sums(const std::uint16_t* a, std::size_t lda, const std::uint16_t* b, int depth, float* scratch) {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (LOWER) {
        _tile_zero(2);
        _tile_zero(3);
    }
    for (int k = 0; k < depth; k += DEEP) {
        const std::uint16_t* w = b + static_cast<std::size_t>(k) * PANEL;
        _tile_loadd(4, a + k, lda * 2);
        _tile_loadd(6, w, PANEL * 4);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, w + 2 * SIDE, PANEL * 4);
        _tile_dpbf16ps(1, 4, 7);
        if constexpr (LOWER) {
            _tile_loadd(5, a + SIDE * lda + k, lda * 2);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
    }
    constexpr int STRIDE = 2 * SIDE * 4;
    _tile_stored(0, scratch, STRIDE);
    _tile_stored(1, scratch + SIDE, STRIDE);
    if constexpr (LOWER) {
        _tile_stored(2, scratch + SIDE * 2 * SIDE, STRIDE);
        _tile_stored(3, scratch + SIDE * 2 * SIDE + SIDE, STRIDE);
    }
}

template <Epilogue E>
void tiled(const Gemm& g) {
    alignas(64) float scratch[2 * SIDE * 2 * SIDE];
    const auto* a = static_cast<const std::uint16_t*>(g.a);
    for (int row = 0; row < g.rows; row += 2 * SIDE) {
        const int rows = g.rows - row < 2 * SIDE ? g.rows - row : 2 * SIDE;
        const int lower = rows - SIDE;
        if (row == 0 || rows < 2 * SIDE) configure(rows < SIDE ? rows : SIDE, lower > 0 ? lower : SIDE);
        for (int half = 0; half < 2 * g.panels; ++half) {
            const std::size_t column = static_cast<std::size_t>(half) * 2 * SIDE;
            const auto* b = static_cast<const std::uint16_t*>(g.b) +
                            static_cast<std::size_t>(half / 2) * PANEL * static_cast<std::size_t>(g.depth) +
                            half % 2 * (PANEL / 2) * 2;
            const std::uint16_t* from = a + static_cast<std::size_t>(row) * g.lda;
            if (lower > 0)
                sums<true>(from, g.lda, b, g.depth, scratch);
            else
                sums<false>(from, g.lda, b, g.depth, scratch);
            for (int i = 0; i < rows; ++i) {
                UNROLL for (int n = 0; n < 2; ++n) {
                    const std::size_t at = static_cast<std::size_t>(row + i) * g.ldc + column + n * SIDE;
                    const V sum = load(scratch + i * 2 * SIDE + n * SIDE) + load(g.bias + column + n * SIDE);
                    if constexpr (E == Epilogue::store) store(static_cast<float*>(g.c) + at, sum);
                    if constexpr (E == Epilogue::add) {
                        float* c = static_cast<float*>(g.c) + at;
                        store(c, load(c) + sum);
                    }
                    if constexpr (E == Epilogue::gelu_tanh) narrow(static_cast<std::uint16_t*>(g.c) + at, gelu_tanh(sum));
                    if constexpr (E == Epilogue::gelu_erf) narrow(static_cast<std::uint16_t*>(g.c) + at, gelu_erf(sum));
                }
            }
        }
    }
    _tile_release();
}

constexpr Kernels tiles() {
    Kernels kernels = table<Storage::bf16_pairs>();
    kernels.gemm[0] = tiled<Epilogue::store>;
    kernels.gemm[1] = tiled<Epilogue::add>;
    kernels.gemm[2] = tiled<Epilogue::gelu_tanh>;
    kernels.gemm[3] = tiled<Epilogue::gelu_erf>;
    return kernels;
}
constexpr Kernels TILES = tiles();

}  // namespace

const Kernels* kernels_amx(Storage storage) { return storage == Storage::bf16_pairs ? &TILES : nullptr; }

}  // namespace trickformer::gpt2
#else
const trickformer::gpt2::Kernels* trickformer::gpt2::kernels_amx(Storage) { return nullptr; }
#endif
