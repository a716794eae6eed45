// The kernels of nn/gpt2_kernels_impl.hpp, continued: attention. Only that file includes this one.

constexpr int kNear = 4;  // number of positions that are prefetched into the nearest cache

// Prefetches one group's part of a key or value. kLevel 3 is the nearest cache, 2 the next one.
template <Storage S, int kLevel>
INLINE void fetch(const char* row, int blocks, std::size_t group) {
  const char* at = row + group * sizeof(typename Types<S>::Cached);
  const int bytes = blocks * 32 * static_cast<int>(sizeof(typename Types<S>::Cached));
  for (int i = 0; i < bytes; i += 64) __builtin_prefetch(at + i, 0, kLevel);
}

// Writes the partial products of the lanes of one group to raw [length][16]. There are `blocks` blocks of 32 elements.
template <Storage S>
INLINE void products(const Attention& a, std::size_t group, float* raw) {
  using Cached = typename Types<S>::Cached;
  const auto* query = static_cast<const typename Types<S>::Activation*>(a.query) + group;
  for (int p = 0; p < a.length; ++p) {
    if (p + kNear < a.length) fetch<S, 3>(a.path[p + kNear] + a.key, a.blocks, group);
    fetch<S, 2>(a.path[p] + a.value, a.blocks, group);
    const auto* key = reinterpret_cast<const Cached*>(a.path[p] + a.key) + group;
    V acc[kParts] = {};
    for (int t = 0; t < a.blocks; ++t) {
      if constexpr (S == Storage::kBfloat16Pairs) {
        acc[0] = dot(acc[0], *reinterpret_cast<const IU*>(query + 32 * t), *reinterpret_cast<const IU*>(key + 32 * t));
      } else {
        V q0[kParts], q1[kParts], k0[kParts], k1[kParts];
        take_lanes(query + 32 * t, q0, q1);
        take_lanes(key + 32 * t, k0, k1);
        UNROLL for (int i = 0; i < kParts; ++i) acc[i] = fma(q1[i], k1[i], fma(q0[i], k0[i], acc[i]));
      }
    }
    UNROLL for (int i = 0; i < kParts; ++i) store(raw + 16 * p + i * kWidth, acc[i]);
  }
}

// Turns raw [length][16] into the probabilities of each head, repeated over its lanes. scores is scratch.
template <int kHeads>
INLINE void weigh(int length, float* raw, float* scores) {
  constexpr int kRepeat = 16 / kHeads;
  const int used = length * kHeads;
  const int full = (used + 15) / 16 * 16;
  for (int p = 0; p < length; ++p) {
    for (int h = 0; h < kHeads; ++h) {
      float sum = raw[16 * p + h];
      UNROLL for (int r = 1; r < kRepeat; ++r) sum += raw[16 * p + r * kHeads + h];
      scores[p * kHeads + h] = sum;
    }
  }
  for (int i = used; i < full; ++i) scores[i] = -1e30f;
  V most[kParts], sums[kParts] = {};
  UNROLL for (int i = 0; i < kParts; ++i) most[i] = set1(-1e30f);
  for (int p = 0; p < full; p += 16)
    UNROLL for (int i = 0; i < kParts; ++i) most[i] = larger(most[i], load(scores + p + i * kWidth));
  float lanes[16], folded[16];
  UNROLL for (int i = 0; i < kParts; ++i) store(lanes + i * kWidth, most[i]);
  for (int h = 0; h < kHeads; ++h) {
    float top = lanes[h];
    UNROLL for (int r = 1; r < kRepeat; ++r) top = lanes[r * kHeads + h] > top ? lanes[r * kHeads + h] : top;
    UNROLL for (int r = 0; r < kRepeat; ++r) folded[r * kHeads + h] = top;
  }
  UNROLL for (int i = 0; i < kParts; ++i) most[i] = load(folded + i * kWidth);
  for (int p = 0; p < full; p += 16) {
    UNROLL for (int i = 0; i < kParts; ++i) {
      const V e = exponential(load(scores + p + i * kWidth) - most[i]);
      sums[i] += e;
      store(scores + p + i * kWidth, e);
    }
  }
  UNROLL for (int i = 0; i < kParts; ++i) store(lanes + i * kWidth, sums[i]);
  for (int h = 0; h < kHeads; ++h) {
    float sum = lanes[h];
    UNROLL for (int r = 1; r < kRepeat; ++r) sum += lanes[r * kHeads + h];
    folded[h] = 1.0f / sum;
  }
  for (int p = 0; p < length; ++p) {
    for (int h = 0; h < kHeads; ++h) {
      const float probability = scores[p * kHeads + h] * folded[h];
      UNROLL for (int r = 0; r < kRepeat; ++r) raw[16 * p + r * kHeads + h] = probability;
    }
  }
}

// Writes the sum over the path of probability * value to out [B blocks].
template <Storage S, int B>
INLINE void blend(const Attention& a, const float* weights, std::size_t at) {
  using Cached = typename Types<S>::Cached;
  V even[B][kParts] = {}, odd[B][kParts] = {};
  for (int p = 0; p < a.length; ++p) {
    if (p + kNear < a.length) fetch<S, 3>(a.path[p + kNear] + a.value, B, at);
    if (p < a.next_length) fetch<S, 2>(a.next[p] + a.key, B, at);
    const auto* value = reinterpret_cast<const Cached*>(a.path[p] + a.value) + at;
    V w[kParts];
    UNROLL for (int i = 0; i < kParts; ++i) w[i] = load(weights + 16 * p + i * kWidth);
    UNROLL for (int t = 0; t < B; ++t) {
      V v0[kParts], v1[kParts];
      take_lanes(value + 32 * t, v0, v1);
      UNROLL for (int i = 0; i < kParts; ++i) {
        even[t][i] = fma(w[i], v0[i], even[t][i]);
        odd[t][i] = fma(w[i], v1[i], odd[t][i]);
      }
    }
  }
  auto* out = static_cast<typename Types<S>::Activation*>(a.out) + at;
  UNROLL for (int t = 0; t < B; ++t) put_lanes(out + 32 * t, even[t], odd[t]);
}

template <Storage S>
void attention(const Attention& a) {
  constexpr int kMost = kWidth == 16 ? 8 : 1;  // blocks whose sums fit the registers
  float* raw = a.scratch;
  float* scores = a.scratch + 16 * (a.length + 16);
  for (int g = 0; g < a.groups; ++g) {
    std::size_t at = static_cast<std::size_t>(g) * a.blocks * 32;
    products<S>(a, at, raw);
    switch (a.heads) {
      case 1: weigh<1>(a.length, raw, scores); break;
      case 2: weigh<2>(a.length, raw, scores); break;
      case 4: weigh<4>(a.length, raw, scores); break;
      case 8: weigh<8>(a.length, raw, scores); break;
      default: weigh<16>(a.length, raw, scores);
    }
    int left = a.blocks;
    for (; kMost >= 8 && left >= 8; left -= 8, at += 8 * 32) blend<S, kMost>(a, raw, at);
    for (; kMost >= 8 && left >= 4; left -= 4, at += 4 * 32) blend<S, kMost >= 4 ? 4 : 1>(a, raw, at);
    for (; left > 0; left -= 1, at += 32) blend<S, 1>(a, raw, at);
  }
}
