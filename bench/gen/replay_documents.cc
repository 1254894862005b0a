#include "bench/gen/replay_documents.h"

#include <map>
#include <string_view>

#include "bench/gen/json_text.h"

namespace layerscope::gen {
namespace {

struct TreeNode {
  std::string name, path, module_class = "ModuleList";
  std::vector<TreeNode> children;
};

TreeNode& ChildOf(TreeNode& parent, std::string_view name) {
  for (TreeNode& child : parent.children) {
    if (child.name == name) return child;
  }
  TreeNode& child = parent.children.emplace_back();
  child.name = name;
  child.path = parent.path.empty() ? child.name : parent.path + "." + child.name;
  return child;
}

TreeNode& NodeAt(TreeNode& root, std::string_view path) {
  TreeNode* node = &root;
  while (!path.empty()) {
    const size_t dot = path.find('.');
    node = &ChildOf(*node, path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return *node;
}

void AppendNode(const TreeNode& node, JsonText& json) {
  json.Object().Key("name").String(node.name).Key("path").String(node.path);
  json.Key("class").String(node.module_class);
  json.Key("module").String(node.module_class == "ModuleList" ? "torch.nn.modules.container"
                                                              : "sglang.srt.models.qwen3");
  json.Key("children").Array();
  for (const TreeNode& child : node.children) AppendNode(child, json);
  json.EndArray().EndObject();
}

// Not modules of the model: what serves it.
bool OfTheModel(const ModuleNumbers::Called& called) {
  return called.path != "?" && called.path.substr(0, 5) != "draft";
}

}  // namespace

std::string RenderGraphAnnotations(const std::vector<CapturedGraph>& graphs) {
  std::string text;
  JsonText json(&text, Layout::kTorch);
  json.Object();
  for (const CapturedGraph& graph : graphs) {
    for (const CapturedPiece& piece : graph.pieces) {
      for (const CapturedNode& node : piece.nodes) {
        json.Line(1).Key(std::to_string(node.id)).Array();
        // Some carry more than the path, and an outer scope's dict before the inner one's.
        if (node.id % 3 == 0) json.Object().Key("name").String("model").EndObject();
        json.Object().Key("name").String(node.path);
        if (node.id % 5 == 0) json.Key("shape").String("[32, 4096]");
        json.EndObject().EndArray();
      }
    }
  }
  json.Line(0).EndObject();
  return text + "\n";
}

std::string RenderModelTree(const ModuleNumbers& numbers) {
  TreeNode root;
  for (const ModuleNumbers::Called& called : numbers.in_order_of_first_call()) {
    if (OfTheModel(called)) NodeAt(root, called.path).module_class = called.module_class;
  }
  std::string text;
  JsonText json(&text, Layout::kTorch);
  json.Object().Line(1).Key("schema_version").Int(2).Line(1).Key("model").String("Qwen3");
  json.Line(1).Key("source").String("generated").Line(1).Key("rank").Int(0);
  json.Line(1).Key("engine").Object().Key("name").String("sglang").EndObject();
  json.Line(1).Key("tree");
  AppendNode(root, json);
  json.Line(1).Key("call_order").Array();
  for (const ModuleNumbers::Called& called : numbers.in_order_of_first_call()) {
    if (!OfTheModel(called)) continue;
    json.Line(2).Object().Key("path").String(called.path);
    json.Key("class").String(called.module_class).EndObject();
  }
  json.Line(1).EndArray().Line(0).EndObject();
  return text + "\n";
}

std::string RenderModelConfig(const ReplayOptions& options) {
  const bool moe = options.family == ReplayOptions::Family::kMoe;
  std::string text;
  JsonText json(&text, Layout::kTorch);
  json.Object().Line(1).Key("architectures").Array();
  json.String(moe ? "Qwen3MoeForCausalLM" : "Qwen3ForCausalLM").EndArray();
  json.Line(1).Key("model_type").String(moe ? "qwen3_moe" : "qwen3");
  json.Line(1).Key("num_hidden_layers").Int(options.layers).Line(1).Key("hidden_size").Int(4096);
  json.Line(1).Key("num_attention_heads").Int(32).Line(1).Key("num_key_value_heads").Int(8);
  json.Line(1).Key("head_dim").Int(128).Line(1).Key("intermediate_size").Int(12288);
  if (moe) {
    json.Line(1).Key("num_experts").Int(128).Line(1).Key("num_experts_per_tok").Int(8);
    json.Line(1).Key("moe_intermediate_size").Int(768).Line(1).Key("decoder_sparse_step").Int(1);
  }
  json.Line(1).Key("vocab_size").Int(151936).Line(0).EndObject();
  return text + "\n";
}

}  // namespace layerscope::gen
