#include "mines/search.inl"

#include <optional>

namespace trickformer::mines {

namespace {

#if defined(__x86_64__)
bool has_v3() {
  static const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  return v3;
}
#endif

std::optional<Counter> counter(const Board& board, const Sight& sight, Method method) {
  if (method != Method::kExact) return std::nullopt;
  return Counter(board, sight);
}

}  // namespace

SearchResult search(const Board& board, const Sight& sight, const SearchOptions& options, std::uint64_t seed) {
  const auto exact = counter(board, sight, options.method);
#if defined(__x86_64__)
  if (has_v3()) return detail::search_v3(board, sight, options, exact ? &*exact : nullptr, seed);
#endif
  return search_here(board, sight, options, exact ? &*exact : nullptr, seed);
}

void sample(const Board& board, const Sight& sight, Method method, Domain domain, std::uint64_t trials,
            std::uint64_t seed, std::size_t n, Cells* out) {
  const auto exact = counter(board, sight, method);
#if defined(__x86_64__)
  if (has_v3()) return detail::sample_v3(board, sight, method, domain, trials, exact ? &*exact : nullptr, seed, n, out);
#endif
  sample_here(board, sight, method, domain, trials, exact ? &*exact : nullptr, seed, n, out);
}

}  // namespace trickformer::mines
