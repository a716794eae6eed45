// GPT-2 kernels for any CPU: four lanes by the compiler's vector extension.
#include "nn/gpt2_kernels_macros.hpp"

namespace trickformer::gpt2 {
namespace {

constexpr int kWidth = 4;
constexpr int kRows = 3;
constexpr int kVectors = 4;
constexpr int kPaired = 2;
constexpr int kAhead = 8;
using V [[gnu::vector_size(16)]] = float;
using I [[gnu::vector_size(16)]] = std::int32_t;

INLINE V fma(V a, V b, V c) { return a * b + c; }
INLINE V reciprocal(V x) { return 1.0f / x; }

#include "nn/gpt2_kernels_impl.hpp"

constexpr Kernels kFloat32 = table<Storage::kFloat32>();
constexpr Kernels kBfloat16 = table<Storage::kBfloat16>();

}  // namespace

const Kernels* kernels_base(Storage storage) {
  return storage == Storage::kFloat32 ? &kFloat32 : storage == Storage::kBfloat16 ? &kBfloat16 : nullptr;
}

}  // namespace trickformer::gpt2
