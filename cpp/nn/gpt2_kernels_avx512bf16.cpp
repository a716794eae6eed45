// GPT-2 kernels for AVX-512 with bfloat16 products (vdpbf16ps).
#include "nn/gpt2_kernels_macros.hpp"

#if defined(__AVX512BF16__)
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

constexpr Kernels kPairs = table<Storage::kBfloat16Pairs>();

}  // namespace

const Kernels* kernels_avx512bf16(Storage storage) { return storage == Storage::kBfloat16Pairs ? &kPairs : nullptr; }

}  // namespace trickformer::gpt2
#else
const trickformer::gpt2::Kernels* trickformer::gpt2::kernels_avx512bf16(Storage) { return nullptr; }
#endif
