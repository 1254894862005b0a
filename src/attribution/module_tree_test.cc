#include "src/attribution/module_tree.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/attribution/attribution.h"

#include "tests/support/trace_builder.h"

namespace layerscope::attribution {
namespace {

using tests::TraceBuilder;

std::vector<std::string> Paths(const ModuleTree& tree, const trace::Trace& trace) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < tree.modules.size(); ++i) paths.push_back(tree.Path(ModuleId(i), trace));
  return paths;
}

using Strings = std::vector<std::string>;

TEST(ModuleTree, NestsByTimeInPreOrder) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "Mlp_0", 50, 40);  // children may stand before their parents in the file
  build.Scope(main, "Layer_0", 0, 100);
  build.Scope(main, "Attention_0", 10, 30);
  build.Scope(main, "Linear_0", 60, 10);
  const ModuleTree tree = BuildModuleTree(build.trace());
  EXPECT_EQ(Paths(tree, build.trace()),
            (Strings{"Layer_0", "Layer_0.Attention_0", "Layer_0.Mlp_0", "Layer_0.Mlp_0.Linear_0"}));
  EXPECT_EQ(tree.depth_of_scope, (std::vector<int>{2, 1, 2, 3}));
  EXPECT_EQ(tree.parent_of_scope[0], trace::ScopeId(1));
  EXPECT_FALSE(tree.parent_of_scope[1].valid());
  EXPECT_EQ(tree.modules[3].depth, 3);
  EXPECT_EQ(tree.modules[0].cpu_ns, 100);
  EXPECT_EQ(tree.modules[0].cpu_self_ns, 100 - 30 - 40);
  EXPECT_EQ(tree.modules[2].cpu_self_ns, 40 - 10);
}

TEST(ModuleTree, CallsOfOnePathMergeAcrossCallsAndThreads) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  const auto second = build.Thread(1, 2);
  build.Scope(main, "Model_0", 0, 10);
  build.Scope(main, "Model_0", 20, 10);
  build.Scope(second, "Model_0", 0, 7);
  build.Scope(build.Thread(2, 1), "Model_0", 0, 5);  // another process is another module
  const ModuleTree tree = BuildModuleTree(build.trace());
  ASSERT_EQ(tree.modules.size(), 2U);
  EXPECT_EQ(tree.modules[0].calls, 3);
  EXPECT_EQ(tree.modules[0].cpu_ns, 27);
  EXPECT_EQ(tree.modules[1].calls, 1);
  EXPECT_NE(tree.modules[0].process, tree.modules[1].process);
}

TEST(ModuleTree, OneNameUnderTwoParentsIsTwoModules) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "Layer_0", 0, 10);
  build.Scope(main, "Rotary_0", 1, 2);
  build.Scope(main, "Layer_1", 20, 10);
  build.Scope(main, "Rotary_0", 21, 2);
  EXPECT_EQ(Paths(BuildModuleTree(build.trace()), build.trace()),
            (Strings{"Layer_0", "Layer_0.Rotary_0", "Layer_1", "Layer_1.Rotary_0"}));
}

TEST(ModuleTree, SiblingsStandInOrderOfFirstCall) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "B_0", 50, 10);
  build.Scope(main, "A_0", 0, 40);
  build.Scope(main, "C_0", 10, 5);  // a child that only the second call of its parent has
  build.Scope(main, "A_0", 100, 40);
  build.Scope(main, "D_0", 110, 5);
  build.Scope(build.Thread(1, 2), "E_0", 45, 1);
  EXPECT_EQ(Paths(BuildModuleTree(build.trace()), build.trace()),
            (Strings{"A_0", "A_0.C_0", "A_0.D_0", "E_0", "B_0"}));
}

TEST(ModuleTree, OfScopesWithEqualTimesTheLaterInTheFileIsInside) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "Outer_0", 0, 10);
  build.Scope(main, "Inner_0", 0, 10);
  build.Scope(main, "Instant_0", 10, 0);
  EXPECT_EQ(Paths(BuildModuleTree(build.trace()), build.trace()),
            (Strings{"Outer_0", "Outer_0.Inner_0", "Instant_0"}));
}

