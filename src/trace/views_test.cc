#include "src/trace/views.h"

#include <gtest/gtest.h>

#include <string_view>
#include <variant>

#include "tests/support/trace_builder.h"

namespace layerscope::trace {
namespace {

using table::Cell;
using table::Null;

Cell At(const table::Table& view, std::string_view column, size_t row) {
  const table::Column* const found = view.Find(column);
  EXPECT_NE(found, nullptr) << column;
  return found == nullptr ? Cell(Null()) : found->cell(row);
}

TEST(Views, ShowRowsAsTheFileWroteThem) {
  tests::TraceBuilder build;
  const ThreadId thread = build.Thread("[TP-0] 12", 34);
  build.Kernel("gemm", 100, 20, 5, 77);
  build.Kernel("lost", 200, 20, kNoCorrelation);
  build.Call(thread, "cudaLaunchKernel", 90, 5);
  const table::Table activities = ActivitiesView(build.trace());
  EXPECT_EQ(activities.n_rows, 2U);
  EXPECT_EQ(At(activities, "name", 0), Cell(std::string_view("gemm")));
  EXPECT_EQ(At(activities, "kind", 0), Cell(std::string_view("kernel")));
  EXPECT_EQ(At(activities, "start_ns", 0), Cell(int64_t{100}));
  EXPECT_EQ(At(activities, "dur_ns", 1), Cell(int64_t{20}));
  EXPECT_EQ(At(activities, "pid", 0), Cell(int64_t{0}));
  EXPECT_EQ(At(activities, "device", 0), Cell(int64_t{0}));
  EXPECT_EQ(At(activities, "stream", 0), Cell(int64_t{7}));
  EXPECT_EQ(At(activities, "external_id", 0), Cell(int64_t{77}));
  const table::Table launches = LaunchesView(build.trace());
  EXPECT_EQ(At(launches, "pid", 0), Cell(std::string_view("[TP-0] 12")));
  EXPECT_EQ(At(launches, "tid", 0), Cell(int64_t{34}));
  EXPECT_EQ(At(launches, "correlation", 0), Cell(int64_t{5}));
}

TEST(Views, ShowTheKernelThatALaunchNames) {
  tests::TraceBuilder build;
  const ThreadId thread = build.Thread(1, 1);
  build.Call(thread, "hipStreamBeginCapture", 10, 1);
  build.LaunchOf(thread, "hipLaunchKernel", "rms_norm", 20, 2);
  build.Call(thread, "hipStreamEndCapture", 30, 3);
  const table::Table launches = LaunchesView(build.trace());
  EXPECT_EQ(At(launches, "kernel", 0), Cell(Null()));
  EXPECT_EQ(At(launches, "kernel", 1), Cell(std::string_view("rms_norm")));
  EXPECT_EQ(At(launches, "kernel", 2), Cell(Null()));
}

TEST(Views, WhatIsAbsentIsNull) {
  tests::TraceBuilder build;
  build.Kernel("lost", 200, 20, kNoCorrelation);
  build.Op(build.Thread(1, 1), "aten::mm", 0, 1);
  const table::Table activities = ActivitiesView(build.trace());
  EXPECT_EQ(At(activities, "correlation", 0), Cell(Null()));
  EXPECT_EQ(At(activities, "external_id", 0), Cell(Null()));
  EXPECT_EQ(At(activities, "grid", 0), Cell(Null()));
  EXPECT_EQ(At(OpsView(build.trace()), "input_dims", 0), Cell(Null()));
}

TEST(Views, ShowArgumentsOfOps) {
  tests::TraceBuilder build;
  build.Op(build.Thread(1, 1), "aten::mm", 0, 1);
  Trace trace = std::move(build).Build();
  trace.args.push_back({});
  trace.args[0].input_dims = trace.strings.Intern("[[2,8],[8]]");
  trace.ops.args[0] = ArgsId(0);
  EXPECT_EQ(At(OpsView(trace), "input_dims", 0), Cell(std::string_view("[[2,8],[8]]")));
}

TEST(Views, CoverScopesAndAnnotations) {
  tests::TraceBuilder build;
  const ThreadId thread = build.Thread(1, 1);
  build.Scope(thread, "Linear_0", 5, 6);
  build.Annotation(thread, "ProfilerStep#1", 0, 10);
  build.GpuAnnotation("ProfilerStep#1", 20, 10);
  EXPECT_EQ(At(ScopesView(build.trace()), "name", 0), Cell(std::string_view("Linear_0")));
  EXPECT_EQ(AnnotationsView(build.trace()).n_rows, 2U);
  EXPECT_EQ(At(AnnotationsView(build.trace()), "is_gpu", 1), Cell(true));
}

}  // namespace
}  // namespace layerscope::trace
