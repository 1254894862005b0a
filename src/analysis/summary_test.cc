#include "src/analysis/summary.h"

#include <gtest/gtest.h>

#include "src/analysis/summary_advice.h"
#include "src/analysis/summary_commands.h"
#include "src/analysis/summary_facts.h"
#include "src/analysis/summary_tree.h"

#include "tests/support/test_run.h"
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
  EXPECT_EQ(facts.idle->idle_ns, 70);
  EXPECT_EQ(facts.idle->in_steps_ns, 0);  // the step ends before the first kernel starts
  const std::vector<Suspicion> found = FindSuspicions(RankView(run.rank(), run.rules()), facts);
  EXPECT_EQ(
      found.front().message,
      "70 ns (70.0 % of the span), 0 ns inside step annotations: host- or launch-bound (0 calls in "
      "2 gaps)");
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
      SuggestCommands(view, CollectSummary({ranks, &run.rules()}, view), {}, {renamed.path});
  ASSERT_FALSE(next.empty());
  // No op ran it, so there is nothing to group by.
  EXPECT_EQ(next.front().command, R"(layerscope kernels 'my trace'\''s.json')");
}

TEST(Summary, CommandsKeepTheSelectionAndTheInputs) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Annotation(main, "step[DECODE bs=4]", 0, 100);
  build.Call(main, "cudaLaunchKernel", 10, 1);
  build.Kernel("gemm", 20, 5, 1);
  const TestRun run(std::move(build).Build());
  const RankView view(run.rank(), run.rules());
  Selection selection;
  selection.phase = "decode";
  selection.from_ns = 5;
  const std::vector<NextCommand> next =
      SuggestCommands(view, CollectSummary(run.input(), view, selection), selection, {"a", "b c"});
  ASSERT_FALSE(next.empty());
  EXPECT_EQ(next.front().command, "layerscope steps a 'b c' --phase decode --from 5ns");
  EXPECT_EQ(next.front().why, "step by step");
}

TEST(Summary, NumberedLayersAreSuggestedLayerByLayer) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Scope(main, "Net_0", 0, 100);
  for (int64_t i = 0; i < 2; ++i) {
    build.Scope(main, "Layer_" + std::to_string(i), 10 + 40 * i, 30);
    build.Scope(main, "Linear_" + std::to_string(i), 15 + 40 * i, 20);
    build.Call(main, "cudaLaunchKernel", 20 + 40 * i, 1 + i);
    build.Kernel("gemm", 200 + 40 * i, 30, 1 + i);
  }
  const TestRun run(std::move(build).Build());
  const RankView view(run.rank(), run.rules());
  const SummaryFacts facts = CollectSummary(run.input(), view);
  EXPECT_EQ(facts.layer_prefix, "Layer_");
  const std::vector<NextCommand> next = SuggestCommands(view, facts, {}, {"f"});
  ASSERT_EQ(next.size(), 3U);
  EXPECT_EQ(next[1].command, R"(layerscope modules f --no-collapse --match 'Layer_\d+$')");
}

/// Two layers with a child each, by path, in the process `pid`, on device 0.
void AddPathLayers(int64_t pid, TraceBuilder& build) {
  const auto main = build.Thread(pid, 1);
  build.GpuProcess(pid);
  build.PathScope(main, "model", 0, 100);
  for (int64_t i = 0; i < 2; ++i) {
    const std::string path = "model.layers." + std::to_string(i);
    build.PathScope(main, path, 10 + 40 * i, 30);
    build.PathScope(main, path + ".mlp", 15 + 40 * i, 20);
    build.Call(main, "cudaLaunchKernel", 20 + 40 * i, 1 + i);
    build.Kernel("gemm", 200 + 40 * i, 30, 1 + i);
  }
}

TEST(Summary, TheCommandForLayersIsWrittenAsThePathsAre) {
  TraceBuilder build;
  build.Nsys();
  AddPathLayers(12, build);
  const TestRun run(std::move(build).Build());
  const RankView view(run.rank(), run.rules());
  const SummaryFacts facts = CollectSummary(run.input(), view);
  EXPECT_EQ(facts.layer_prefix, "layers.");
  const std::vector<NextCommand> next = SuggestCommands(view, facts, {}, {"f"});
  ASSERT_EQ(next.size(), 3U);
  EXPECT_EQ(next[1].command, R"(layerscope modules f --no-collapse --match 'layers\.\d+$')");
}