TEST(ModuleTree, ACrossingScopeIsAChildOfTheOneItStartsIn) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "A_0", 0, 10);
  build.Scope(main, "B_0", 5, 10);
  build.Scope(main, "C_0", 15, 10);
  EXPECT_EQ(Paths(BuildModuleTree(build.trace()), build.trace()),
            (Strings{"A_0", "A_0.B_0", "C_0"}));
}

TEST(ModuleTree, SurvivesADepthThatNoStackWould) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  constexpr int kDepth = 200000;
  for (int i = 0; i < kDepth; ++i) build.Scope(main, "M_0", i, 1000000 - 2 * i);
  const ModuleTree tree = BuildModuleTree(build.trace());
  ASSERT_EQ(tree.modules.size(), static_cast<size_t>(kDepth));
  EXPECT_EQ(tree.depth_of_scope.back(), kDepth);
  const std::string path = tree.Path(ModuleId(kDepth - 1), build.trace());
  EXPECT_NE(path.find(".[199936 levels].M_0."), std::string::npos) << path;
  EXPECT_LT(path.size(), 300U);
}

/// The root, a layer and its projection, as hooks name them; a scope of Python's own inside.
trace::Trace PathTrace() {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.PathScope(main, "model", 0, 1000);
  build.PathScope(main, "model.layers.0", 10, 100);
  build.Scope(main, "Rotary_0", 15, 5);
  build.PathScope(main, "model.layers.0.mlp", 20, 50);
  build.PathScope(main, "lm_head", 500, 50);
  build.PathScope(main, "model.layers.0", 600, 50);
  return std::move(build).Build();
}

TEST(ModuleTree, PathScopesAreModulesKnownByPath) {
  trace::Trace trace = PathTrace();
  const Attribution out = Attribute(trace, kernel_names::RuleSet());
  EXPECT_EQ(Paths(out.modules, trace),
            (Strings{"model", "model.layers.0", "model.layers.0.Rotary_0", "model.layers.0.mlp",
                     "lm_head"}));
  Strings names;
  Strings classes;
  for (size_t i = 0; i < out.modules.modules.size(); ++i) {
    names.emplace_back(trace.strings[out.modules.modules[i].name]);
    classes.emplace_back(out.modules.ClassOf(ModuleId(i), trace));
  }
  EXPECT_EQ(names, (Strings{"model", "layers.0", "Rotary_0", "mlp", "lm_head"}));
  EXPECT_EQ(classes, (Strings{"model", "layers", "Rotary", "mlp", "lm_head"}));
  EXPECT_EQ(out.modules.modules[1].calls, 2);
  EXPECT_EQ(out.category_of_name.size(), trace.strings.size());
}

TEST(ModuleTree, PartsOfPathsHaveAClassWithoutTheirNumber) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "layers.0", 0, 10);
  build.Scope(main, "blocks.3.1", 20, 10);
  build.Scope(main, "step.a", 40, 10);
  const trace::Trace& trace = build.trace();
  const ModuleTree tree = BuildModuleTree(trace);
  EXPECT_EQ(tree.ClassOf(ModuleId(0), trace), "layers");
  EXPECT_EQ(tree.ClassOf(ModuleId(1), trace), "blocks");
  EXPECT_EQ(tree.ClassOf(ModuleId(2), trace), "step.a");
}

TEST(ModuleTree, APathAndAClassOfOneTextAreTwoModules) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "A_0", 0, 10);
  build.PathScope(main, "A_0", 20, 10);
  EXPECT_EQ(BuildModuleTree(build.trace()).modules.size(), 2U);
}

TEST(SplitInstance, CutsTheNumberOff) {
  EXPECT_EQ(SplitInstance("RMSNorm_12").class_name, "RMSNorm");
  EXPECT_EQ(SplitInstance("RMSNorm_12").number, 12);
  EXPECT_EQ(SplitInstance("My_Layer_0").class_name, "My_Layer");
}

TEST(SplitInstance, LeavesNamesWithoutANumberWhole) {
  for (const char* name :
       {"RMSNorm", "My_Layer", "Layer_", "_3", "L_-1", "L_99999999999999999999"}) {
    EXPECT_EQ(SplitInstance(name).class_name, name);
    EXPECT_EQ(SplitInstance(name).number, -1);
  }
}

}  // namespace
}  // namespace layerscope::attribution
