// The functions of the GPT-2 backend that depend on the CPU. There is one table of functions for each instruction set
// and storage type. Each table is built in a translation unit of its own (nn/gpt2_kernels_*.cpp) from
// nn/gpt2_kernels_impl.hpp.
//
// A result does not depend, to the last bit, on how many rows share a call: each output element is summed over its
// depth in one fixed order by the same instructions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trickformer::gpt2 {

// Storage of weights, of activations between matrices, and of cached keys and values.
enum class Storage {
  kFloat32,        // all float32
  kBfloat16,       // weights bfloat16, the rest float32
  kBfloat16Pairs,  // weights, cache and activations bfloat16; one instruction adds two products (vdpbf16ps)
};

enum class Epilogue {
  kStore,     // c = a b + bias, float32
  kAdd,       // c += a b + bias, float32 (the residual stream)
  kGeluTanh,  // c = gelu_new(a b + bias), activation storage
  kGeluErf,   // c = exact gelu(a b + bias), activation storage
};

// A matrix product: c [rows, panels * Kernels::panel] from a [rows, depth] and a packed b. b is stored panel by panel,
// and within a panel depth by depth (or pair of depths by pair), with `panel` columns each. depth is a multiple of 32.
// Leading dimensions count elements.
struct Gemm {
  const void* a;
  std::size_t lda;
  const void* b;
  const float* bias;  // [panels * panel]
  void* c;
  std::size_t ldc;
  int rows, depth, panels;
};

// Attention of one query row to the keys and values on its path. Heads lie across the 16 lanes of a block, so that no
// sum runs across lanes. A row is [groups][blocks][16 lanes][2], lane = (pair of dimensions) * heads + head. Float32
// rows store the two elements of a lane apart, [groups][blocks][2][16]; bfloat16 rows store them together.
struct Attention {
  const void* query;          // float32, or bfloat16 with kBfloat16Pairs; scaled by 1 / sqrt(head size)
  const char* const* path;    // [length] addresses of the nodes, the root first
  std::ptrdiff_t key, value;  // byte offsets of this layer's rows from these addresses
  int length;
  int groups, blocks;       // groups of up to 16 heads; blocks of 16 lanes in each
  int heads;                // number in a group, padded to 1, 2, 4, 8 or 16
  float* scratch;           // [32 * (length + 16)]
  void* out;                // in activation storage, with the layout of a query
  const char* const* next;  // [next_length] path of the next row, which is prefetched while this one is computed
  int next_length;
};

struct Kernels {
  Storage storage;
  int panel;                     // columns in a panel of packed weights; a multiple of 16
  void (*gemm[4])(const Gemm&);  // indexed by Epilogue
  // out [width] = mask * (gain * (x - mean) / sqrt(variance + eps) + bias), over the `size` unmasked elements
  void (*layer_norm)(const float* x, const float* mask, const float* gain, const float* bias, int width, int size,
                     float eps, void* out);
  // x float32 [3 * width] -> scaled query, cached key, cached value
  void (*split)(const float* x, int width, float scale, void* query, void* key, void* value);
  void (*attention)(const Attention&);
  void (*softmax)(float* x, std::size_t n);  // in place
  // Adds by[i] * rows[i] to x [width] for all i with by[i] != 0. rows: [n, width]; width is a multiple of 16.
  void (*add_rows)(const float* by, int n, const float* rows, int width, float* x);
  // Expectation under a softmax whose columns arrive in portions. logits [rows, ld], with a number of `columns` that is
  // a multiple of 16; values [players, stride]. state [rows, 2 + players, 16], which `first` resets, holds for each of
  // 16 lanes the maximum, the sum of exponentials and the sum of exponential * value by player.
  void (*expect)(const float* logits, std::size_t ld, int rows, int columns, bool first, const float* values,
                 std::size_t stride, int players, float* state);
  void (*expect_end)(const float* state, int rows, int players, float* out);  // out [rows, players]
};

// These return nullptr if there are no kernels for the storage type and instruction set.
const Kernels* kernels_base(Storage storage);
const Kernels* kernels_v3(Storage storage);
const Kernels* kernels_avx512(Storage storage);
const Kernels* kernels_avx512bf16(Storage storage);
const Kernels* kernels_amx(Storage storage);

}  // namespace trickformer::gpt2
