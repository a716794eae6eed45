// Construction of a backend: choice of kernels, memory, weights.
#include "nn/gpt2.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <stdexcept>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace trickformer::gpt2 {

namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21;

struct Level {
  Isa isa;
  const Kernels* (*kernels)(Storage);
};

const Level kLevels[] = {
    {Isa::kBase, kernels_base},
#if defined(__x86_64__)
    {Isa::kV3, kernels_v3},     {Isa::kAvx512, kernels_avx512}, {Isa::kAvx512Bf16, kernels_avx512bf16},
    {Isa::kAmx, kernels_amx},
#endif
};

const Kernels* kernels_of(const Level& level, bool bf16) {
  if (!runs(level.isa)) return nullptr;
  if (!bf16) return level.kernels(Storage::kFloat32);
  const Kernels* pairs = level.kernels(Storage::kBfloat16Pairs);
  return pairs != nullptr ? pairs : level.kernels(Storage::kBfloat16);
}

std::uint16_t to_bf16(float x) {  // rounds to nearest even
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace

std::vector<std::string> instruction_sets(bool bf16) {
  std::vector<std::string> names;
  for (const Level& level : kLevels)
    if (kernels_of(level, bf16) != nullptr) names.emplace_back(name(level.isa));
  return names;
}

void Buffer::Free::operator()(char* p) const { ::operator delete(p, std::align_val_t{alignment}); }

Buffer::Buffer(std::size_t bytes) {
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : 64;
  bytes = (bytes + alignment - 1) / alignment * alignment;
  data_ = {static_cast<char*>(::operator new(bytes, std::align_val_t{alignment})), Free{alignment}};
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (alignment == kHugePage) madvise(data_.get(), bytes, MADV_HUGEPAGE);  // only a hint: failure does no harm
#endif
}

// Allocates pieces of one block of memory. A first pass with a null block measures the size that is needed.
class Backend::Arena {
 public:
  explicit Arena(char* memory) : memory_(memory) {}
  bool counting() const { return memory_ == nullptr; }
  std::size_t size() const { return used_; }
  char* take(std::size_t bytes) {
    char* p = counting() ? nullptr : memory_ + used_;
    used_ += (bytes + 63) / 64 * 64;
    return p;
  }
  template <class T>
  T* take_as(std::size_t count) {
    return reinterpret_cast<T*>(take(count * sizeof(T)));
  }

 private:
  char* memory_;
  std::size_t used_ = 0;
};

// The source index for each index along an axis of a packed matrix; -1 is padding.
struct Backend::Order : std::vector<int> {
  static Order plain(int size, int padded) {
    Order order;
    for (int i = 0; i < padded; ++i) order.push_back(i < size ? i : -1);
    return order;
  }
};

void Backend::load(Arena& arena, const Tensors& tensors, std::span<const float> values) {
  const Config& c = config_;
  const int panel = kernels_->panel;
  const bool pairs = kernels_->storage == Storage::kBfloat16Pairs;

  const auto tensor = [&](const std::string& name, std::size_t size) {
    const std::span<const float> data = tensors(name);
    if (data.size() != size)
      fail("tensor " + name + " has " + std::to_string(data.size()) + " elements, not " + std::to_string(size));
    return data;
  };
  const auto table = [&](std::span<const float> data, int rows, int columns, int padded) {
    auto* out = arena.take_as<float>(static_cast<std::size_t>(rows) * padded);
    for (int r = 0; r < rows && !arena.counting(); ++r) {
      std::fill_n(out + static_cast<std::size_t>(r) * padded, padded, 0.0f);
      std::copy_n(data.data() + static_cast<std::size_t>(r) * columns, columns,
                  out + static_cast<std::size_t>(r) * padded);
    }
    return out;
  };
  const auto vector = [&](const std::string& name) { return table(tensor(name, c.embd), 1, c.embd, width_); };
  // Element (k, n) of the matrix is data[rows[k] * row_stride + columns[n] * column_stride].
  const auto matrix = [&](std::span<const float> data, std::size_t row_stride, std::size_t column_stride,
                          const Order& rows, Order columns, std::span<const float> bias, float padding = 0.0f) {
    columns.resize(round_up(static_cast<int>(columns.size()), 64), -1);
    Matrix m;
    m.depth = static_cast<int>(rows.size());
    m.panels = static_cast<int>(columns.size()) / panel;
    char* out = arena.take(rows.size() * columns.size() * (bf16_ ? 2 : 4));
    auto* packed_bias = arena.take_as<float>(columns.size());
    m.data = out;
    m.bias = packed_bias;
    if (arena.counting()) return m;
    for (std::size_t n = 0; n < columns.size(); ++n) {
      const int from = columns[n];
      packed_bias[n] = from < 0 ? padding : bias.empty() ? 0.0f : bias[from];
      const std::size_t base = n / panel * panel * rows.size(), column = n % panel;
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const float x = from < 0 || rows[k] < 0 ? 0.0f : data[rows[k] * row_stride + from * column_stride];
        const std::size_t at = pairs ? base + (k / 2 * panel + column) * 2 + k % 2 : base + k * panel + column;
        if (bf16_)
          reinterpret_cast<std::uint16_t*>(out)[at] = to_bf16(x);
        else
          reinterpret_cast<float*>(out)[at] = x;
      }
    }
    return m;
  };

  // The order of dimensions in queries, keys and values, with heads across lanes (see Attention). adjacent: whether the
  // two elements of a lane are stored next to each other, as in bfloat16 rows, or in two halves of a block.
  const auto lane_order = [&](bool adjacent) {
    Order order;
    const int size = c.embd / c.heads, repeat = 16 / lane_heads_;
    for (int i = 0; i < lanes_; ++i) {
      const int block = i / 32, within = i % 32;
      const int lane = adjacent ? within / 2 : within % 16, element = adjacent ? within % 2 : within / 16;
      const int head = block / blocks_ * 16 + lane % lane_heads_;
      const int dimension = 2 * (block % blocks_ * repeat + lane / lane_heads_) + element;
      order.push_back(head < c.heads && dimension < size ? head * size + dimension : -1);
    }
    return order;
  };
  const Order qkv_lanes = lane_order(false), attention_output = lane_order(pairs);
  Order qkv;
  for (int part = 0; part < 3; ++part)
    for (const int i : qkv_lanes) qkv.push_back(i < 0 ? -1 : i + part * c.embd);
  const Order embd = Order::plain(c.embd, round_up(c.embd, 32)), inner = Order::plain(c.inner, round_up(c.inner, 32));

  const std::size_t d = c.embd, f = c.inner;
  layers_.resize(c.layers);
  for (int i = 0; i < c.layers; ++i) {
    const std::string h = "transformer.h." + std::to_string(i) + ".";
    Layer& layer = layers_[i];
    layer.gain1 = vector(h + "ln_1.weight");
    layer.bias1 = vector(h + "ln_1.bias");
    layer.qkv =
        matrix(tensor(h + "attn.c_attn.weight", 3 * d * d), 3 * d, 1, embd, qkv, tensor(h + "attn.c_attn.bias", 3 * d));
    layer.projection = matrix(tensor(h + "attn.c_proj.weight", d * d), d, 1, attention_output, embd,
                              tensor(h + "attn.c_proj.bias", d));
    layer.gain2 = vector(h + "ln_2.weight");
    layer.bias2 = vector(h + "ln_2.bias");
    layer.expand = matrix(tensor(h + "mlp.c_fc.weight", d * f), f, 1, embd, inner, tensor(h + "mlp.c_fc.bias", f));
    layer.contract =
        matrix(tensor(h + "mlp.c_proj.weight", d * f), d, 1, inner, embd, tensor(h + "mlp.c_proj.bias", d));
  }
  policy_hidden_ = matrix(tensor("lm_hidden.weight", d * d), 1, d, embd, embd, {});
  policy_head_ = matrix(tensor("lm_head.weight", c.vocab * d), 1, d, embd, Order::plain(c.vocab, c.vocab), {});
  if (c.action_values) {
    action_hidden_ = matrix(tensor("act_hidden.weight", d * d), 1, d, embd, embd, {});
    action_head_ = matrix(tensor("act_head.weight", c.vocab * d), 1, d, embd, Order::plain(c.vocab, c.vocab), {});
  }
  value_hidden_ = matrix(tensor("val_hidden.weight", d * d), 1, d, embd, embd, {});
  // The bias of padded outcomes is so low that their probability is 0.
  value_head_ = matrix(tensor("val_head.weight", c.outcomes * d), 1, d, embd,
                       Order::plain(c.outcomes, round_up(c.outcomes, kHeadColumns)), {}, -1e30f);
  gain_ = vector("transformer.ln_f.weight");
  bias_ = vector("transformer.ln_f.bias");
  tokens_ = table(tensor("transformer.wte.weight", c.vocab * d), c.vocab, c.embd, width_);
  positions_ = table(tensor("transformer.wpe.weight", c.positions * d), c.positions, c.embd, width_);
  if (c.features) features_ = table(tensor("features.weight", c.features * d), c.features, c.embd, width_);
  const std::vector<float> ones(d, 1.0f);
  mask_ = table(ones, 1, c.embd, width_);

  const std::size_t stride = static_cast<std::size_t>(value_head_.panels) * panel;
  std::vector<float> transposed(static_cast<std::size_t>(players_) * c.outcomes);
  for (int o = 0; o < c.outcomes; ++o)
    for (int p = 0; p < players_; ++p) transposed[p * c.outcomes + o] = values[o * players_ + p];
  values_ = table(transposed, players_, c.outcomes, static_cast<int>(stride));
  arena.take(1 << 14);  // slack, because prefetching reads past the end
}

