#include "src/analysis/step_modules.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

TEST(StepModules, PeopleSeeClassesAndMachinesEveryModule) {
  // One step: two Linear of 30 and 40 ns, and 5 ns outside of modules.
  tests::TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Annotation(main, "step[DECODE bs=4]", 0, 100);
  for (int64_t i = 0; i < 2; ++i) {
    build.Scope(main, "Linear_" + std::to_string(i), 10 + 20 * i, 10);
    build.Call(main, "cudaLaunchKernel", 12 + 20 * i, 1 + i);
    build.Kernel("gemm", 200 + 50 * i, 30 + 10 * i, 1 + i);
  }
  build.Call(main, "cudaLaunchKernel", 90, 3);
  build.Kernel("gemm", 400, 5, 3);
  const TestRun run(std::move(build).Build());
  const RankView view(run.rank(), run.rules());
  const StepRows steps = BuildStepRows(view);
  EXPECT_EQ(StepModuleTable(view, steps.rows).n_rows, 3U);
  const table::Table classes = StepClassTable(view, steps.rows);
  ASSERT_EQ(classes.n_rows, 2U);
  EXPECT_EQ(std::get<std::string_view>(classes.Find("key")->cell(0)), "Linear");
  EXPECT_EQ(std::get<int64_t>(classes.Find("sum_ns")->cell(0)), 70);
  EXPECT_EQ(std::get<int64_t>(classes.Find("n_kernels")->cell(0)), 2);
  EXPECT_EQ(std::get<std::string_view>(classes.Find("key")->cell(1)), "[unattributed]");
}

TEST(StepModules, ClassesStandByStepAndThenByTheirSum) {
  // Each step launches kernels of 30 ns in Norm_0, and of 20 and 25 ns in two Linear: the longest
  // module is of the class with less time.
  tests::TraceBuilder build;
  const auto main = build.Thread(12, 1);
  int64_t launch = 0;
  for (const int64_t start : {0, 1000}) {
    build.Annotation(main, "step[DECODE bs=4]", start, 100);
    int64_t at = start + 10;
    for (const auto& [module, dur] :
         {std::pair("Norm_0", 30), std::pair("Linear_0", 20), std::pair("Linear_1", 25)}) {
      build.Scope(main, module, at, 10);
      build.Call(main, "cudaLaunchKernel", at + 2, ++launch);
      build.Kernel("gemm", start + 100 + 50 * launch, dur, launch);
      at += 20;
    }
  }
  const TestRun run(std::move(build).Build());
  const RankView view(run.rank(), run.rules());
  const table::Table classes = StepClassTable(view, BuildStepRows(view).rows);
  std::vector<std::string> order;
  for (size_t row = 0; row < classes.n_rows; ++row) {
    order.push_back(std::to_string(std::get<int64_t>(classes.Find("step")->cell(row))) + " " +
                    std::string(std::get<std::string_view>(classes.Find("key")->cell(row))) + " " +
                    std::to_string(std::get<int64_t>(classes.Find("sum_ns")->cell(row))));
  }
  EXPECT_EQ(order,
            (std::vector<std::string>{"0 Linear 45", "0 Norm 30", "1 Linear 45", "1 Norm 30"}));
}

}  // namespace
}  // namespace layerscope::analysis
