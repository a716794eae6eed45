// GPT-2 kernels for x86-64-v3: AVX2 and FMA.
#include "nn/gpt2_kernels_macros.hpp"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

namespace trickformer::gpt2 {
namespace {

constexpr int WIDTH = 8, ROWS = 6, VECTORS = 2, PAIRED = 4, AHEAD = 16;
using V [[gnu::vector_size(32)]] = float;
using I [[gnu::vector_size(32)]] = std::int32_t;

INLINE V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
INLINE V reciprocal(V x) { return 1.0f / x; }

#include "nn/gpt2_kernels_impl.hpp"

constexpr Kernels F32 = table<Storage::f32>(), BF16 = table<Storage::bf16>();

}  // namespace

const Kernels* kernels_v3(Storage storage) {
  return storage == Storage::f32 ? &F32 : storage == Storage::bf16 ? &BF16 : nullptr;
}

}  // namespace trickformer::gpt2
#else
const trickformer::gpt2::Kernels* trickformer::gpt2::kernels_v3(Storage) { return nullptr; }
#endif
