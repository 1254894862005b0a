#include "src/analysis/overhead_medians.h"

#include <gtest/gtest.h>

#include "src/analysis/overhead_table.h"

namespace layerscope::analysis {
namespace {

/// A step whose marker says no phase: 4 kernels, launched by a graph or one by one.
OverheadRow Row(bool is_graph, int64_t compute_ns) {
  OverheadRow row;
  row.requests = 4;
  row.n_kernels = 4;
  row.n_graph_kernels = is_graph ? 4 : 0;
  row.lines[OverheadLine::kCompute] = compute_ns;
  row.wall_ns = compute_ns;
  return row;
}

TEST(OverheadMedians, AnEagerStepIsNotLikeOneThatReplaysAGraph) {
  const OverheadSummary summary =
      SummariseOverhead({Row(false, 900), Row(true, 50), Row(true, 60), Row(true, 70)});
  ASSERT_EQ(summary.medians.size(), 2U);
  EXPECT_EQ(summary.medians[0].launch_mode, LaunchMode::kEager);
  EXPECT_EQ(summary.medians[1].wall_ns, 60);
  ASSERT_EQ(summary.worst.size(), 1U) << "the eager step is over no median of its like";
  EXPECT_EQ(summary.worst[0].over_ns, 10);
  EXPECT_EQ(GroupTable(summary.medians[1], summary).title,
            "steps, 4 requests, graph: 3 steps, median wall 60 ns");
}

}  // namespace
}  // namespace layerscope::analysis
