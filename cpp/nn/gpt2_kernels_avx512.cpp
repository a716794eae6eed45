// GPT-2 kernels for x86-64-v4: AVX-512.
#include "nn/gpt2_kernels_macros.hpp"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
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
INLINE V reciprocal(V x) { return 1.0f / x; }

#include "nn/gpt2_kernels_impl.hpp"

constexpr Kernels kFloat32 = table<Storage::kFloat32>();
constexpr Kernels kBfloat16 = table<Storage::kBfloat16>();

}  // namespace

const Kernels* kernels_avx512(Storage storage) {
  return storage == Storage::kFloat32 ? &kFloat32 : storage == Storage::kBfloat16 ? &kBfloat16 : nullptr;
}

}  // namespace trickformer::gpt2
#else
const trickformer::gpt2::Kernels* trickformer::gpt2::kernels_avx512(Storage) { return nullptr; }
#endif
