// How long the text of one time takes; a trace holds two of them an event.

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "src/ingest/kineto/decimal_time.h"

namespace layerscope::bench {
namespace {

struct Sample {
  std::string_view text;
  int64_t ns;
};

// Worked out by hand.
constexpr std::array<Sample, 4> kSamples = {{{"4909914216204.635", 4909914216204635},
                                             {"2.080", 2080},
                                             {"1365627862757.06", 1365627862757060},
                                             {"17", 17000}}};

void ParseTimes(benchmark::State& state) {
  using ingest::kineto::ParseMicroseconds;
  for (const Sample& sample : kSamples) {
    if (ParseMicroseconds(sample.text).ns != sample.ns) {
      state.SkipWithError("wrong time");
      return;
    }
  }
  for (auto _ : state) {
    for (const Sample& sample : kSamples)
      benchmark::DoNotOptimize(ParseMicroseconds(sample.text).ns);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kSamples.size()));
}
BENCHMARK(ParseTimes);

}  // namespace
}  // namespace layerscope::bench
