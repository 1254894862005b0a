#include "src/model/inductor_provenance.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "src/model/inductor_debug_folder.h"
#include "src/model/inductor_graph_text.h"
#include "src/model/inductor_output_code.h"
#include "src/model/inductor_trace_log.h"

namespace layerscope::model {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;
using Graph = InductorProvenance::Graph;

// Two calls of one kernel and a library call, as PyTorch 2.15 writes them; values by hand.
constexpr const char* kMap = R"({
  "preToPost": {"pow_1": ["pow_1"], "variance": ["mean"], "linear": ["permute", "mm"],
                "silu": ["neg", "div"]},
  "postToPre": {"pow_1": ["pow_1"], "mean": ["variance"], "permute": ["linear"], "mm": ["linear"],
                "neg": ["silu"], "div": ["silu"], "full_default": []},
  "cppCodeToPost": {"cpp_fused_silu_1:3": ["div", "neg", "full_default"],
                    "extern_kernels.mm:2": ["mm"],
                    "cpp_fused_mean_pow_0:1": ["mean", "pow_1"]}})";

class TempFolder {
 public:
  TempFolder()
      : path_(fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~TempFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string Write(const std::string& name, const std::string& text) const {
    const fs::path file = path_ / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file.string();
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST(InductorProvenance, GivesEachCallItsNodesInTheGraphsOrder) {
  const base::Result<Graph> graph = ParseProvenanceMap(kMap, "map.json");
  ASSERT_TRUE(graph.ok());
  ASSERT_EQ(graph->sites.size(), 3U);
  EXPECT_EQ(graph->sites[0].kernel, "cpp_fused_mean_pow_0");
  EXPECT_EQ(graph->sites[0].number, 1);
  EXPECT_EQ(graph->sites[0].graph_nodes, (Texts{"pow_1", "mean"}));
  EXPECT_EQ(graph->sites[0].source_nodes, (Texts{"pow_1", "variance"}));
  EXPECT_EQ(graph->sites[1].kernel, "extern_kernels.mm");
  EXPECT_EQ(graph->sites[2].graph_nodes, (Texts{"neg", "div", "full_default"}));
  EXPECT_EQ(graph->sites[2].source_nodes, (Texts{"silu"}));
}

TEST(InductorProvenance, ReadsKeysWithoutACallAndTheOtherDirectionOfTheMap) {
  const base::Result<Graph> graph = ParseProvenanceMap(
      R"({"preToPost": {"x": ["add_1"]}, "postToTritonCode": {"add_1": ["triton_poi_fused_add_0"],
          "mul": ["triton_poi_fused_add_0", "triton_poi_fused_mul_1"]}})",
      "map.json");
  ASSERT_TRUE(graph.ok());
  ASSERT_EQ(graph->sites.size(), 2U);
  EXPECT_EQ(graph->sites[0].kernel, "triton_poi_fused_add_0");
  EXPECT_EQ(graph->sites[0].number, -1);
  EXPECT_EQ(graph->sites[0].graph_nodes, (Texts{"add_1", "mul"}));
  EXPECT_EQ(graph->sites[0].source_nodes, (Texts{"x"}));
  EXPECT_EQ(graph->sites[1].graph_nodes, (Texts{"mul"}));
}

TEST(InductorProvenance, RefusesWhatIsNoMap) {
  for (const char* text : {"", "[]", "{}", "{\"a\": 1}", "{\"cppCodeToPost\"", "\xff"}) {
    const base::Result<Graph> graph = ParseProvenanceMap(text, "map.json");
    ASSERT_FALSE(graph.ok()) << text;
    EXPECT_EQ(graph.error().code, base::ErrorCode::kInvalidInput);
    EXPECT_NE(graph.error().message.find("map.json"), std::string::npos);
    EXPECT_NE(graph.error().hint.find("INDUCTOR_PROVENANCE"), std::string::npos);
  }
  // Wrong types inside of a map are passed over.
  EXPECT_TRUE(
      ParseProvenanceMap(R"({"cppCodeToPost": {"k": 3, "l": [1, null]}, "postToPre": 7})", "x")
          .ok());
}

