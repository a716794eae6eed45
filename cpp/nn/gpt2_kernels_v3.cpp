// GPT-2 kernels for x86-64-v3: AVX2 and FMA.
#include "nn/gpt2_kernels_macros.hpp"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

namespace trickformer::gpt2 {
namespace {

constexpr int kWidth = 8;
constexpr int kRows = 6;
constexpr int kVectors = 2;
constexpr int kPaired = 4;
constexpr int kAhead = 16;
using V [[gnu::vector_size(32)]] = float;
using I [[gnu::vector_size(32)]] = std::int32_t;

INLINE V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
INLINE V reciprocal(V x) { return 1.0f / x; }

#include "nn/gpt2_kernels_impl.hpp"

constexpr Kernels kFloat32 = table<Storage::kFloat32>();
constexpr Kernels kBfloat16 = table<Storage::kBfloat16>();

}  // namespace

const Kernels* kernels_v3(Storage storage) {
  return storage == Storage::kFloat32 ? &kFloat32 : storage == Storage::kBfloat16 ? &kBfloat16 : nullptr;
}

}  // namespace trickformer::gpt2
#else
const trickformer::gpt2::Kernels* trickformer::gpt2::kernels_v3(Storage) { return nullptr; }
#endif
