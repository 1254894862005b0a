#include "src/trace/module_annotation.h"

#include <gtest/gtest.h>

namespace layerscope::trace {
namespace {

TEST(ModuleAnnotation, DictionariesAsHooksWriteThem) {
  EXPECT_EQ(ModulePathOf("{'Module': 'model.layers.0.mlp'}"), "model.layers.0.mlp");
  EXPECT_EQ(ModulePathOf("{'Module': 'lm_head', 'TrainableParams': {'weight': [8, 4]}}"),
            "lm_head");
  EXPECT_EQ(ModulePathOf(R"({"Module": "model.norm", "Inputs": [[1, 2]]})"), "model.norm");
  EXPECT_EQ(ModulePathOf("{'Module': ''}"), "") << "the root, as vLLM names it";
}

TEST(ModuleAnnotation, RecordFunctionsThatNameAPath) {
  EXPECT_EQ(ModulePathOf("Module:model.layers.0"), "model.layers.0");
  EXPECT_EQ(ModulePathOf("Module: model"), "model");
}

TEST(ModuleAnnotation, OtherNamesAreNone) {
  for (const char* name :
       {"", "{", "{}", "Module", "ModuleList:3", "Modules:x", "nn.Module: Linear_0",
        "{'Inputs': [1], 'Module': 'x'}", "{'Module': model}", "{'Module': 'cut", "{'Module' 'x'}",
        "{'Module': 'x' 'y'}", "{'Module': 'a b'}", "Module:a b", "execute_context_0(0)"}) {
    EXPECT_FALSE(ModulePathOf(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace layerscope::trace
