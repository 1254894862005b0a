#include "src/attribution/lost_tables.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/support/trace_builder.h"

namespace layerscope::attribution {
namespace {

using tests::TraceBuilder;
using trace::ActivityKind;

TraceBuilder Database() {
  TraceBuilder build;
  build.Nsys();
  return build;
}

/// The codes of what is lost.
std::string Lost(const TraceBuilder& build) {
  std::string codes;
  for (const table::HealthEntry& entry : LostTableWarnings(FindLostTables(build.trace()))) {
    EXPECT_EQ(entry.severity, table::Severity::kDataLoss);
    codes += entry.code + " " + std::to_string(entry.count) + ";";
  }
  return codes;
}

TEST(LostTables, LaunchesWithoutAnyKernelMissTheirTable) {
  TraceBuilder build = Database();
  const trace::ThreadId thread = build.Thread(1, 1);
  build.Call(thread, "cudaLaunchKernel_v7000", 10, 1);
  build.Call(thread, "cuLaunchKernelEx", 20, 2);
  build.Call(thread, "cudaGraphLaunch_v10000", 30, 3);
  build.Call(thread, "cudaMemcpyAsync_v3020", 40, 4);
  build.Activity(ActivityKind::kMemcpy, "Memcpy HtoD", 50, 5, 4);
  EXPECT_EQ(Lost(build), "lost_kernels 3;");
  build.Kernel("gemm", 60, 5, 1);
  EXPECT_EQ(Lost(build), "") << "one kernel of many is another fault";
}

TEST(LostTables, WhatAGraphRecordedOrRanAsAWholeHasNoKernels) {
  TraceBuilder build = Database();
  const trace::ThreadId thread = build.Thread(1, 1);
  build.Call(thread, "cudaStreamBeginCapture_v10000", 10, 1);
  build.Call(thread, "cudaLaunchKernel_v7000", 20, 2);
  build.Call(thread, "cudaStreamEndCapture_v10000", 30, 3);
  build.Call(thread, "cudaGraphLaunch_v10000", 40, 4);
  build.Activity(ActivityKind::kGraph, "graph", 50, 5, 4);
  EXPECT_EQ(Lost(build), "");
}

TEST(LostTables, ActivitiesThatNameACallMissTheTableOfCalls) {
  TraceBuilder build = Database();
  build.Kernel("gemm", 10, 5, 1);
  build.Kernel("gemm", 20, 5, 2);
  build.Kernel("of no call", 30, 5, trace::kNoCorrelation);
  EXPECT_EQ(Lost(build), "lost_calls 2;");
  build.Call(build.Thread(1, 1), "cudaStreamSynchronize_v3020", 5, 9);
  EXPECT_EQ(Lost(build), "") << "the recording began behind the launches";
}

TEST(LostTables, CallsWithoutNamesMissTheTableOfNames) {
  TraceBuilder build = Database();
  build.Kernel("[unknown]", 10, 5, 1);
  build.Call(build.Thread(1, 1), "[unknown]", 5, 1);
  build.Call(build.Thread(1, 1), "[unknown]", 6, 2);
  EXPECT_EQ(Lost(build), "lost_names 2;");
  build.Call(build.Thread(1, 1), "cudaLaunchKernel_v7000", 7, 3);
  EXPECT_EQ(Lost(build), "");
}

TEST(LostTables, ATraceOfOneListHasNoTables) {
  TraceBuilder build;
  build.Call(build.Thread(1, 1), "cudaLaunchKernel", 10, 1);
  EXPECT_EQ(Lost(build), "");
}

}  // namespace
}  // namespace layerscope::attribution
