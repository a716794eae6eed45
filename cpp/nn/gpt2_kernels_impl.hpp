// The kernels of nn/gpt2_kernels.hpp, written once for any vector type. A translation unit includes this file in an
// unnamed namespace after it has defined:
// kWidth (lanes), V (float vector), I (int32 vector);
// kRows, kVectors: a tile of a matrix has kRows rows and kVectors vectors of columns;
// kPaired: panels that a single row takes at once;
// kAhead: cache lines to prefetch ahead in a single row's weights;
// fma, reciprocal and, for kBfloat16Pairs, dot.
// All functions have internal linkage and call nothing of the standard library. Otherwise the linker could merge an
// inline function that was built for one instruction set into code for another.

constexpr int kPanel = kWidth * kVectors;
constexpr int kParts = 16 / kWidth;  // vectors in a block of 16 lanes

using VU [[gnu::vector_size(4 * kWidth), gnu::aligned(4), gnu::may_alias]] = float;
using IU [[gnu::vector_size(4 * kWidth), gnu::aligned(4), gnu::may_alias]] = std::int32_t;
using H [[gnu::vector_size(2 * kWidth)]] = std::uint16_t;
using HU [[gnu::vector_size(2 * kWidth), gnu::aligned(2), gnu::may_alias]] = std::uint16_t;

INLINE V load(const float* p) { return *reinterpret_cast<const VU*>(p); }
INLINE void store(float* p, V v) { *reinterpret_cast<VU*>(p) = v; }
INLINE V set1(float x) { return V{} + x; }
INLINE V larger(V a, V b) { return a > b ? a : b; }
INLINE V smaller(V a, V b) { return a < b ? a : b; }
INLINE V as_float(I x) { return reinterpret_cast<V>(x); }
INLINE I as_int(V x) { return reinterpret_cast<I>(x); }

// A bfloat16 is the upper half of a float32, here rounded to nearest even.
INLINE V widen(const std::uint16_t* p) {
  return as_float(__builtin_convertvector(*reinterpret_cast<const HU*>(p), I) << 16);
}
INLINE I round_bf16(V v) {
  const I x = as_int(v);
  return x + 0x7fff + ((x >> 16) & 1);
}
INLINE void narrow(std::uint16_t* p, V v) {
  *reinterpret_cast<HU*>(p) = __builtin_convertvector((round_bf16(v) >> 16) & 0xffff, H);
}

#if !defined(HAS_DOT)
// acc plus the two bfloat16 products of each lane. Only the AVX-512-BF16 tables use it, and they have an instruction
// for it.
INLINE V dot(V acc, I a, I b) {
  constexpr auto kHigh = static_cast<std::int32_t>(0xffff0000u);
  return fma(as_float(a & kHigh), as_float(b & kHigh), fma(as_float(a << 16), as_float(b << 16), acc));
}
#endif

// e^x within 2 units in the last place on [-87, 88], clamped outside (the polynomial of Cephes' expf). Adding 12582912
// = 1.5 * 2^23 leaves round(x / ln 2) in the low bits. The two constants with r are ln 2 in two parts.
INLINE V exponential(V x) {
  x = smaller(larger(x, set1(-87.0f)), set1(88.0f));
  const V t = fma(x, set1(1.44269504088896341f), set1(12582912.0f));
  const V n = t - set1(12582912.0f);
  V r = fma(n, set1(-0.693359375f), x);
  r = fma(n, set1(2.12194440e-4f), r);
  V p = set1(1.9875691500e-4f);
  p = fma(p, r, set1(1.3981999507e-3f));
  p = fma(p, r, set1(8.3334519073e-3f));
  p = fma(p, r, set1(4.1665795894e-2f));
  p = fma(p, r, set1(1.6666665459e-1f));
  p = fma(p, r, set1(5.0000001201e-1f));
  p = fma(p * r, r, r + set1(1.0f));
  return as_float(as_int(p) + (as_int(t) << 23));
}

// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), which is x / (1 + e^-2u): GPT-2's gelu_new.
INLINE V gelu_tanh(V x) {
  const V u = x * fma(x * x, set1(-2.0f * 0.7978845608f * 0.044715f), set1(-2.0f * 0.7978845608f));
  return x * reciprocal(set1(1.0f) + exponential(u));
}

// x/2 (1 + erf(x / sqrt 2)); erf within 1.5e-7 (Abramowitz and Stegun 7.1.26).
INLINE V gelu_erf(V x) {
  const V a = larger(x, -x) * set1(0.70710678118654752f);
  const V t = set1(1.0f) / fma(a, set1(0.3275911f), set1(1.0f));
  V p = set1(1.061405429f);
  p = fma(p, t, set1(-1.453152027f));
  p = fma(p, t, set1(1.421413741f));
  p = fma(p, t, set1(-0.284496736f));
  p = fma(p, t, set1(0.254829592f));
  const V tail = p * t * exponential(-a * a);  // 1 - erf(a)
  const V half = set1(0.5f) * x;
  return x > set1(0.0f) ? x - half * tail : half * tail;
}