TEST(InductorProvenance, ReadsAnyLevelOfADebugFolder) {
  const TempFolder folder;
  const std::string run = "torch_compile_debug/run_1-pid_2/torchinductor/";
  folder.Write(run + "model__0_inference_0.0/" + std::string(kProvenanceMapName), kMap);
  folder.Write(run + "model__0_inference_0.0/output_code.py",
               "# AOT ID: ['0_inference']\n"
               "        # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.t, "
               "aten.mm]\n"
               "        # [Provenance debug handles] extern_kernels.mm:2\n");
  folder.Write(run + "model__0_inference_0.0/fx_graph_transformed.py",
               "        full_default: \"f32[]\" = torch.ops.aten.full.default([], 0.0)\n");
  folder.Write(run + "model__10_inference_10.10/output_code.py",
               "# [Provenance debug handles] triton_poi_fused_add_0:1\n");
  folder.Write(run + "model__2_inference_2.2/output_code.py",
               "# Topologically Sorted Source Nodes: [a, ], Original ATen: [aten.add]\n"
               "# [Provenance debug handles] triton_poi_fused_add_0:1\n");
  folder.Write(run + "aot_model___0_debug.log", "");
  for (const char* level : {"", "/torch_compile_debug", "/torch_compile_debug/run_1-pid_2"}) {
    const base::Result<InductorProvenance> all = LoadInductorProvenance(folder.path() + level);
    ASSERT_TRUE(all.ok()) << level;
    ASSERT_EQ(all->graphs.size(), 3U);
    EXPECT_EQ(all->graphs[0].id, 0);
    EXPECT_EQ(all->graphs[1].id, 2);
    EXPECT_EQ(all->graphs[2].name, "model__10_inference_10.10");
    EXPECT_EQ(all->graphs[0].sites[0].ops, (Texts{"pow", "mean"}));
    EXPECT_EQ(all->graphs[0].sites[1].ops, (Texts{"t", "mm"}));
    EXPECT_EQ(all->graphs[0].sites[2].ops, (Texts{"neg", "div", "full"}));
    EXPECT_EQ(all->graphs[1].sites[0].source_nodes, (Texts{"a"}));
    EXPECT_TRUE(all->skipped.empty());
  }
  // The map of a folder brings what lies beside it.
  const base::Result<InductorProvenance> one = LoadInductorProvenance(
      folder.path() + "/" + run + "model__0_inference_0.0/" + std::string(kProvenanceMapName));
  ASSERT_TRUE(one.ok());
  ASSERT_EQ(one->graphs.size(), 1U);
  EXPECT_EQ(one->graphs[0].sites[1].ops, (Texts{"t", "mm"}));
}

TEST(InductorProvenance, LeavesOutADamagedFileAmongOthers) {
  const TempFolder folder;
  folder.Write("model__0.0/" + std::string(kProvenanceMapName), "{\"cppCode");
  folder.Write("model__1.1/" + std::string(kProvenanceMapName), kMap);
  const base::Result<InductorProvenance> all = LoadInductorProvenance(folder.path());
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->graphs.size(), 1U);
  EXPECT_EQ(all->skipped.size(), 1U);
}

TEST(InductorProvenance, SaysWhatIsMissing) {
  const TempFolder folder;
  const auto message = [](const std::string& path) {
    const base::Result<InductorProvenance> loaded = LoadInductorProvenance(path);
    return loaded.ok() ? std::string("no error") : loaded.error().message;
  };
  EXPECT_NE(message(folder.path()).find("no debug output"), std::string::npos);
  EXPECT_NE(message(folder.path() + "/none"), "no error");
  const std::string other = folder.Write("other.txt", "hello\n");
  EXPECT_NE(message(other).find("names no kernel"), std::string::npos);
  folder.Write("model__0.0/output_code.py", "import torch\n");
  EXPECT_NE(message(folder.path()).find("without INDUCTOR_PROVENANCE"), std::string::npos);
}

