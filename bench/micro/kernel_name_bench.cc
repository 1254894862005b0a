// How long a kernel's short name takes; a trace holds some dozens to thousands of distinct names.

#include <benchmark/benchmark.h>

#include <string_view>

#include "src/kernel_names/kernel_name.h"
#include "src/kernel_names/short_name.h"

#include "bench/gen/kernel_names.h"

namespace layerscope::bench {
namespace {

void ShortName(benchmark::State& state, std::string_view name, std::string_view part) {
  if (kernel_names::ShortName(name).find(part) == std::string_view::npos) {
    state.SkipWithError("wrong short name");
    return;
  }
  for (auto _ : state) benchmark::DoNotOptimize(kernel_names::ShortName(name));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(name.size()));
}
BENCHMARK_CAPTURE(ShortName, templates, gen::kArgMax, "ArgMaxOps");
BENCHMARK_CAPTURE(ShortName, mangled, gen::kMangledSilu, "act_and_mul_kernel");
BENCHMARK_CAPTURE(ShortName, plain, "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT", "nvjet_tst");

}  // namespace
}  // namespace layerscope::bench
