#include "src/attribution/plain_ranges.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "src/attribution/attribution.h"

#include "tests/support/trace_builder.h"

namespace layerscope::attribution {
namespace {

TEST(PlainRanges, StandForModulesWhereNothingNamesOne) {
  tests::TraceBuilder build;
  build.Nsys();
  build.GpuProcess(1);
  const auto main = build.Thread(1, 1);
  build.PlainRange(main, "bench_step::3::bs::8::past::64", 0, 900);
  build.PlainRange(main, "capture_8_FULL", 0, 10);
  build.PlainRange(main, "layer_3", 100, 200);
  build.PlainRange(main, "mlp", 150, 100);
  build.PlainRange(main, "", 160, 50);
  build.Annotation(main, "ncclAllReduce", 170, 10);
  build.Call(main, "cudaLaunchKernel_v7000", 180, 1);
  build.Kernel("k", 500, 10, 1);
  trace::Trace trace = std::move(build).Build();
  const Attribution out = Attribute(trace, kernel_names::RuleSet());
  EXPECT_EQ(trace.scopes.size(), 2U);
  EXPECT_EQ(trace.annotations.size(), 4U);
  ASSERT_EQ(out.steps.size(), 1U);
  const ModuleId module = out.module[0];
  EXPECT_EQ(out.modules.Path(module, trace), "layer_3.mlp");
  const ModuleId layer = out.modules.modules[module.index()].parent;
  EXPECT_EQ(out.modules.ClassOf(layer, trace), "layer");
  EXPECT_EQ(out.steps[0].fields.past, 64);
}

TEST(PlainRanges, WordsJoinedByDotsArePaths) {
  tests::TraceBuilder build;
  build.Nsys();
  const auto main = build.Thread(1, 1);
  build.PlainRange(main, "model", 0, 900);
  build.PlainRange(main, "model.layers.3", 100, 200);
  build.PlainRange(main, "norm 1.5", 150, 10);
  for (const char* name : {"a..b", ".a", "a.", "a.b-c"}) build.PlainRange(main, name, 160, 10);
  trace::Trace trace = std::move(build).Build();
  const Attribution out = Attribute(trace, kernel_names::RuleSet());
  EXPECT_EQ(trace.scopes.is_path, (std::vector<uint8_t>{0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(out.modules.Path(out.modules.module_of_scope[1], trace), "model.layers.3");
  EXPECT_EQ(out.modules.Path(out.modules.module_of_scope[2], trace), "model.layers.3.norm 1.5");
}

TEST(PlainRanges, StayAnnotationsBesideNamedModules) {
  tests::TraceBuilder build;
  build.Nsys();
  const auto main = build.Thread(1, 1);
  build.PathScope(main, "model", 0, 900);
  build.PlainRange(main, "layer_3", 100, 200);
  trace::Trace trace = std::move(build).Build();
  TakePlainRanges(trace);
  EXPECT_EQ(trace.scopes.size(), 1U);
  EXPECT_EQ(trace.annotations.size(), 1U);
}

}  // namespace
}  // namespace layerscope::attribution