// ---------------------------------------------------------------------------------------------- matrices

template <Storage S>
struct Types;
template <>
struct Types<Storage::kFloat32> {
  using Weight = float;
  using Activation = float;
  using Cached = float;
};
template <>
struct Types<Storage::kBfloat16> {
  using Weight = std::uint16_t;
  using Activation = float;
  using Cached = float;
};
template <>
struct Types<Storage::kBfloat16Pairs> {
  using Weight = std::uint16_t;
  using Activation = std::uint16_t;
  using Cached = std::uint16_t;
};

INLINE void put(float* p, V v) { store(p, v); }
INLINE void put(std::uint16_t* p, V v) { narrow(p, v); }
INLINE V weight(const float* p) { return load(p); }
INLINE V weight(const std::uint16_t* p) { return widen(p); }

// One step over the depth: acc [M][N] += a [M] b [N]. A step covers one depth, or a pair of them.
template <Storage S, int M, int N>
struct Step {
  static constexpr int kDepth = 1;
  template <class A, class B>
  INLINE static void run(V (&acc)[M][N], const A* const (&a)[M], const B* const (&b)[N / kVectors], int k) {
    V w[N];
    UNROLL for (int n = 0; n < N; ++n) w[n] = weight(b[n / kVectors] + n % kVectors * kWidth);
    UNROLL for (int m = 0; m < M; ++m) {
      const V x = set1(a[m][k]);
      UNROLL for (int n = 0; n < N; ++n) acc[m][n] = fma(x, w[n], acc[m][n]);
    }
  }
};
template <int M, int N>
struct Step<Storage::kBfloat16Pairs, M, N> {
  static constexpr int kDepth = 2;
  template <class A, class B>
  INLINE static void run(V (&acc)[M][N], const A* const (&a)[M], const B* const (&b)[N / kVectors], int k) {
    I w[N];
    UNROLL for (int n = 0; n < N; ++n) w[n] = *reinterpret_cast<const IU*>(b[n / kVectors] + n % kVectors * kWidth * 2);
    UNROLL for (int m = 0; m < M; ++m) {
      std::int32_t pair;
      __builtin_memcpy(&pair, a[m] + k, 4);
      const I x = I{} + pair;
      UNROLL for (int n = 0; n < N; ++n) acc[m][n] = dot(acc[m][n], x, w[n]);
    }
  }
};

// Computes M rows by P panels over the whole depth.
template <Storage S, Epilogue E, int M, int P>
INLINE void tile(const Gemm& g, int row, int panel) {
  using Weight = typename Types<S>::Weight;
  using Activation = typename Types<S>::Activation;
  constexpr int kColumns = P * kVectors;
  using Walk = Step<S, M, kColumns>;
  const std::size_t area = static_cast<std::size_t>(g.depth) * kPanel;
  const Activation* a[M];
  UNROLL for (int m = 0; m < M; ++m) a[m] = static_cast<const Activation*>(g.a) + (row + m) * g.lda;
  const Weight* b[P];
  UNROLL for (int p = 0; p < P; ++p) b[p] = static_cast<const Weight*>(g.b) + (panel + p) * area;
  V acc[M][kColumns];
  UNROLL for (int n = 0; n < kColumns; ++n) {
    const V bias = load(g.bias + (panel * kVectors + n) * kWidth);
    UNROLL for (int m = 0; m < M; ++m) acc[m][n] = bias;
  }
  for (int k = 0; k < g.depth; k += Walk::kDepth) {
    if constexpr (M == 1) {
      constexpr int kLine = 64 / sizeof(Weight);
      UNROLL for (int p = 0; p < P; ++p) for (int i = 0; i < kPanel * Walk::kDepth; i += kLine)
          __builtin_prefetch(b[p] + kAhead * kLine + i);
    }
    Walk::run(acc, a, b, k);
    UNROLL for (int p = 0; p < P; ++p) b[p] += kPanel * Walk::kDepth;
  }
  UNROLL for (int m = 0; m < M; ++m) {
    const std::size_t at = (row + m) * g.ldc + static_cast<std::size_t>(panel) * kPanel;
    UNROLL for (int n = 0; n < kColumns; ++n) {
      if constexpr (E == Epilogue::kStore) store(static_cast<float*>(g.c) + at + n * kWidth, acc[m][n]);
      if constexpr (E == Epilogue::kAdd) {
        float* c = static_cast<float*>(g.c) + at + n * kWidth;
        store(c, load(c) + acc[m][n]);
      }
      if constexpr (E == Epilogue::kGeluTanh)
        put(static_cast<Activation*>(g.c) + at + n * kWidth, gelu_tanh(acc[m][n]));
      if constexpr (E == Epilogue::kGeluErf) put(static_cast<Activation*>(g.c) + at + n * kWidth, gelu_erf(acc[m][n]));
    }
  }
}

