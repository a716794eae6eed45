// A backend in use: its tree of nodes, and inference.
#include "nn/gpt2.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>

namespace trickformer::gpt2 {

// ---------------------------------------------------------------------------------------------- nodes

void Backend::grow(std::size_t nodes) {
  while (nodes_.size() - used_ < nodes) {
    const std::size_t size = nodes_.size() + kChunk;
    if (size > INT32_MAX) throw std::bad_alloc();
    chunks_.emplace_back(kChunk * (row_ * 2 * config_.layers + hidden_row_));
    nodes_.resize(size);
    free_.resize(size / 64, ~std::uint64_t{0});
  }
}

std::int32_t Backend::take() {
  while (!free_[lowest_]) ++lowest_;
  const int bit = std::countr_zero(free_[lowest_]);
  free_[lowest_] &= free_[lowest_] - 1;
  return static_cast<std::int32_t>(64 * lowest_) + bit;
}

void Backend::check_nodes(std::span<const std::int32_t> nodes) const {
  for (const std::int32_t node : nodes)
    if (node < 0 || static_cast<std::size_t>(node) >= nodes_.size() || nodes_[node].depth < 0)
      fail("node " + std::to_string(node) + " is not a live node of this backend");
}

void Backend::check_parents(std::int32_t node) const {
  for (const Node* at = &nodes_[node]; at->depth > 0;) {
    const Node* parent = &nodes_[at->parent];
    if (parent->birth != at->parents_birth) fail("a parent was released before the nodes below it");
    at = parent;
  }
}

void Backend::trace(std::int32_t node, const char** path) const {
  for (int depth = nodes_[node].depth; depth >= 0; --depth, node = nodes_[node].parent) path[depth] = address(node);
}

void Backend::release(std::span<const std::int32_t> nodes) {
  const std::scoped_lock lock(mutex_);
  std::vector<int> depths;
  depths.reserve(nodes.size());
  for (const std::int32_t node : nodes) {
    if (node < 0 || static_cast<std::size_t>(node) >= nodes_.size() || nodes_[node].depth < 0) {
      for (std::size_t i = 0; i < depths.size(); ++i) nodes_[nodes[i]].depth = depths[i];
      fail("node " + std::to_string(node) + " is not a live node of this backend");
    }
    depths.push_back(nodes_[node].depth);
    nodes_[node].depth = -1;
  }
  for (const std::int32_t node : nodes) {
    nodes_[node].birth = 0;
    const std::size_t word = static_cast<std::size_t>(node) / 64;
    free_[word] |= std::uint64_t{1} << node % 64;
    lowest_ = std::min(lowest_, word);
  }
  used_ -= nodes.size();
}

void Backend::reset() {
  const std::scoped_lock lock(mutex_);
  const std::size_t kept = std::min(chunks_.size(), (most_ + kChunk - 1) / kChunk);
  chunks_.resize(kept);
  nodes_.assign(kept * kChunk, {});
  free_.assign(kept * kChunk / 64, ~std::uint64_t{0});
  lowest_ = most_ = 0;
  used_ = 0;
  ++generation_;
}

void Backend::extend(std::span<const std::int32_t> parents, std::span<const std::int32_t> tokens,
                     const std::int32_t* lengths, std::span<const float> features, std::int32_t* nodes) {
  const std::scoped_lock lock(mutex_);
  std::size_t total = 0;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const std::int32_t length = lengths == nullptr ? 1 : lengths[i], parent = parents[i];
    if (length < 1) fail("a branch has length " + std::to_string(length) + "; give at least one token");
    if (parent != -1) check_nodes({&parent, 1});
    const int before = parent < 0 ? 0 : nodes_[parent].depth + 1;
    if (length > config_.positions - before)
      fail("a sequence of " + std::to_string(std::int64_t{before} + length) + " tokens is longer than the model's " +
           std::to_string(config_.positions) + " positions");
    if (parent != -1) check_parents(parent);
    total += static_cast<std::size_t>(length);
  }
  if (total != tokens.size())
    fail("the branches' lengths add up to " + std::to_string(total) + ", but there are " +
         std::to_string(tokens.size()) + " tokens");
  for (const std::int32_t token : tokens)
    if (token < 0 || token >= config_.vocab)
      fail("token " + std::to_string(token) + " is not in the vocabulary of " + std::to_string(config_.vocab));