TEST(InductorProvenance, ReadsGeneratedCodeAlone) {
  const OutputCode code = ParseOutputCode(
      "# AOT ID: ['3_inference']\n"
      "# Topologically Sorted Source Nodes: [x], Original ATen: [aten.add]\n"
      "x = 1\n"
      "# [Provenance debug handles] triton_poi_fused_mul_0:1\n"
      "# Unsorted Source Nodes: [silu, , mul_2], Original ATen: [aten.silu, prims.mul]\n"
      "# [Provenance debug handles] triton_poi_fused_mul_silu_1:12\n");
  EXPECT_EQ(code.graph, 3);
  ASSERT_EQ(code.calls.size(), 2U);
  EXPECT_EQ(code.calls[0].ops, Texts{});  // a comment of another statement
  EXPECT_EQ(code.calls[1].kernel, "triton_poi_fused_mul_silu_1");
  EXPECT_EQ(code.calls[1].number, 12);
  EXPECT_EQ(code.calls[1].source_nodes, (Texts{"silu", "mul_2"}));
  EXPECT_EQ(code.calls[1].ops, (Texts{"silu", "mul"}));
}

TEST(InductorProvenance, NodesTellOperatorsAndModules) {
  EXPECT_EQ(OperatorOf("torch.ops.aten.mul.Tensor(a, b)"), "mul");
  EXPECT_EQ(OperatorOf("torch.ops.higher_order"), "");
  EXPECT_EQ(OperatorOf("a + b"), "");
  EXPECT_EQ(OperatorOfNode("_unsafe_view_3"), "_unsafe_view");
  EXPECT_EQ(OperatorOfNode("log10"), "log10");
  EXPECT_EQ(OperatorOfNode("_2"), "_2");
  EXPECT_EQ(ModulesRead("torch._C._nn.linear(x, "
                        "l_self_modules_model_modules_layers_modules_0_modules_self_attn_modules_"
                        "q_proj_parameters_weight_, None)"),
            (Texts{"model.layers.0.self_attn.q_proj"}));
  EXPECT_EQ(ModulesRead("l_self_modules_rope_buffers_cos_ * l_self_parameters_weight_"),
            (Texts{"rope"}));
  EXPECT_EQ(ModulesRead("torch.rsqrt(add)"), Texts{});
}

/// A log of n maps of one compilation holds its nodes once.
TEST(InductorProvenance, MapsOfOneCompilationShareItsNodes) {
  const std::string frame = "\"frame_id\": 1, \"frame_compile_id\": 0, \"attempt\": 0}\n";
  const std::string map =
      "V {\"artifact\": {\"name\": \"inductor_provenance_tracking_node_mappings\"}, " + frame +
      "\t{\"preToPost\": {}}\n";
  const std::vector<TracedGraph> graphs = ParseInductorTraceLog(
      map + "V {\"dynamo_output_graph\": {}, " + frame +
      "\t    mul: \"f32[4]\" = x * l_self_modules_up_parameters_weight_\n" + map + map);
  ASSERT_EQ(graphs.size(), 3U);
  EXPECT_TRUE(graphs[0].nodes->empty()) << "logged before its graph";
  EXPECT_EQ(graphs[1].nodes->count("mul"), 1U);
  EXPECT_EQ(graphs[1].nodes, graphs[2].nodes);
}

TEST(InductorProvenance, TheLogBindsModulesToTheMapOfItsGraph) {
  const std::vector<TracedGraph> graphs = ParseInductorTraceLog(
      "V {\"dynamo_output_graph\": {}, \"frame_id\": 1, \"frame_compile_id\": 0, \"attempt\": 0}\n"
      "\t    l_self_modules_up_parameters_weight_ = L_self_modules_up_parameters_weight_\n"
      "\t    linear: \"f32[4]\" = torch._C._nn.linear(x, l_self_modules_up_parameters_weight_);  x "
      "= "
      "None\n"
      "V {\"other\": {}}\n"
      "V {\"artifact\": {\"name\": \"inductor_provenance_tracking_node_mappings\"}, \"frame_id\": "
      "1, \"frame_compile_id\": 0, \"attempt\": 0}\n"
      "\t{\"preToPost\": {}}\n");
  ASSERT_EQ(graphs.size(), 1U);
  ASSERT_EQ(graphs[0].nodes->size(), 1U);
  EXPECT_EQ(graphs[0].nodes->begin()->first, "linear");
  EXPECT_EQ(graphs[0].nodes->begin()->second, (Texts{"up"}));
  EXPECT_NE(graphs[0].provenance_map.find("preToPost"), std::string::npos);
}

}  // namespace
}  // namespace layerscope::model