template <Storage S, Epilogue E, int M, int P>
[[gnu::noinline]] void tile_call(const Gemm& g, int row, int panel) {
  tile<S, E, M, P>(g, row, panel);
}

template <Storage S, Epilogue E, int M = kRows>
INLINE void tile_rows(int rows, const Gemm& g, int row, int panel) {
  if constexpr (M == 0) {
    return;
  } else {
    if (rows == M) return tile_call<S, E, M, 1>(g, row, panel);
    tile_rows<S, E, M - 1>(rows, g, row, panel);
  }
}

template <Storage S, Epilogue E>
void gemm(const Gemm& g) {
  if (g.rows == 1) {
    int panel = 0;
    for (; panel + kPaired <= g.panels; panel += kPaired) tile_call<S, E, 1, kPaired>(g, 0, panel);
    for (; panel < g.panels; ++panel) tile_call<S, E, 1, 1>(g, 0, panel);
    return;
  }
  const int tiles = (g.rows + kRows - 1) / kRows;
  for (int panel = 0; panel < g.panels; ++panel) {
    for (int t = 0; t < tiles; ++t) {
      const int row = g.rows * t / tiles;
      tile_rows<S, E>(g.rows * (t + 1) / tiles - row, g, row, panel);
    }
  }
}

// ---------------------------------------------------------------------------------------------- rows

INLINE float sum_lanes(V v) {
  float sum = 0;
  UNROLL for (int i = 0; i < kWidth; ++i) sum += v[i];
  return sum;
}
INLINE float max_lanes(V v) {
  float most = v[0];
  UNROLL for (int i = 1; i < kWidth; ++i) most = v[i] > most ? v[i] : most;
  return most;
}

template <Storage S>
void layer_norm(const float* x, const float* mask, const float* gain, const float* bias, int width, int size, float eps,
                void* out) {
  V sum{};
  for (int i = 0; i < width; i += kWidth) sum += load(x + i);
  const V mean = set1(sum_lanes(sum) / static_cast<float>(size));
  V squares{};
  for (int i = 0; i < width; i += kWidth) {
    const V d = (load(x + i) - mean) * load(mask + i);
    squares = fma(d, d, squares);
  }
  const V scale = set1(1.0f / __builtin_sqrtf(sum_lanes(squares) / static_cast<float>(size) + eps));
  auto* to = static_cast<typename Types<S>::Activation*>(out);
  for (int i = 0; i < width; i += kWidth)
    put(to + i, fma((load(x + i) - mean) * scale, load(gain + i), load(bias + i)));
}

// Stores and loads the two elements of 16 lanes: apart (float32) or together (bfloat16).
INLINE void put_lanes(float* p, const V (&even)[kParts], const V (&odd)[kParts]) {
  UNROLL for (int i = 0; i < kParts; ++i) {
    store(p + i * kWidth, even[i]);
    store(p + 16 + i * kWidth, odd[i]);
  }
}
INLINE void put_lanes(std::uint16_t* p, const V (&even)[kParts], const V (&odd)[kParts]) {
  using U [[gnu::vector_size(4 * kWidth)]] = std::uint32_t;
  UNROLL for (int i = 0; i < kParts; ++i) {
    const U low = reinterpret_cast<U>(round_bf16(even[i])) >> 16;
    const U high = reinterpret_cast<U>(round_bf16(odd[i])) & 0xffff0000u;
    *reinterpret_cast<IU*>(p + 2 * i * kWidth) = reinterpret_cast<I>(low | high);
  }
}
INLINE void take_lanes(const float* p, V (&even)[kParts], V (&odd)[kParts]) {
  UNROLL for (int i = 0; i < kParts; ++i) {
    even[i] = load(p + i * kWidth);
    odd[i] = load(p + 16 + i * kWidth);
  }
}
INLINE void take_lanes(const std::uint16_t* p, V (&even)[kParts], V (&odd)[kParts]) {
  UNROLL for (int i = 0; i < kParts; ++i) {
    const I both = *reinterpret_cast<const IU*>(p + 2 * i * kWidth);
    even[i] = as_float(both << 16);
    odd[i] = as_float(both & static_cast<std::int32_t>(0xffff0000u));
  }
}

template <class T>
INLINE void convert_lanes(const float* x, int width, float scale, T* out) {
  for (int i = 0; i < width; i += 32) {
    V even[kParts], odd[kParts];
    take_lanes(x + i, even, odd);
    UNROLL for (int j = 0; j < kParts; ++j) {
      even[j] *= set1(scale);
      odd[j] *= set1(scale);
    }
    put_lanes(out + i, even, odd);
  }
}