TEST(Summary, OneDeviceOfTwoProcessesIsSaid) {
  TraceBuilder build;
  build.Nsys();
  for (const int64_t pid : {12, 13}) AddPathLayers(pid, build);
  const TestRun run(std::move(build).Build());
  EXPECT_EQ(Codes(run), (std::vector<std::string>{"shared_device", "overlap"}));
}

TEST(Summary, LayersOfSeveralRanksAreSoughtInOne) {
  TraceBuilder build;
  build.Nsys();
  for (const int64_t pid : {12, 13}) {
    build.GpuStream(pid, 7);
    AddPathLayers(pid, build);
  }
  const TestRun run(std::move(build).Build());
  RankInput rank = run.rank();
  rank.no_layers = base::Error{base::ErrorCode::kFailed, "kernels of 2 processes are mixed", {}};
  const RankView view(rank, run.rules());
  const SummaryFacts facts = CollectSummary(run.input(), view);
  EXPECT_EQ(SuggestCommands(view, facts, {}, {"f"}).front().command,
            "layerscope layers f --rank 0");
  const std::vector<Suspicion> found = FindSuspicions(view, facts);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message, "kernels of 2 processes are mixed");
}

TEST(Summary, BusyIsOfTheStepWithTheMedianWall) {
  // Walls 100, 200 and 400; the one of 200 is busy for 150. Another stream fills 20 of its idle 70.
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  const auto step = [&](int64_t start_ns, int64_t wall_ns, int64_t first, int64_t correlation) {
    build.Annotation(main, "step[DECODE bs=4]", start_ns, 50);
    build.Call(main, "cudaLaunchKernel", start_ns + 1, correlation);
    build.Call(main, "cudaLaunchKernel", start_ns + 2, correlation + 1);
    build.Kernel("gemm", start_ns + 10, first, correlation);
    build.Kernel("gemm", start_ns + wall_ns, 10, correlation + 1);
  };
  step(0, 100, 10, 1);
  step(1000, 200, 120, 3);
  step(2000, 400, 10, 5);
  build.Kernel("foreign", 1150, 20, 7);
  const TestRun run(std::move(build).Build());
  const SummaryFacts facts = FactsOf(run);
  ASSERT_EQ(facts.phases.size(), 1U);
  EXPECT_EQ(facts.phases[0].median_wall_ns, 200);
  EXPECT_EQ(facts.phases[0].median_busy_ppm, 750'000);
  EXPECT_EQ(facts.phases[0].walls_ns, (std::vector<int64_t>{100, 200, 400}));
}

TEST(Summary, APartOfTheWorkHasNoIdleAndNoTimePerToken) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Annotation(main, "step[DECODE bs=4]", 0, 50);
  build.Call(main, "cudaLaunchKernel", 1, 1);
  build.Kernel("gemm", 10, 10, 1);
  build.Kernel("gemm", 90, 10, 2);
  const TestRun run(std::move(build).Build());
  Selection selection;
  selection.from_ns = 5;
  const SummaryFacts facts =
      CollectSummary(run.input(), RankView(run.rank(), run.rules()), selection);
  EXPECT_FALSE(facts.idle);
  EXPECT_FALSE(facts.phases[0].median_busy_ppm);
  EXPECT_FALSE(facts.phases[0].median_ns_per_token);
}

TEST(Summary, ACutFileLeadsThePage) {
  TraceBuilder build;
  build.Op(build.Thread(1, 1), "aten::mm", 0, 5);
  trace::Trace trace = std::move(build).Build();
  trace.ledger.Add(trace::LedgerCode::truncated);
  const TestRun run(std::move(trace));
  const RankView view(run.rank(), run.rules());
  const std::vector<Suspicion> found = FindSuspicions(view, FactsOf(run));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().title, "file is cut");
  EXPECT_NE(found.front().message.find("CPU-only"), std::string::npos);
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
