#include "src/replay/node_resolver.h"

#include <gtest/gtest.h>

#include <string>

#include "src/attribution/attribution.h"
#include "src/layers/find_layers.h"
#include "src/model/model_config.h"
#include "src/model/profile.h"
#include "src/replay/resolve.h"

#include "tests/support/decoder_trace.h"
#include "tests/support/trace_builder.h"

namespace layerscope::replay {
namespace {

using attribution::Evidence;

std::string MessageOf(const attribution::Attribution& attribution, const std::string& code) {
  for (const table::HealthEntry& entry : attribution.warnings) {
    if (entry.code == code) return entry.message;
  }
  return {};
}

TEST(NodeResolver, CountsKernelsByWhatTheirNodesSay) {
  // Two launches of one graph: a kernel of `m`, one captured outside, one of an unknown node.
  tests::TraceBuilder build;
  build.Nsys();
  build.GpuProcess(1);
  const auto main = build.Thread(1, 1);
  build.PathScope(main, "m", 0, 100);
  build.NodeRow(main, 10, 1);
  build.NodeRow(main, 200, 2);
  for (int64_t i = 1; i <= 2; ++i) {
    build.Call(main, "cudaGraphLaunch_v10000", 1000 * i, i);
    for (int64_t node = 1; node <= 3; ++node) {
      build.GraphNode(build.Kernel("k" + std::to_string(node), 1000 * i + 10 * node, 5, i), node);
    }
  }
  trace::Trace trace = std::move(build).Build();
  attribution::Attribution out = attribution::Attribute(trace, kernel_names::RuleSet());
  EXPECT_TRUE(ResolveReplays(trace, out, {}).empty());
  ASSERT_EQ(out.alignments.size(), 1U);
  const attribution::GraphAlignment& graph = out.alignments.front();
  EXPECT_EQ(graph.evidence, Evidence::kGraphNode);
  EXPECT_EQ(graph.launches, 2);
  EXPECT_EQ(graph.kernels_per_launch, 3);
  EXPECT_EQ(graph.matched, 2);
  EXPECT_EQ(graph.mismatched, 4);
  EXPECT_EQ(graph.reason, "1 kernel of a launch was captured outside every module");
  EXPECT_DOUBLE_EQ(graph.confidence, 2.0 / 3.0);
  EXPECT_EQ(MessageOf(out, "graph_resolved"), "2 kernels of 1 graph were given their modules.");
}

TEST(NodeResolver, GraphsOfTheSameKernelsAreToldApartByTheirNodes) {
  // Two processes with the same node ids: graphs of nodes 1 and 2, and of 3 and 4, of the same two
  // kernels. The third launch of a process lost a kernel of its first graph.
  tests::TraceBuilder build;
  build.Nsys();
  for (int64_t pid = 1; pid <= 2; ++pid) {
    build.GpuProcess(pid);
    const auto main = build.Thread(pid, pid);
    build.PathScope(main, "m", 0, 100);
    for (int64_t node = 1; node <= 4; ++node) build.NodeRow(main, 10 * node, node);
    for (int64_t launch = 1; launch <= 3; ++launch) {
      const int64_t first = launch == 2 ? 3 : 1;
      build.Call(main, "cudaGraphLaunch_v10000", 1000 * launch, launch);
      build.GraphNode(build.Kernel("a", 1000 * launch + 10, 5, launch), first);
      if (launch == 3) continue;
      build.GraphNode(build.Kernel("b", 1000 * launch + 20, 5, launch), first + 1);
    }
  }
  trace::Trace trace = std::move(build).Build();
  attribution::Attribution out = attribution::Attribute(trace, kernel_names::RuleSet());
  ResolveReplays(trace, out, {});
  ASSERT_EQ(out.alignments.size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    const attribution::GraphAlignment& graph = out.alignments[i];
    EXPECT_EQ(trace.processes[graph.process.index()].pid.number, i < 2 ? 1 : 2);
    EXPECT_EQ(graph.launches, i % 2 == 0 ? 2 : 1);
    EXPECT_EQ(graph.matched, i % 2 == 0 ? 3 : 2);
    EXPECT_EQ(graph.kernels_per_launch, 2);
  }
  // Of one launch alone.
  const std::vector<attribution::GraphAlignment> chosen = attribution::SumLaunches(
      out.alignments, out.aligned_launches,
      [](const attribution::AlignedLaunch& launch) { return launch.call == trace::CallId(2); });
  ASSERT_EQ(chosen.size(), 1U);
  EXPECT_EQ(chosen[0].graph, 0);
  EXPECT_EQ(chosen[0].launches, 1);
  EXPECT_EQ(chosen[0].matched, 1);
}

TEST(NodeResolver, AWholeGraphIsSaidToBeOne) {
  tests::TraceBuilder build;
  build.Nsys();
  build.GpuProcess(1);
  build.Call(build.Thread(1, 1), "cudaGraphLaunch_v10000", 0, 1);
  build.Activity(trace::ActivityKind::kGraph, "[graph]", 100, 50, 1);
  trace::Trace trace = std::move(build).Build();
  attribution::Attribution out = attribution::Attribute(trace, kernel_names::RuleSet());
  ResolveReplays(trace, out, {});
  ASSERT_EQ(out.alignments.size(), 1U);
  EXPECT_EQ(out.alignments[0].evidence, Evidence::kUnresolved);
  EXPECT_EQ(out.alignments[0].kernels_per_launch, 0);
  EXPECT_NE(out.alignments[0].reason.find("--cuda-graph-trace=node"), std::string::npos);
}

TEST(NodeResolver, ATemplatePlacesWhatNodesLeaveOpenAndNothingElse) {
  // Three replays of 8 layers (68 kernels); the nodes of the second are known, those of the others
  // are not.
  layers::DecoderTrace decoder;
  decoder.build().Nsys();
  decoder.build().GpuProcess(100);
  decoder.build().PathScope(decoder.thread(), "captured", 0, 100);
  decoder.build().NodeRow(decoder.thread(), 10, 7);
  for (int i = 0; i < 3; ++i) {
    decoder.Step("step[DECODE bs=4]", [&] { decoder.Replay(layers::DecoderTrace::PassNames(8)); });
  }
  for (size_t row = 68; row < 136; ++row) decoder.build().GraphNode(trace::ActivityId(row), 7);
  trace::Trace trace = std::move(decoder.build()).Build();
  attribution::Attribution out = attribution::Attribute(trace, kernel_names::RuleSet());
  const model::ModelConfig config = *model::ParseModelConfig(
      R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4,
          "num_key_value_heads": 2, "num_hidden_layers": 8})",
      "config.json");
  layers::LayerOptions options;
  options.profile = model::ChooseProfile(nullptr).profile;
  const layers::LayerStructure structure = *layers::FindLayers(trace, out, options);
  Sources sources;
  sources.layers = &structure;
  sources.config = &config;
  ResolveReplays(trace, out, sources);
  for (size_t row = 68; row < 136; ++row) {
    EXPECT_EQ(out.module_evidence[row], Evidence::kGraphNode);
    EXPECT_EQ(out.modules.Path(out.module[row], trace), "captured");
  }
  EXPECT_EQ(out.module_evidence[1], Evidence::kTemplate);
  EXPECT_EQ(out.modules.Path(out.module[1], trace), "model.layers.0.input_layernorm");
  EXPECT_EQ(out.module_evidence[137], Evidence::kTemplate);
}

}  // namespace
}  // namespace layerscope::replay