Backend::Backend(const Config& config, const Tensors& tensors, std::span<const float> values, bool bf16,
                 const std::string& isa)
    : config_(config), bf16_(bf16), kernels_(nullptr) {
  const Config& c = config_;
  // No real model comes near these limits. Within them no product of sizes overflows. Construction fails at the first
  // tensor that does not match a size, and the limits keep the work until then small.
  constexpr int kMost = 1 << 18;
  for (const int size : {c.layers, c.embd, c.heads, c.inner, c.vocab, c.positions, c.outcomes})
    if (size <= 0 || size > kMost) fail("a size of the model is not from 1 to " + std::to_string(kMost));
  if (c.layers > 1024 || c.features < 0 || c.features > kMost)
    fail("a model has at most 1024 layers and from 0 to " + std::to_string(kMost) + " features");
  if (c.embd % c.heads != 0) fail("n_embd is not a multiple of n_head");
  if (values.empty() || values.size() % c.outcomes != 0)
    fail("values must be [" + std::to_string(c.outcomes) + ", players] for this model");
  players_ = static_cast<int>(values.size() / c.outcomes);
  for (const Level& candidate : kLevels) {
    const Kernels* kernels = kernels_of(candidate, bf16);
    // Kernels that also round activations are twice as fast and ten times less exact, so they are used only on request.
    const bool exact = kernels != nullptr && kernels->storage != Storage::kBfloat16Pairs;
    if (kernels == nullptr || (isa.empty() ? !exact : isa != name(candidate.isa))) continue;
    kernels_ = kernels;
    isa_ = name(candidate.isa);
  }
  if (kernels_ == nullptr) {
    std::string known;
    for (const std::string& name : instruction_sets(bf16)) known += (known.empty() ? "" : ", ") + name;
    fail("instruction set '" + isa + "' cannot run here; choose from: " + known);
  }

  const int size = c.embd / c.heads;
  lane_heads_ = c.heads >= 16 ? 16 : static_cast<int>(std::bit_ceil(static_cast<unsigned>(c.heads)));
  groups_ = (c.heads + 15) / 16;
  blocks_ = ((size + 1) / 2 + 16 / lane_heads_ - 1) / (16 / lane_heads_);
  lanes_ = groups_ * blocks_ * 32;
  width_ = round_up(c.embd, 64);
  activation_ = kernels_->storage == Storage::kBfloat16Pairs ? 2 : 4;
  row_ = static_cast<std::size_t>(lanes_) * activation_;
  hidden_row_ = width_ * activation_;

  Arena count(nullptr);
  load(count, tensors, values);
  weights_ = Buffer(count.size());
  Arena arena(weights_.data());
  load(arena, tensors, values);

  const int wide = std::max({round_up(3 * lanes_, 64), kHeadColumns});
  const auto work = [&](Arena& a) {
    residual_ = a.take_as<float>(static_cast<std::size_t>(kRows) * width_);
    wide_ = a.take_as<float>(static_cast<std::size_t>(kRows) * wide);
    normal_ = a.take(kRows * width_ * activation_);
    query_ = a.take(kRows * lanes_ * activation_);
    inner_ = a.take(kRows * round_up(std::max(c.inner, c.embd), 64) * activation_);
    scratch_ = a.take_as<float>(32 * (static_cast<std::size_t>(c.positions) + 16));
    state_ = a.take_as<float>(static_cast<std::size_t>(kRows) * 16 * (2 + players_));
  };
  Arena sizing(nullptr);
  work(sizing);
  workspace_ = Buffer(sizing.size());
  std::memset(workspace_.data(), 0, sizing.size());
  Arena space(workspace_.data());
  work(space);
  paths_.resize(static_cast<std::size_t>(kRows) * c.positions);
}

}  // namespace trickformer::gpt2
