#include "src/document/requests/tree.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "src/attribution/attribution.h"

#include "tests/support/trace_builder.h"

namespace layerscope::document {
namespace {

/// A request whose model calls its parts one after the other; each call launches one kernel of 5
/// ns, and one more kernel of 3 ns is launched outside of the model.
struct TestRequest {
  explicit TestRequest(const std::vector<std::string>& parts)
      : rules(*kernel_names::RuleSet::Build(
            {{.category = "gemm", .group = "GEMM", .patterns = {"gemm"}}})) {
    tests::TraceBuilder builder;
    const trace::ThreadId thread = builder.Thread(1, 1);
    builder.Scope(thread, "Model_0", 0, 1000);
    int64_t at_ns = 10;
    int64_t correlation = 1;
    for (const std::string& part : parts) {
      builder.Scope(thread, part, at_ns, 10);
      builder.Call(thread, "cudaLaunchKernel", at_ns + 1, correlation);
      builder.Kernel("gemm", at_ns + 5, 5, correlation++);
      at_ns += 20;
    }
    builder.Call(thread, "cudaLaunchKernel", 2000, correlation);
    builder.Kernel("gemm", 2010, 3, correlation);
    trace = std::move(builder).Build();
    attribution = attribution::Attribute(trace, rules);
    input.trace = &trace;
    input.attribution = &attribution;
  }
  TestRequest(const TestRequest&) = delete;
  TestRequest& operator=(const TestRequest&) = delete;

  kernel_names::RuleSet rules;
  trace::Trace trace;
  attribution::Attribution attribution;
  analysis::RankInput input;
};

AlignedTree Align(const std::vector<std::vector<std::string>>& requests) {
  std::vector<std::unique_ptr<TestRequest>> made;
  std::vector<analysis::RankView> views;
  for (const std::vector<std::string>& parts : requests) {
    made.push_back(std::make_unique<TestRequest>(parts));
    views.emplace_back(made.back()->input, made.back()->rules);
  }
  return AlignModules(views);
}

std::vector<std::string> PathsOf(const AlignedTree& tree) {
  std::vector<std::string> paths;
  for (const AlignedModule& module : tree.modules) paths.push_back(module.path);
  return paths;
}

TEST(RequestTree, ModulesMeetByPathAndAbsentOnesHaveNoFigures) {
  const AlignedTree tree = Align({{"Vision_0", "Layer_0"}, {"Layer_0", "Layer_0"}});
  ASSERT_EQ(PathsOf(tree),
            (std::vector<std::string>{"Model_0", "Model_0.Vision_0", "Model_0.Layer_0"}));
  EXPECT_EQ(tree.modules[0].parent, AlignedModule::kNone);
  EXPECT_EQ(tree.modules[2].parent, 0U);
  EXPECT_EQ(tree.modules[0].Of(1)->gpu_ns, 10);
  EXPECT_EQ(tree.modules[0].Of(1)->gpu_self_ns, 0);
  EXPECT_EQ(tree.modules[1].Of(0)->gpu_ns, 5);
  EXPECT_EQ(tree.modules[1].Of(1), nullptr);
  EXPECT_EQ(tree.modules[2].Of(0)->calls, 1);
  EXPECT_EQ(tree.modules[2].Of(1)->calls, 2);
  EXPECT_EQ(tree.modules[2].Of(1)->cpu_ns, 20);
  EXPECT_EQ(tree.unattributed[0].gpu_ns, 3);
  EXPECT_EQ(tree.modules_of, (std::vector<int64_t>{3, 2}));
}

TEST(RequestTree, NewSiblingsStandBehindTheirPredecessor) {
  const AlignedTree tree = Align({{"A_0", "D_0"}, {"A_0", "B_0", "C_0", "D_0"}, {"Z_0", "A_0"}});
  EXPECT_EQ(PathsOf(tree), (std::vector<std::string>{"Model_0", "Model_0.Z_0", "Model_0.A_0",
                                                     "Model_0.B_0", "Model_0.C_0", "Model_0.D_0"}));
}

}  // namespace
}  // namespace layerscope::document
