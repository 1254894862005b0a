#include "src/analysis/compiled_regions.h"

#include <gtest/gtest.h>

#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using tests::TraceBuilder;

TEST(CompiledRegions, InnerOnesBelongToTheOutermost) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  const auto other = build.Thread(12, 2);
  build.Op(main, "Torch-Compiled Region: 0/0", 100, 50);
  build.Op(main, "Torch-Compiled Region: 1/0", 110, 10);
  build.Annotation(main, "## Call CompiledFxGraph abc ##", 125, 20);
  build.Annotation(other, "## Call CompiledFxGraph def ##", 120, 10);
  build.GpuAnnotation("## Call CompiledFxGraph abc ##", 300, 20);
  build.Op(main, "aten::mm", 200, 10);
  const trace::Trace trace = std::move(build).Build();

  const CompiledRegions regions(trace);
  ASSERT_EQ(regions.regions().size(), 2U);
  EXPECT_EQ(regions.Find(main, 100), 0U);
  EXPECT_EQ(regions.Find(main, 149), 0U);
  EXPECT_EQ(regions.Find(main, 150), CompiledRegions::kNone);
  EXPECT_EQ(regions.Find(main, 99), CompiledRegions::kNone);
  EXPECT_EQ(regions.Find(other, 125), 1U);
  EXPECT_EQ(regions.Find(trace::ThreadId(), 125), CompiledRegions::kNone);

  const CompiledRegions calls = CompiledRegions::GraphCalls(trace);
  ASSERT_EQ(calls.regions().size(), 2U);
  EXPECT_EQ(calls.Find(main, 124), CompiledRegions::kNone);
  EXPECT_EQ(calls.Find(main, 125), 0U);
}

TEST(CompiledRegions, ATraceWithoutThemHasNone) {
  TraceBuilder build;
  build.Op(build.Thread(12, 1), "aten::mm", 0, 10);
  EXPECT_TRUE(CompiledRegions(std::move(build).Build()).empty());
}

}  // namespace
}  // namespace layerscope::analysis