  if (features.size() != total * static_cast<std::size_t>(config_.features))
    fail("there are " + std::to_string(features.size()) + " features, not " + std::to_string(config_.features) +
         " for each of " + std::to_string(total) + " tokens");

  grow(total);
  const Node nobody{};  // used as the parent of a root
  std::size_t at = 0;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    std::int32_t parent = parents[i];
    const std::int32_t length = lengths == nullptr ? 1 : lengths[i];
    for (int j = 0; j < length; ++j, ++at) {
      const std::int32_t node = take();
      const Node& above = parent < 0 ? nobody : nodes_[parent];
      if (++births_ == 0) ++births_;
      nodes_[node] = {parent, above.depth + 1, births_, above.birth};
      nodes[at] = parent = node;
    }
  }
  used_ += total;
  most_ = std::max(most_, used_.load());
  for (at = 0; at < total; at += kRows)
    forward(nodes + at, tokens.data() + at, features.data() + at * static_cast<std::size_t>(config_.features),
            static_cast<int>(std::min<std::size_t>(kRows, total - at)));
}

// ---------------------------------------------------------------------------------------------- inference

void Backend::multiply(Epilogue epilogue, const Matrix& matrix, const void* a, std::size_t lda, void* c,
                       std::size_t ldc, int rows, int panel, int panels) const {
  const std::size_t area = static_cast<std::size_t>(matrix.depth) * kernels_->panel * (bf16_ ? 2 : 4);
  kernels_->gemm[static_cast<int>(epilogue)]({a, lda, matrix.data + panel * area, matrix.bias + panel * kernels_->panel,
                                              c, ldc, rows, matrix.depth, panels < 0 ? matrix.panels : panels});
}

// Computes all layers for rows of nodes. A parent comes before its children.
void Backend::forward(const std::int32_t* nodes, const std::int32_t* tokens, const float* features, int rows) {
  const Config& c = config_;
  const Kernels& k = *kernels_;
  const int wide = round_up(3 * lanes_, 64), inner = round_up(c.inner, 64);
  const int width = c.embd / c.heads;  // of one head
  const float scale = 1.0f / std::sqrt(static_cast<float>(width));
  for (int r = 0; r < rows; ++r) {
    const std::int32_t node = nodes[r];
    const int depth = nodes_[node].depth;
    const char** path = paths_.data() + static_cast<std::size_t>(r) * c.positions;
    if (r > 0 && nodes_[node].parent == nodes[r - 1]) {
      std::copy_n(path - c.positions, depth, path);
      path[depth] = address(node);
    } else {
      trace(node, path);
    }
    float* x = residual_ + static_cast<std::size_t>(r) * width_;
    const float* token = tokens_ + static_cast<std::size_t>(tokens[r]) * width_;
    const float* position = positions_ + static_cast<std::size_t>(depth) * width_;
    for (int i = 0; i < width_; ++i) x[i] = token[i] + position[i];
    if (c.features) k.add_rows(features + static_cast<std::size_t>(r) * c.features, c.features, features_, width_, x);
  }
  const auto normalise = [&](const float* gain, const float* bias) {
    for (int r = 0; r < rows; ++r)
      k.layer_norm(residual_ + static_cast<std::size_t>(r) * width_, mask_, gain, bias, width_, c.embd, c.epsilon,
                   normal_ + r * hidden_row_);
  };
  const std::size_t query_row = lanes_ * activation_;
  for (int l = 0; l < c.layers; ++l) {
    const Layer& layer = layers_[l];
    const std::size_t key = 2 * l * kChunk * row_, value = key + row_;
    normalise(layer.gain1, layer.bias1);
    multiply(Epilogue::kStore, layer.qkv, normal_, width_, wide_, wide, rows);
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
                   nodes_[nodes[r]].depth + 1, groups_, blocks_, lane_heads_, scratch_, query,
                   last ? path : path + c.positions, last ? 0 : nodes_[nodes[r + 1]].depth + 1});
    }
    multiply(Epilogue::kAdd, layer.projection, query_, lanes_, residual_, width_, rows);
    normalise(layer.gain2, layer.bias2);
    multiply(Epilogue::kGeluTanh, layer.expand, normal_, width_, inner_, inner, rows);
    multiply(Epilogue::kAdd, layer.contract, inner_, inner, residual_, width_, rows);
  }
  for (int r = 0; r < rows; ++r)
    k.layer_norm(residual_ + static_cast<std::size_t>(r) * width_, mask_, gain_, bias_, width_, c.embd, c.epsilon,
                 hidden(nodes[r]));
}