template <Storage S>
void split(const float* x, int width, float scale, void* query, void* key, void* value) {
  convert_lanes(x, width, scale, static_cast<typename Types<S>::Activation*>(query));
  convert_lanes(x + width, width, 1.0f, static_cast<typename Types<S>::Cached*>(key));
  convert_lanes(x + 2 * width, width, 1.0f, static_cast<typename Types<S>::Cached*>(value));
}

#include "nn/gpt2_kernels_attention.hpp"

// ---------------------------------------------------------------------------------------------- outcomes

void softmax(float* x, std::size_t n) {
  const std::size_t full = n / kWidth * kWidth;
  float rest[kWidth];
  for (int i = 0; i < kWidth; ++i) rest[i] = full + i < n ? x[full + i] : -1e30f;
  V most = load(rest);
  for (std::size_t i = 0; i < full; i += kWidth) most = larger(most, load(x + i));
  most = set1(max_lanes(most));
  V sum = exponential(load(rest) - most);
  store(rest, sum);
  for (std::size_t i = 0; i < full; i += kWidth) {
    const V e = exponential(load(x + i) - most);
    store(x + i, e);
    sum += e;
  }
  const float scale = 1.0f / sum_lanes(sum);
  for (std::size_t i = 0; i < full; i += kWidth) store(x + i, load(x + i) * set1(scale));
  for (int i = 0; full + i < n; ++i) x[full + i] = rest[i] * scale;
}

void add_rows(const float* by, int n, const float* rows, int width, float* x) {
  constexpr int kTogether = 64;  // rows that are added at a time; most factors are 0 and their rows are skipped
  int which[kTogether];
  for (int i = 0; i < n;) {
    int found = 0;
    for (; i < n && found < kTogether; ++i) {
      which[found] = i;
      found += by[i] != 0;
    }
    for (int at = 0; at < width; at += kWidth) {
      V sum = load(x + at);
      for (int j = 0; j < found; ++j)
        sum = fma(set1(by[which[j]]), load(rows + static_cast<std::size_t>(which[j]) * width + at), sum);
      store(x + at, sum);
    }
  }
}

void expect(const float* logits, std::size_t ld, int rows, int columns, bool first, const float* values,
            std::size_t stride, int players, float* state) {
  const int size = 16 * (2 + players);
  for (int row = 0; row < rows; ++row, logits += ld, state += size) {
    if (first) {
      for (int i = 0; i < 16; ++i) state[i] = -1e30f;
      for (int i = 16; i < size; ++i) state[i] = 0.0f;
    }
    for (int i = 0; i < 16; i += kWidth) {
      const V before = load(state + i);
      V most = before;
      for (int c = i; c < columns; c += 16) most = larger(most, load(logits + c));
      const V shrink = exponential(before - most);
      store(state + i, most);
      V sum = load(state + 16 + i) * shrink;
      for (int p = 0; p < players; ++p) {
        float* at = state + 16 * (2 + p) + i;
        store(at, load(at) * shrink);
      }
      for (int c = i; c < columns; c += 16) {
        const V e = exponential(load(logits + c) - most);
        sum += e;
        for (int p = 0; p < players; ++p) {
          float* at = state + 16 * (2 + p) + i;
          store(at, fma(e, load(values + p * stride + c), load(at)));
        }
      }
      store(state + 16 + i, sum);
    }
  }
}

void expect_end(const float* state, int rows, int players, float* out) {
  for (int row = 0; row < rows; ++row, state += 16 * (2 + players), out += players) {
    V most = set1(-1e30f);
    for (int i = 0; i < 16; i += kWidth) most = larger(most, load(state + i));
    most = set1(max_lanes(most));
    V sum{};
    float shrink[16];
    for (int i = 0; i < 16; i += kWidth) {
      store(shrink + i, exponential(load(state + i) - most));
      sum = fma(load(shrink + i), load(state + 16 + i), sum);
    }
    const float total = sum_lanes(sum);
    for (int p = 0; p < players; ++p) {
      V mean{};
      for (int i = 0; i < 16; i += kWidth) mean = fma(load(shrink + i), load(state + 16 * (2 + p) + i), mean);
      out[p] = sum_lanes(mean) / total;
    }
  }
}

template <Storage S>
constexpr Kernels table() {
  return {
      S,
      kPanel,
      {gemm<S, Epilogue::kStore>, gemm<S, Epilogue::kAdd>, gemm<S, Epilogue::kGeluTanh>, gemm<S, Epilogue::kGeluErf>},
      layer_norm<S>,
      split<S>,
      attention<S>,
      softmax,
      add_rows,
      expect,
      expect_end};
}
