#include "src/model/model_tree.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::model {
namespace {

ModelTree Parsed(const std::string& text) {
  base::Result<ModelTree> tree = ParseModelTree(text, "tree.json");
  EXPECT_TRUE(tree.ok()) << tree.error().message;
  return tree.ok() ? *std::move(tree) : ModelTree();
}

base::Error Refused(const std::string& text) {
  const base::Result<ModelTree> tree = ParseModelTree(text, "tree.json");
  EXPECT_FALSE(tree.ok()) << text;
  return tree.ok() ? base::Error{} : tree.error();
}

TEST(ModelTree, ReadsTheNestedFormWithItsCallOrder) {
  const ModelTree tree = Parsed(R"({"schema_version": 2, "model": "Qwen3",
    "engine": {"name": "vllm", "version": "0.32"},
    "tree": {"name": "", "path": "", "class": "a.b.Model", "children": [
      {"name": "layers", "path": "layers", "class": "torch.nn.ModuleList", "children": [
        {"name": "0", "path": "layers.0", "class": "Layer", "children": [
          {"name": "mlp", "class": "MLP", "children": []}]}]},
      {"name": "head", "path": "head", "class": "Linear"}]},
    "call_order": [{"path": "", "class": "Model"}, ["head", "Linear"], "layers.0",
                   {"path": "head", "class": "Linear"}]})");
  ASSERT_EQ(tree.modules.size(), 5U);
  EXPECT_EQ(tree.modules[0].class_name, "Model");
  EXPECT_EQ(tree.modules[3].path, "layers.0.mlp") << "from its parent's and its name";
  EXPECT_EQ(tree.modules[3].parent, 2);
  EXPECT_EQ(tree.modules[2].parent, 1);
  EXPECT_EQ(tree.modules[0].parent, -1);
  EXPECT_EQ(tree.call_order, (std::vector<uint32_t>{0, 4, 2})) << "each at its first call";
  EXPECT_EQ(tree.model, "Qwen3");
  EXPECT_EQ(tree.engine, "vllm");
  EXPECT_EQ(tree.Find("layers.0"), 2);
  EXPECT_EQ(tree.Find("layers"), 1);
  EXPECT_EQ(tree.Find("layers.1"), -1);
}

TEST(ModelTree, ReadsListsOfNamedModules) {
  const std::string rows = R"([["", "Model", 0], ["layers", "torch.nn.ModuleList", {}, ""],
    ["layers.0", "a.Layer", {"weight": [[64], "float"]}, "eps=1"], ["layers.0.mlp", "MLP"]])";
  for (const std::string& text : {rows, "[" + rows + "]", "[" + rows + "," + rows + "]"}) {
    const ModelTree tree = Parsed(text);
    ASSERT_EQ(tree.modules.size(), 4U);
    EXPECT_EQ(tree.modules[2].class_name, "Layer");
    EXPECT_EQ(tree.modules[2].parent, 1);
    EXPECT_EQ(tree.modules[3].parent, 2);
    EXPECT_TRUE(tree.call_order.empty());
  }
}

TEST(ModelTree, AModuleWithoutAListedParentStandsBelowTheRoot) {
  const ModelTree tree = Parsed(R"([["", "Model"], ["a.b.c", "C"], ["a", "A"]])");
  EXPECT_EQ(tree.modules[1].parent, 0) << "`a` comes behind it";
}

TEST(ModelTree, ACalledModuleThatTheTreeLacksIsAddedSoThatNumbersStayRight) {
  const ModelTree tree = Parsed(
      R"({"tree": {"path": "", "class": "Model"}, "call_order": [["x", "X"], {"path": ""}]})");
  EXPECT_EQ(tree.modules[1].path, "x");
  EXPECT_EQ(tree.call_order, (std::vector<uint32_t>{1, 0}));
}

TEST(ModelTree, OtherFilesAreRefusedByName) {
  EXPECT_NE(Refused(R"({"traceEvents": []})").message.find("a trace"), std::string::npos);
  EXPECT_NE(Refused(R"({"model_type": "qwen3"})").message.find("--config"), std::string::npos);
  EXPECT_NE(Refused(R"({"module_tree": []})").message.find("model_execution"), std::string::npos);
  EXPECT_NE(Refused("\x80\x04\x95.").message.find("pickle"), std::string::npos);
  EXPECT_NE(Refused("PK\x03\x04").message.find("torch.save"), std::string::npos);
  for (const char* text :
       {"", "3", "{}", "[]", "[[]]", "[[[]]]", "[3]", R"(["a"])", R"([["a"]])", R"([["a", 3]])",
        R"({"tree": {}})", R"({"tree": 3})", R"({"tree": {"class": "A", "children": [3]}})",
        R"({"tree": {"class": "A"}, "call_order": ["b"]})",
        R"({"tree": {"class": "A"}, "call_order": [3]})"}) {
    EXPECT_EQ(Refused(text).code, base::ErrorCode::kInvalidInput) << text;
  }
}

TEST(ModelTree, DeepTreesAndLongPathsCostLittle) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += R"({"class": "A", "children": [)";
  Refused(R"({"tree": )" + deep);
  std::string path;
  for (int i = 0; i < 500000; ++i) path += ".a";
  const ModelTree tree = Parsed(R"([["", "Model"], [")" + path + R"(", "A"]])");
  EXPECT_EQ(tree.modules[1].parent, 0);
}

}  // namespace
}  // namespace layerscope::model