// Calls use(first row, number of rows, first column, number of columns) for each portion of the logits in wide_.
template <class Use>
void Backend::head(std::span<const std::int32_t> nodes, const Matrix& first, const Matrix& second, Use use) {
  const std::scoped_lock lock(mutex_);
  check_nodes(nodes);
  const int step = kHeadColumns / kernels_->panel;
  for (std::size_t at = 0; at < nodes.size(); at += kRows) {
    const int rows = static_cast<int>(std::min<std::size_t>(kRows, nodes.size() - at));
    for (int r = 0; r < rows; ++r) std::memcpy(normal_ + r * hidden_row_, hidden(nodes[at + r]), hidden_row_);
    multiply(Epilogue::kGeluErf, first, normal_, width_, inner_, width_, rows);
    for (int panel = 0; panel < second.panels; panel += step) {
      const int panels = std::min(step, second.panels - panel);
      multiply(Epilogue::kStore, second, inner_, width_, wide_, kHeadColumns, rows, panel, panels);
      use(at, rows, panel * kernels_->panel, panels * kernels_->panel);
    }
  }
}

// Writes out [nodes, vocab] for a head that has one number for each token.
void Backend::by_token(std::span<const std::int32_t> nodes, const Matrix& first, const Matrix& second, float* out) {
  const int n = config_.vocab;
  head(nodes, first, second, [&](std::size_t at, int rows, int column, int columns) {
    columns = std::min(columns, n - column);
    for (int r = 0; r < rows; ++r)
      std::copy_n(wide_ + r * kHeadColumns, std::max(columns, 0), out + (at + r) * n + column);
  });
}

void Backend::policy(std::span<const std::int32_t> nodes, float* logits) {
  by_token(nodes, policy_hidden_, policy_head_, logits);
}

void Backend::action_values(std::span<const std::int32_t> nodes, float* values) {
  if (!config_.action_values) fail("this model has no action values");
  by_token(nodes, action_hidden_, action_head_, values);
}

void Backend::outcomes(std::span<const std::int32_t> nodes, float* probabilities) {
  const int n = config_.outcomes;
  head(nodes, value_hidden_, value_head_, [&](std::size_t at, int rows, int column, int columns) {
    columns = std::max(std::min(columns, n - column), 0);
    for (int r = 0; r < rows; ++r) {
      float* row = probabilities + (at + r) * n;
      std::copy_n(wide_ + r * kHeadColumns, columns, row + std::min(column, n));
      if (column + columns == n) kernels_->softmax(row, n);
    }
  });
}

void Backend::values(std::span<const std::int32_t> nodes, float* expected) {
  const std::size_t stride = static_cast<std::size_t>(value_head_.panels) * kernels_->panel;
  head(nodes, value_hidden_, value_head_, [&](std::size_t at, int rows, int column, int columns) {
    kernels_->expect(wide_, kHeadColumns, rows, columns, column == 0, values_ + column, stride, players_, state_);
    if (static_cast<std::size_t>(column + columns) == stride)
      kernels_->expect_end(state_, rows, players_, expected + at * players_);
  });
}

void Backend::hidden_states(std::span<const std::int32_t> nodes, float* states) {
  const std::scoped_lock lock(mutex_);
  check_nodes(nodes);
  const std::size_t n = static_cast<std::size_t>(config_.embd);
  for (std::size_t i = 0; i < nodes.size(); ++i, states += n) {
    const char* from = hidden(nodes[i]);
    if (activation_ == sizeof(float)) {
      std::memcpy(states, from, n * sizeof(float));
      continue;
    }
    for (std::size_t k = 0; k < n; ++k) {  // a bfloat16 is the upper half of a float
      std::uint16_t half;
      std::memcpy(&half, from + 2 * k, sizeof half);
      states[k] = std::bit_cast<float>(std::uint32_t{half} << 16);
    }
  }
}

}  // namespace trickformer::gpt2
