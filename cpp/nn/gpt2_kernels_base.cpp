// GPT-2 kernels for any CPU: four lanes by the compiler's vector extension.
#include "nn/gpt2_kernels_macros.hpp"

namespace trickformer::gpt2 {
namespace {

constexpr int WIDTH = 4, ROWS = 3, VECTORS = 4, PAIRED = 2, AHEAD = 8;
using V [[gnu::vector_size(16)]] = float;
using I [[gnu::vector_size(16)]] = std::int32_t;

INLINE V fma(V a, V b, V c) { return a * b + c; }
INLINE V reciprocal(V x) { return 1.0f / x; }

#include "nn/gpt2_kernels_impl.hpp"

constexpr Kernels F32 = table<Storage::f32>(), BF16 = table<Storage::bf16>();

}  // namespace

const Kernels* kernels_base(Storage storage) {
  return storage == Storage::f32 ? &F32 : storage == Storage::bf16 ? &BF16 : nullptr;
}

}  // namespace trickformer::gpt2
