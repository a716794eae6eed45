#include "gpt2.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <stdexcept>

#if defined(__linux__)
#include <sys/mman.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

namespace trickformer::gpt2 {

namespace {

constexpr std::size_t HUGE_PAGE = std::size_t{1} << 21;
constexpr int HEAD_COLUMNS = 128;  // columns of a head that are worked on at a time

int round_up(int n, int to) { return (n + to - 1) / to * to; }

#if defined(__x86_64__)
// Whether the CPU has tiles of bfloat16 products, and the system lets this process use them: their registers are large,
// and Linux saves them for those alone who ask.
bool has_tiles() {
#if defined(__linux__)
    static const bool granted = [] {
        unsigned a = 0, b = 0, c = 0, d = 0;
        if (!__builtin_cpu_supports("avx512bf16") || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
        constexpr unsigned TILES = 1u << 24, BF16 = 1u << 22;
        constexpr long REQUEST = 0x1023, DATA = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
        return (d & TILES) != 0 && (d & BF16) != 0 && syscall(SYS_arch_prctl, REQUEST, DATA) == 0;
    }();
    return granted;
#else
    return false;
#endif
}
#endif

struct Isa {
    const char* name;
    const Kernels* (*kernels)(Storage);
    bool (*runs)();
};

const Isa ISAS[] = {
    {"base", kernels_base, [] { return true; }},
#if defined(__x86_64__)
    {"v3", kernels_v3, [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }},
    {"avx512", kernels_avx512,
     [] {
         return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512cd");
     }},
    {"avx512bf16", kernels_avx512bf16,
     [] { return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl"); }},
    {"amx", kernels_amx, has_tiles},
#endif
};

const Kernels* kernels_of(const Isa& isa, bool bf16) {
    if (!isa.runs()) return nullptr;
    if (!bf16) return isa.kernels(Storage::f32);
    const Kernels* pairs = isa.kernels(Storage::bf16_pairs);
    return pairs != nullptr ? pairs : isa.kernels(Storage::bf16);
}

std::uint16_t to_bf16(float x) {  // to nearest even
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

[[noreturn]] void fail(const std::string& message) { throw std::invalid_argument(message); }

}  // namespace

std::vector<std::string> instruction_sets(bool bf16) {
    std::vector<std::string> names;
    for (const Isa& isa : ISAS)
        if (kernels_of(isa, bf16) != nullptr) names.emplace_back(isa.name);
    return names;
}

void Buffer::Free::operator()(char* p) const { ::operator delete(p, std::align_val_t{alignment}); }

Buffer::Buffer(std::size_t bytes) {
    const std::size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
    bytes = (bytes + alignment - 1) / alignment * alignment;
    data_ = {static_cast<char*>(::operator new(bytes, std::align_val_t{alignment})), Free{alignment}};
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (alignment == HUGE_PAGE) madvise(data_.get(), bytes, MADV_HUGEPAGE);  // a hint: failing is no fault
#endif
}

// ---------------------------------------------------------------------------------------------- weights

// Hands out pieces of one block of memory; run once without memory to learn how much is needed.
class Engine::Arena {
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

// Which source index stands at each index of an axis of a packed matrix; -1 is padding.
struct Engine::Order : std::vector<int> {
    static Order plain(int size, int padded) {
        Order order;
        for (int i = 0; i < padded; ++i) order.push_back(i < size ? i : -1);
        return order;
    }
};

void Engine::load(Arena& arena, const Tensors& tensors, std::span<const float> values) {
    const Config& c = config_;
    const int panel = kernels_->panel;
    const bool pairs = kernels_->storage == Storage::bf16_pairs;

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
        auto* added = arena.take_as<float>(columns.size());
        m.data = out;
        m.bias = added;
        if (arena.counting()) return m;
        for (std::size_t n = 0; n < columns.size(); ++n) {
            const int from = columns[n];
            added[n] = from < 0 ? padding : bias.empty() ? 0.0f : bias[from];
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

    // The order of dimensions in queries, keys and values: heads across lanes (see Attention).
    const auto lane_order = [&](bool together) {
        Order order;
        const int size = c.embd / c.heads, repeat = 16 / lane_heads_;
        for (int i = 0; i < lanes_; ++i) {
            const int block = i / 32, within = i % 32;
            const int lane = together ? within / 2 : within % 16, element = together ? within % 2 : within / 16;
            const int head = block / blocks_ * 16 + lane % lane_heads_;
            const int dimension = 2 * (block % blocks_ * repeat + lane / lane_heads_) + element;
            order.push_back(head < c.heads && dimension < size ? head * size + dimension : -1);
        }
        return order;
    };
    const Order apart = lane_order(false), attended = lane_order(pairs);
    Order qkv;
    for (int part = 0; part < 3; ++part)
        for (const int i : apart) qkv.push_back(i < 0 ? -1 : i + part * c.embd);
    const Order embd = Order::plain(c.embd, round_up(c.embd, 32)), inner = Order::plain(c.inner, round_up(c.inner, 32));

    const std::size_t d = c.embd, f = c.inner;
    layers_.resize(c.layers);
    for (int i = 0; i < c.layers; ++i) {
        const std::string h = "transformer.h." + std::to_string(i) + ".";
        Layer& layer = layers_[i];
        layer.gain1 = vector(h + "ln_1.weight");
        layer.bias1 = vector(h + "ln_1.bias");
        layer.qkv = matrix(tensor(h + "attn.c_attn.weight", 3 * d * d), 3 * d, 1, embd, qkv,
                           tensor(h + "attn.c_attn.bias", 3 * d));
        layer.projection = matrix(tensor(h + "attn.c_proj.weight", d * d), d, 1, attended, embd,
                                  tensor(h + "attn.c_proj.bias", d));
        layer.gain2 = vector(h + "ln_2.weight");
        layer.bias2 = vector(h + "ln_2.bias");
        layer.expand = matrix(tensor(h + "mlp.c_fc.weight", d * f), f, 1, embd, inner, tensor(h + "mlp.c_fc.bias", f));
        layer.contract = matrix(tensor(h + "mlp.c_proj.weight", d * f), d, 1, inner, embd,
                                tensor(h + "mlp.c_proj.bias", d));
    }
    policy_hidden_ = matrix(tensor("lm_hidden.weight", d * d), 1, d, embd, embd, {});
    policy_head_ = matrix(tensor("lm_head.weight", c.vocab * d), 1, d, embd, Order::plain(c.vocab, c.vocab), {});
    if (c.action_values) {
        action_hidden_ = matrix(tensor("act_hidden.weight", d * d), 1, d, embd, embd, {});
        action_head_ = matrix(tensor("act_head.weight", c.vocab * d), 1, d, embd, Order::plain(c.vocab, c.vocab), {});
    }
    value_hidden_ = matrix(tensor("val_hidden.weight", d * d), 1, d, embd, embd, {});
    // Padded outcomes are so unlikely that they weigh nothing.
    value_head_ = matrix(tensor("val_head.weight", c.outcomes * d), 1, d, embd,
                         Order::plain(c.outcomes, round_up(c.outcomes, HEAD_COLUMNS)), {}, -1e30f);
    gain_ = vector("transformer.ln_f.weight");
    bias_ = vector("transformer.ln_f.bias");
    tokens_ = table(tensor("transformer.wte.weight", c.vocab * d), c.vocab, c.embd, width_);
    positions_ = table(tensor("transformer.wpe.weight", c.positions * d), c.positions, c.embd, width_);
    if (c.facts) facts_ = table(tensor("facts.weight", c.facts * d), c.facts, c.embd, width_);
    const std::vector<float> ones(d, 1.0f);
    mask_ = table(ones, 1, c.embd, width_);

    const std::size_t stride = static_cast<std::size_t>(value_head_.panels) * panel;
    std::vector<float> transposed(static_cast<std::size_t>(players_) * c.outcomes);
    for (int o = 0; o < c.outcomes; ++o)
        for (int p = 0; p < players_; ++p) transposed[p * c.outcomes + o] = values[o * players_ + p];
    values_ = table(transposed, players_, c.outcomes, static_cast<int>(stride));
    arena.take(1 << 14);  // prefetching runs ahead
}

Engine::Engine(const Config& config, const Tensors& tensors, std::span<const float> values, bool bf16,
               const std::string& isa)
    : config_(config), bf16_(bf16), kernels_(nullptr) {
    const Config& c = config_;
    for (const int size : {c.layers, c.embd, c.heads, c.inner, c.vocab, c.positions, c.outcomes})
        if (size <= 0) fail("a size of the model is not positive");
    if (c.embd % c.heads != 0) fail("n_embd is not a multiple of n_head");
    if (values.empty() || values.size() % c.outcomes != 0)
        fail("values must be [" + std::to_string(c.outcomes) + ", players] for this model");
    players_ = static_cast<int>(values.size() / c.outcomes);
    for (const Isa& candidate : ISAS) {
        const Kernels* kernels = kernels_of(candidate, bf16);
        // What rounds activations too is twice as fast and ten times less exact: it is used where it is asked for.
        const bool exact = kernels != nullptr && kernels->storage != Storage::bf16_pairs;
        if (kernels == nullptr || (isa.empty() ? !exact : isa != candidate.name)) continue;
        kernels_ = kernels;
        isa_ = candidate.name;
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
    activation_ = kernels_->storage == Storage::bf16_pairs ? 2 : 4;
    row_ = static_cast<std::size_t>(lanes_) * activation_;
    hidden_row_ = width_ * activation_;

    Arena count(nullptr);
    load(count, tensors, values);
    weights_ = Buffer(count.size());
    Arena arena(weights_.data());
    load(arena, tensors, values);

    const int wide = std::max({round_up(3 * lanes_, 64), HEAD_COLUMNS});
    const auto work = [&](Arena& a) {
        residual_ = a.take_as<float>(static_cast<std::size_t>(ROWS) * width_);
        wide_ = a.take_as<float>(static_cast<std::size_t>(ROWS) * wide);
        normal_ = a.take(ROWS * width_ * activation_);
        query_ = a.take(ROWS * lanes_ * activation_);
        inner_ = a.take(ROWS * round_up(std::max(c.inner, c.embd), 64) * activation_);
        scratch_ = a.take_as<float>(32 * (static_cast<std::size_t>(c.positions) + 16));
        state_ = a.take_as<float>(static_cast<std::size_t>(ROWS) * 16 * (2 + players_));
    };
    Arena sizing(nullptr);
    work(sizing);
    workspace_ = Buffer(sizing.size());
    std::memset(workspace_.data(), 0, sizing.size());
    Arena space(workspace_.data());
    work(space);
    paths_.resize(static_cast<std::size_t>(ROWS) * c.positions);
}

// ---------------------------------------------------------------------------------------------- nodes

void Engine::grow(std::size_t nodes) {
    while (free_.size() < nodes) {
        const std::size_t first = parent_.size();
        if (first + CHUNK > INT32_MAX) throw std::bad_alloc();
        chunks_.emplace_back(CHUNK * (row_ * 2 * config_.layers + hidden_row_));
        parent_.resize(first + CHUNK, -1);
        depth_.resize(first + CHUNK, -1);
        std::vector<std::int32_t> added(CHUNK);
        std::iota(added.rbegin(), added.rend(), static_cast<std::int32_t>(first));
        free_.insert(free_.begin(), added.begin(), added.end());  // the lowest node is taken first
    }
}

void Engine::check_nodes(std::span<const std::int32_t> nodes) const {
    for (const std::int32_t node : nodes)
        if (node < 0 || static_cast<std::size_t>(node) >= depth_.size() || depth_[node] < 0)
            fail("node " + std::to_string(node) + " is not a live node of this engine");
}

void Engine::trace(std::int32_t node, const char** path) const {
    for (int depth = depth_[node]; depth >= 0; --depth, node = parent_[node]) {
        if (node < 0 || depth_[node] != depth) fail("a parent was released before the nodes below it");
        path[depth] = address(node);
    }
}

void Engine::release(std::span<const std::int32_t> nodes) {
    const std::scoped_lock lock(mutex_);
    free_.reserve(free_.size() + nodes.size());
    std::vector<int> depths;
    depths.reserve(nodes.size());
    for (const std::int32_t node : nodes) {
        if (node < 0 || static_cast<std::size_t>(node) >= depth_.size() || depth_[node] < 0) {
            for (std::size_t i = 0; i < depths.size(); ++i) depth_[nodes[i]] = depths[i];
            fail("node " + std::to_string(node) + " is not a live node of this engine");
        }
        depths.push_back(depth_[node]);
        depth_[node] = -1;
    }
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) free_.push_back(*node);
    used_ -= nodes.size();
}

void Engine::reset() {
    const std::scoped_lock lock(mutex_);
    free_.resize(parent_.size());
    std::iota(free_.rbegin(), free_.rend(), 0);
    std::fill(depth_.begin(), depth_.end(), -1);
    used_ = 0;
    ++generation_;
}

void Engine::extend(std::span<const std::int32_t> parents, std::span<const std::int32_t> tokens,
                    const std::int32_t* lengths, std::span<const float> facts, std::int32_t* nodes) {
    const std::scoped_lock lock(mutex_);
    std::size_t total = 0;
    for (std::size_t i = 0; i < parents.size(); ++i) {
        const std::int32_t length = lengths == nullptr ? 1 : lengths[i], parent = parents[i];
        if (length < 1) fail("a branch has length " + std::to_string(length) + "; give at least one token");
        if (parent != -1) check_nodes({&parent, 1});
        const int before = parent < 0 ? 0 : depth_[parent] + 1;
        if (length > config_.positions - before)
            fail("a sequence of " + std::to_string(std::int64_t{before} + length) + " tokens is longer than the model's " +
                 std::to_string(config_.positions) + " positions");
        if (parent != -1) trace(parent, paths_.data());
        total += static_cast<std::size_t>(length);
    }
    if (total != tokens.size())
        fail("the branches' lengths add up to " + std::to_string(total) + ", but there are " +
             std::to_string(tokens.size()) + " tokens");
    for (const std::int32_t token : tokens)
        if (token < 0 || token >= config_.vocab)
            fail("token " + std::to_string(token) + " is not in the vocabulary of " + std::to_string(config_.vocab));

    if (facts.size() != total * static_cast<std::size_t>(config_.facts))
        fail("there are " + std::to_string(facts.size()) + " facts, not " + std::to_string(config_.facts) +
             " for each of " + std::to_string(total) + " tokens");

    grow(total);
    std::size_t at = 0;
    for (std::size_t i = 0; i < parents.size(); ++i) {
        std::int32_t parent = parents[i];
        const std::int32_t length = lengths == nullptr ? 1 : lengths[i];
        for (int j = 0; j < length; ++j, ++at) {
            const std::int32_t node = free_.back();
            free_.pop_back();
            parent_[node] = parent;
            depth_[node] = parent < 0 ? 0 : depth_[parent] + 1;
            nodes[at] = parent = node;
        }
    }
    used_ += total;
    for (at = 0; at < total; at += ROWS)
        forward(nodes + at, tokens.data() + at, facts.data() + at * static_cast<std::size_t>(config_.facts),
                static_cast<int>(std::min<std::size_t>(ROWS, total - at)));
}

// ---------------------------------------------------------------------------------------------- inference

void Engine::multiply(Epilogue epilogue, const Matrix& matrix, const void* a, std::size_t lda, void* c, std::size_t ldc,
                      int rows, int panel, int panels) const {
    const std::size_t area = static_cast<std::size_t>(matrix.depth) * kernels_->panel * (bf16_ ? 2 : 4);
    kernels_->gemm[static_cast<int>(epilogue)]({a, lda, matrix.data + panel * area,
                                                matrix.bias + panel * kernels_->panel, c, ldc, rows, matrix.depth,
                                                panels < 0 ? matrix.panels : panels});
}

// Takes rows of nodes, parents before children, through all layers.
void Engine::forward(const std::int32_t* nodes, const std::int32_t* tokens, const float* facts, int rows) {
    const Config& c = config_;
    const Kernels& k = *kernels_;
    const int wide = round_up(3 * lanes_, 64), inner = round_up(c.inner, 64);
    const float scale = 1.0f / std::sqrt(static_cast<float>(c.embd / c.heads));
    for (int r = 0; r < rows; ++r) {
        const std::int32_t node = nodes[r];
        const int depth = depth_[node];
        const char** path = paths_.data() + static_cast<std::size_t>(r) * c.positions;
        if (r > 0 && parent_[node] == nodes[r - 1]) {
            std::copy_n(path - c.positions, depth, path);
            path[depth] = address(node);
        } else {
            trace(node, path);
        }
        float* x = residual_ + static_cast<std::size_t>(r) * width_;
        const float* token = tokens_ + static_cast<std::size_t>(tokens[r]) * width_;
        const float* position = positions_ + static_cast<std::size_t>(depth) * width_;
        for (int i = 0; i < width_; ++i) x[i] = token[i] + position[i];
        if (c.facts) k.add_rows(facts + static_cast<std::size_t>(r) * c.facts, c.facts, facts_, width_, x);
    }
    const auto normalise = [&](const float* gain, const float* bias) {
        for (int r = 0; r < rows; ++r)
            k.layer_norm(residual_ + static_cast<std::size_t>(r) * width_, mask_, gain, bias, width_, c.embd, c.epsilon,
                         normal_ + r * hidden_row_);
    };
    const std::size_t query_row = lanes_ * activation_;
    for (int l = 0; l < c.layers; ++l) {
        const Layer& layer = layers_[l];
        const std::size_t key = 2 * l * CHUNK * row_, value = key + row_;
        normalise(layer.gain1, layer.bias1);
        multiply(Epilogue::store, layer.qkv, normal_, width_, wide_, wide, rows);
        for (int r = 0; r < rows; ++r) {
            char* cache = address(nodes[r]);
            k.split(wide_ + static_cast<std::size_t>(r) * wide, lanes_, scale, query_ + r * query_row, cache + key,
                    cache + value);
        }
        for (int r = 0; r < rows; ++r) {
            char* query = query_ + r * query_row;
            const char* const* path = paths_.data() + static_cast<std::size_t>(r) * c.positions;
            const bool last = r + 1 == rows;
            k.attention({query, path, static_cast<std::ptrdiff_t>(key), static_cast<std::ptrdiff_t>(value),
                         depth_[nodes[r]] + 1, groups_, blocks_, lane_heads_, scratch_, query,
                         last ? path : path + c.positions, last ? 0 : depth_[nodes[r + 1]] + 1});
        }
        multiply(Epilogue::add, layer.projection, query_, lanes_, residual_, width_, rows);
        normalise(layer.gain2, layer.bias2);
        multiply(Epilogue::gelu_tanh, layer.expand, normal_, width_, inner_, inner, rows);
        multiply(Epilogue::add, layer.contract, inner_, inner, residual_, width_, rows);
    }
    for (int r = 0; r < rows; ++r)
        k.layer_norm(residual_ + static_cast<std::size_t>(r) * width_, mask_, gain_, bias_, width_, c.embd, c.epsilon,
                     hidden(nodes[r]));
}

// use(first row, rows, first column, columns, ld) finds each portion of the logits in wide_.
template <class Use>
void Engine::head(std::span<const std::int32_t> nodes, const Matrix& first, const Matrix& second, Use use) {
    const std::scoped_lock lock(mutex_);
    check_nodes(nodes);
    const int step = HEAD_COLUMNS / kernels_->panel;
    for (std::size_t at = 0; at < nodes.size(); at += ROWS) {
        const int rows = static_cast<int>(std::min<std::size_t>(ROWS, nodes.size() - at));
        for (int r = 0; r < rows; ++r) std::memcpy(normal_ + r * hidden_row_, hidden(nodes[at + r]), hidden_row_);
        multiply(Epilogue::gelu_erf, first, normal_, width_, inner_, width_, rows);
        for (int panel = 0; panel < second.panels; panel += step) {
            const int panels = std::min(step, second.panels - panel);
            multiply(Epilogue::store, second, inner_, width_, wide_, HEAD_COLUMNS, rows, panel, panels);
            use(at, rows, panel * kernels_->panel, panels * kernels_->panel);
        }
    }
}

// out [nodes, vocab] of a head with a number for each token.
void Engine::by_token(std::span<const std::int32_t> nodes, const Matrix& first, const Matrix& second, float* out) {
    const int n = config_.vocab;
    head(nodes, first, second, [&](std::size_t at, int rows, int column, int columns) {
        columns = std::min(columns, n - column);
        for (int r = 0; r < rows; ++r)
            std::copy_n(wide_ + r * HEAD_COLUMNS, std::max(columns, 0), out + (at + r) * n + column);
    });
}

void Engine::policy(std::span<const std::int32_t> nodes, float* logits) {
    by_token(nodes, policy_hidden_, policy_head_, logits);
}

void Engine::action_values(std::span<const std::int32_t> nodes, float* values) {
    if (!config_.action_values) fail("this model has no action values");
    by_token(nodes, action_hidden_, action_head_, values);
}

void Engine::outcomes(std::span<const std::int32_t> nodes, float* probabilities) {
    const int n = config_.outcomes;
    head(nodes, value_hidden_, value_head_, [&](std::size_t at, int rows, int column, int columns) {
        columns = std::max(std::min(columns, n - column), 0);
        for (int r = 0; r < rows; ++r) {
            float* row = probabilities + (at + r) * n;
            std::copy_n(wide_ + r * HEAD_COLUMNS, columns, row + std::min(column, n));
            if (column + columns == n) kernels_->softmax(row, n);
        }
    });
}

void Engine::values(std::span<const std::int32_t> nodes, float* expected) {
    const std::size_t stride = static_cast<std::size_t>(value_head_.panels) * kernels_->panel;
    head(nodes, value_hidden_, value_head_, [&](std::size_t at, int rows, int column, int columns) {
        kernels_->expect(wide_, HEAD_COLUMNS, rows, columns, column == 0, values_ + column, stride, players_, state_);
        if (static_cast<std::size_t>(column + columns) == stride)
            kernels_->expect_end(state_, rows, players_, expected + at * players_);
    });
}

void Engine::hidden_states(std::span<const std::int32_t> nodes, float* states) {
    const std::scoped_lock lock(mutex_);
    check_nodes(nodes);
    const std::size_t n = static_cast<std::size_t>(config_.embd);
    for (std::size_t i = 0; i < nodes.size(); ++i, states += n) {
        const char* from = hidden(nodes[i]);
        if (activation_ == sizeof(float)) {
            std::memcpy(states, from, n * sizeof(float));
            continue;
        }
        for (std::size_t k = 0; k < n; ++k) {  // bfloat16: the upper half of a float
            std::uint16_t half;
            std::memcpy(&half, from + 2 * k, sizeof half);
            states[k] = std::bit_cast<float>(std::uint32_t{half} << 16);
        }
    }
}

}  // namespace trickformer::gpt2
