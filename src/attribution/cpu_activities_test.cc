#include "src/attribution/cpu_activities.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/trace_builder.h"

namespace layerscope::attribution {
namespace {

using tests::TraceBuilder;

/// Op, start, length.
using Rows = std::vector<std::tuple<std::string, int64_t, int64_t>>;

Rows RowsOf(const trace::Trace& trace) {
  const CpuActivities cpu = BuildCpuActivities(trace);
  Rows rows;
  for (size_t i = 0; i < cpu.rows.size(); ++i) {
    EXPECT_EQ(cpu.rows.kind[i], trace::ActivityKind::kCpu);
    EXPECT_EQ(cpu.rows.name[i], trace.ops.name[cpu.op[i].index()]);
    rows.emplace_back(trace.strings[cpu.rows.name[i]], cpu.rows.start_ns[i], cpu.rows.dur_ns[i]);
  }
  return rows;
}

TEST(CpuActivities, AnOpsRowsAreItsSelfTime) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Op(main, "linear", 0, 100);
  build.Op(main, "addmm", 20, 30);
  EXPECT_EQ(RowsOf(build.trace()),
            (Rows{{"linear", 0, 20}, {"addmm", 20, 30}, {"linear", 50, 50}}));
}

TEST(CpuActivities, AnOpWithoutTimeOfItsOwnHasOneRowOfZero) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Op(main, "outer", 0, 10);
  build.Op(main, "inner", 0, 10);
  build.Op(main, "instant", 5, 0);
  build.Op(main, "negative", 6, -1);
  EXPECT_EQ(RowsOf(build.trace()),
            (Rows{{"outer", 0, 0}, {"inner", 0, 10}, {"instant", 5, 0}, {"negative", 6, 0}}));
}

TEST(CpuActivities, ScopesCutWhereTheyOpenAndClose) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Op(main, "op", 0, 100);
  build.Scope(main, "A_0", 10, 30);
  build.Scope(main, "B_0", 40, 60);
  build.Scope(main, "Instant_0", 70, 0);
  build.Scope(build.Thread(1, 2), "C_0", 50, 5);  // another thread's scope cuts nothing here
  EXPECT_EQ(RowsOf(build.trace()), (Rows{{"op", 0, 10}, {"op", 10, 30}, {"op", 40, 60}}));
}

TEST(CpuActivities, CrossingOpsCoverTheirUnionOnce) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Op(main, "a", 0, 10);
  build.Op(main, "b", 5, 15);
  EXPECT_EQ(RowsOf(build.trace()), (Rows{{"a", 0, 5}, {"b", 5, 15}}));
}

TEST(CpuActivities, ThreadsAddUpInOrderOfTime) {
  TraceBuilder build;
  build.Op(build.Thread(1, 1), "late", 5, 10);
  build.Op(build.Thread(1, 2), "early", 0, 10);
  EXPECT_EQ(RowsOf(build.trace()), (Rows{{"early", 0, 10}, {"late", 5, 10}}));
}

}  // namespace
}  // namespace layerscope::attribution
