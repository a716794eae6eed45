// Inference for GPT-2 with a policy and a value head. A backend keeps a tree of token sequences, which share the cached
// keys and values of their prefixes. The architecture is Hugging Face's GPT-2 (pre-norm blocks, learned positions,
// gelu_new); the heads follow section 9.1 of the GO-MCTS paper (exact gelu, no biases).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/isa.hpp"
#include "nn/gpt2_kernels.hpp"

namespace trickformer::gpt2 {

struct Config {
  int layers, embd, heads, inner, vocab, positions, outcomes;
  int features;        // number of features that are an input beside each token; 0: none
  bool action_values;  // whether the model has a head Q(s, a)
  bool masked;         // whether the policy was trained with impossible tokens masked; only callers use it
  float epsilon;       // epsilon of the layer norms
};

// Memory aligned to cache lines. Large buffers are aligned to huge pages, which the system is requested to use.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);
  char* data() const { return data_.get(); }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_.get());
  }

 private:
  struct Free {
    std::size_t alignment;
    void operator()(char* p) const;
  };
  std::unique_ptr<char, Free> data_;
};

// Returns the float32 weights of a tensor in row-major order, by its name in a Hugging Face state dict.
using Tensors = std::function<std::span<const float>(const std::string& name)>;

// Names of the instruction sets that this CPU can run, fastest last, from "base", "v3", "avx512", "avx512bf16" and
// "amx". The last two round activations and cached keys and values to bfloat16, so they are used only on request.
std::vector<std::string> instruction_sets(bool bf16);

class Backend {
 public:
  // values [outcomes, players], row-major: the value of each outcome. isa: one of instruction_sets(bf16), or empty for
  // the default. Throws std::invalid_argument if sizes, tensors or the instruction set do not fit.
  Backend(const Config& config, const Tensors& tensors, std::span<const float> values, bool bf16,
          const std::string& isa);

  // Appends branch i, a chain of lengths[i] tokens (1 each if lengths is null), below node parents[i] (-1: a new root).
  // Writes the node of each token to nodes [total]. features: [total, config.features], the features after each token.
  // If it throws std::invalid_argument, nothing has changed.
  void extend(std::span<const std::int32_t> parents, std::span<const std::int32_t> tokens, const std::int32_t* lengths,
              std::span<const float> features, std::int32_t* nodes);
  void policy(std::span<const std::int32_t> nodes, float* logits);           // [n, vocab]
  void outcomes(std::span<const std::int32_t> nodes, float* probabilities);  // [n, outcomes]
  void values(std::span<const std::int32_t> nodes, float* expected);         // [n, players]
  void action_values(std::span<const std::int32_t> nodes, float* values);    // [n, vocab]; throws without that head
  void hidden_states(std::span<const std::int32_t> nodes, float* states);    // [n, embd]: the input of the heads
  // Frees nodes. Release a node together with all nodes below it: `extend` throws below a node whose parent was
  // released.
  void release(std::span<const std::int32_t> nodes);
  // Frees all nodes. Memory that was not used since the last reset goes back to the system.
  void reset();

  const Config& config() const { return config_; }
  // These two functions may be called while another thread uses the backend.
  std::size_t node_count() const { return used_; }
  std::size_t generation() const { return generation_; }  // number of calls of reset
  int players() const { return players_; }
  bool bf16() const { return bf16_; }
  const std::string& isa() const { return isa_; }

 private:
  struct Matrix {
    const char* data = nullptr;
    const float* bias = nullptr;
    int depth = 0, panels = 0;
  };
  struct Layer {
    const float *gain1, *bias1, *gain2, *bias2;
    Matrix qkv, projection, expand, contract;
  };
  // A slot of the pool. It is reused after its node was released. If the slot of a parent holds another node by now,
  // the birth numbers differ.
  struct Node {
    std::int32_t parent = -1, depth = -1;        // depth -1: a free slot
    std::uint32_t birth = 0, parents_birth = 0;  // 0: a free slot, or the parent of a root
  };
  struct Order;
  class Arena;

  void load(Arena& arena, const Tensors& tensors, std::span<const float> values);
  void grow(std::size_t nodes);  // adds chunks until this many nodes are free
  std::int32_t take();           // takes the lowest free node
  char* address(std::int32_t node) const {
    return chunks_[node / kChunk].data() + static_cast<std::size_t>(node % kChunk) * 2 * row_;
  }
  char* hidden(std::int32_t node) const {
    return chunks_[node / kChunk].data() + kChunk * row_ * 2 * config_.layers + (node % kChunk) * hidden_row_;
  }
  void check_nodes(std::span<const std::int32_t> nodes) const;
  void check_parents(std::int32_t node) const;  // throws if a node above was released
  // writes the addresses of the keys and values of a node and all above it
  void trace(std::int32_t node, const char** path) const;
  void forward(const std::int32_t* nodes, const std::int32_t* tokens, const float* features, int rows);
  void by_token(std::span<const std::int32_t> nodes, const Matrix& first, const Matrix& second, float* out);
  void multiply(Epilogue epilogue, const Matrix& matrix, const void* a, std::size_t lda, void* c, std::size_t ldc,
                int rows, int panel = 0, int panels = -1) const;
  template <class Use>
  void head(std::span<const std::int32_t> nodes, const Matrix& first, const Matrix& second, Use use);

  [[noreturn]] static void fail(const std::string& message) { throw std::invalid_argument(message); }
  static int round_up(int n, int to) { return (n + to - 1) / to * to; }

  static constexpr int kHeadColumns = 128;  // columns of a head that are computed at a time
  static constexpr int kChunk = 1024;       // nodes by which the pool grows
  static constexpr int kRows = 144;  // rows that go through the layers together; chosen so that they fit the caches

  Config config_;
  bool bf16_;
  std::string isa_;
  const Kernels* kernels_;
  int players_;
  int width_;                         // embd, padded
  int lanes_;                         // heads * head size in the layout of Attention, padded
  int blocks_, groups_, lane_heads_;  // Attention::blocks, groups and heads
  // sizes in bytes: one activation, one key or value, one final hidden state
  std::size_t activation_, row_, hidden_row_;

  Buffer weights_;
  const float *tokens_, *positions_, *features_, *mask_, *gain_, *bias_, *values_;
  std::vector<Layer> layers_;
  Matrix policy_hidden_, policy_head_, value_hidden_, value_head_, action_hidden_, action_head_;

  std::vector<Buffer> chunks_;  // each: keys and values [layers][kChunk][2][row], hidden [kChunk][row]
  std::vector<Node> nodes_;
  std::uint32_t births_ = 0;  // may wrap around: no node lives for 2^32 births
  // One bit for each node: 1 if it is free. Taking the lowest free node keeps live nodes together in memory. Taking the
  // node freed last would scatter them over the pool in the long run.
  std::vector<std::uint64_t> free_;
  std::size_t lowest_ = 0;                            // all words of free_ before this one are 0
  std::size_t most_ = 0;                              // most nodes in use at the same time since the last reset
  std::atomic<std::size_t> used_{0}, generation_{0};  // read without mutex_

  Buffer workspace_;
  // float32: residual stream; queries, keys and values of a layer, or logits; scratch of Attention; state of expect
  float *residual_, *wide_, *scratch_, *state_;
  char *normal_, *query_, *inner_;  // activations: after the layer norm, queries, inside the MLP or a head
  std::vector<const char*> paths_;
  std::mutex mutex_;
};

}  // namespace trickformer::gpt2
