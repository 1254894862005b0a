#include "src/analysis/summary.h"

#include <gtest/gtest.h>

#include "src/analysis/summary_advice.h"
#include "src/analysis/summary_facts.h"
#include "src/analysis/summary_tree.h"
#include "src/analysis/test_run.h"

#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using tests::TraceBuilder;

SummaryFacts FactsOf(const TestRun& run) {
  return CollectSummary(run.input(), RankView(run.rank(), run.rules()));
}

std::vector<std::string> Codes(const TestRun& run) {
  std::vector<std::string> codes;
  for (const Suspicion& found : FindSuspicions(RankView(run.rank(), run.rules()), FactsOf(run))) {
    codes.push_back(found.code);
  }
  return codes;
}

TEST(Summary, SglangIsKnownByItsOwnAnnotationInsideVllmsForm) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Annotation(
      main, "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32sqsq32sqsk32)", 0, 100);
  build.Annotation(main, "step[DECODE bs=32]", 10, 80);
  const TestRun run(std::move(build).Build());
  EXPECT_EQ(FactsOf(run).engine.value, "sglang");
}

TEST(Summary, EngineComesFromOpsOrClassesWhereNothingElseSays) {
  TraceBuilder vllm;
  vllm.Op(vllm.Thread(1, 1), "vllm::unified_attention", 0, 5);
  const TestRun by_op(std::move(vllm).Build());
  EXPECT_EQ(FactsOf(by_op).engine.value, "vllm");

  TraceBuilder hf;
  const auto main = hf.Thread(1, 1);
  hf.Op(main, "aten::mm", 2, 1);
  hf.Scope(main, "Qwen3ForCausalLM_0", 0, 9);
  hf.Scope(main, "Linear_0", 1, 3);
  const TestRun by_class(std::move(hf).Build());
  EXPECT_EQ(FactsOf(by_class).engine.value, "transformers");
  EXPECT_EQ(FactsOf(by_class).model.value, "Qwen3ForCausalLM");

  TraceBuilder none;
  none.Kernel("gemm", 0, 5, 1);
  EXPECT_EQ(FactsOf(TestRun(std::move(none).Build())).engine.value, "");
}

TEST(Summary, ARootWithLittleTimeIsNotTheModel) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Call(main, "cudaGraphLaunch", 1, 1);
  build.Scope(main, "Sampler_0", 10, 9);
  build.Call(main, "cudaLaunchKernel", 11, 2);
  build.Kernel("gemm", 50, 90, 1);
  build.Kernel("sample", 150, 10, 2);
  const TestRun run(std::move(build).Build());
  EXPECT_EQ(FactsOf(run).model.value, "");
  EXPECT_EQ(Codes(run).front(), "graph_replay");
}

TEST(Summary, IdleSaysHowMuchOfItLiesInsideSteps) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Annotation(main, "step[DECODE bs=1]", 0, 50);
  build.Call(main, "cudaLaunchKernel", 1, 1);
  build.Call(main, "cudaLaunchKernel", 2, 2);
  build.Call(main, "cudaLaunchKernel", 90, 3);
  build.Kernel("gemm", 100, 10, 1);
  build.Kernel("gemm", 115, 10, 2);
  build.Kernel("gemm", 190, 10, 3);
  const TestRun run(std::move(build).Build());
  const SummaryFacts facts = FactsOf(run);
  EXPECT_EQ(facts.gpu.busy_ns, 30);
  EXPECT_EQ(facts.gpu.span_ns, 100);
  EXPECT_EQ(facts.idle_in_steps_ns, 5);
  const std::vector<Suspicion> found = FindSuspicions(RankView(run.rank(), run.rules()), facts);
  EXPECT_EQ(found.front().message,
            "70 ns (70.0 % of the span), 5 ns inside steps: the recording has pauses");
}

TEST(Summary, CommandsQuoteThePath) {
  TraceBuilder build;
  build.Kernel("gemm", 0, 5, 1);
  const TestRun run(std::move(build).Build());
  RankInput renamed = run.rank();
  renamed.path = "my trace's.json";
  const std::vector<RankInput> ranks = {renamed};
  const RankView view(ranks[0], run.rules());
  const std::vector<NextCommand> next =
      SuggestCommands(view, CollectSummary({ranks, &run.rules()}, view));
  ASSERT_FALSE(next.empty());
  EXPECT_EQ(next.front().command, R"(layerscope kernels 'my trace'\''s.json' --by op-dims)");
}

ModuleNode Node(int64_t parent, int64_t incl_ns) {
  ModuleNode node;
  node.parent = parent;
  node.gpu_incl_ns = incl_ns;
  return node;
}

TEST(ChooseTopModules, OpensTheRowsWithTheMostTimeThatFit) {
  // 0 {1 {2, 3}, 4 {5, 6}}
  const std::vector<ModuleNode> tree = {Node(-1, 1000), Node(0, 300), Node(1, 200), Node(1, 100),
                                        Node(0, 700),   Node(4, 690), Node(4, 5)};
  const std::vector<ModuleNode> rows = ChooseTopModules(tree, 1000, 4);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1].gpu_incl_ns, 300);
  EXPECT_EQ(rows[2].gpu_incl_ns, 700);
  EXPECT_EQ(rows[3].gpu_incl_ns, 690);  // its sibling is under a hundredth
  EXPECT_EQ(rows[3].parent, 2);
}

}  // namespace
}  // namespace layerscope::analysis
