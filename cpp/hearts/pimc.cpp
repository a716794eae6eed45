#include "hearts/pimc.inl"

#include <memory>

namespace trickformer::hearts {

// Natural logarithms of 0 (taken as 0), 1, 2, ..., by ln n = ln (n - 1) + 2 artanh(1 / (2 n - 1)): a math
// library's own differ in the last bit from machine to machine, and could tip a search.
static void fill_logs(double* logs, int n) {
  logs[0] = logs[1] = 0;
  for (int i = 2; i < n; ++i) {
    const double x = 1.0 / (2.0 * i - 1), square = x * x;
    double power = x, sum = 0;
    for (int k = 1; k < 40; k += 2, power *= square) sum += power / k;
    logs[i] = logs[i - 1] + 2 * sum;
  }
}

PimcResult pimc(const Deals& deals, const PimcOptions& options, std::uint64_t seed) {
  const std::unique_ptr<double[]> logs(new double[std::size_t(options.runs) + 2]);
  const std::unique_ptr<UctNode[]> nodes(new UctNode[options.uct ? 1 + std::size_t(options.runs) * kHand : 1]);
  fill_logs(logs.get(), options.runs + 2);
  PimcResult result;
#if defined(__x86_64__)
  static const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  if (v3) {
    detail::pimc_v3(deals, options, seed, nodes.get(), logs.get(), result);
    return result;
  }
#endif
  pimc_here(deals, options, seed, nodes.get(), logs.get(), result);
  return result;
}

}  // namespace trickformer::hearts
