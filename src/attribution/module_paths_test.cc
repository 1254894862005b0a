#include "src/attribution/module_paths.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/trace_builder.h"

namespace layerscope::attribution {
namespace {

using tests::TraceBuilder;

constexpr const char* kLayer = R"(["layers.0", "Layer"], ["layers.0.norm", "Norm"],
  ["layers.0.attn", "Attention"], ["layers.0.attn.q", "Linear"], ["layers.0.attn.o", "Linear"],
  ["layers.0.attn.rope", "Rope"], ["layers.1", "Layer"], ["layers.1.norm", "Norm"],
  ["layers.1.attn", "Attention"], ["layers.1.attn.q", "Linear"], ["layers.1.attn.o", "Linear"])";

/// Two layers with one rope for both, and a head; `order` is the value of call_order, or empty.
model::ModelTree Tree(const std::string& order) {
  const std::string list = std::string(R"([["", "Model"], ["layers", "ModuleList"], )") + kLayer +
                           R"(, ["norm", "Norm"], ["head", "Linear"]])";
  const std::string text =
      order.empty() ? list : R"({"tree": )" + list + R"(, "call_order": )" + order + "}";
  base::Result<model::ModelTree> tree = model::ParseModelTree(text, "tree");
  EXPECT_TRUE(tree.ok()) << tree.error().message;
  return tree.ok() ? *std::move(tree) : model::ModelTree();
}

/// Attention calls o before q here, which only a call order can tell.
constexpr const char* kCallOrder = R"(["", "layers.0", "layers.0.norm", "layers.0.attn",
  "layers.0.attn.o", "layers.0.attn.rope", "layers.0.attn.q", "layers.1", "layers.1.norm",
  "layers.1.attn", "layers.1.attn.o", "layers.1.attn.q", "norm", "head"])";

/// A forward of `n_layers` layers: Model_0 with Layer_i, whose Attention_i calls two Linear and
/// Rope_0, then the last norm and the head.
TraceBuilder Forward(int n_layers) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "Model_0", 0, 10000);
  int n_linear = 0;
  const auto name = [](const char* of, int number) { return of + std::to_string(number); };
  for (int i = 0; i < n_layers; ++i) {
    const int64_t t = 100 * (i + 1);
    build.Scope(main, name("Layer_", i), t, 90);
    build.Scope(main, name("Norm_", i), t + 1, 5);
    build.Scope(main, name("Attention_", i), t + 10, 50);
    build.Scope(main, name("Linear_", n_linear++), t + 11, 5);
    build.Scope(main, "Rope_0", t + 20, 5);
    build.Scope(main, name("Linear_", n_linear++), t + 30, 5);
  }
  build.Scope(main, name("Norm_", n_layers), 9000, 5);
  build.Scope(main, name("Linear_", n_linear), 9010, 5);
  return build;
}

struct Applied {
  Applied(TraceBuilder build, const model::ModelTree& tree) : trace(std::move(build).Build()) {
    attr = Attribute(trace, kernel_names::RuleSet());
    TreeNaming naming = ApplyModelTree(tree, trace, attr);
    warnings = std::move(naming.health);
    misfit = std::move(naming.misfit);
  }
  /// Paths by instance name.
  std::map<std::string, std::string> Paths() const {
    std::map<std::string, std::string> paths;
    for (size_t i = 0; i < attr.modules.modules.size(); ++i) {
      paths.emplace(trace.strings[attr.modules.modules[i].name],
                    attr.modules.Path(ModuleId(i), trace));
    }
    return paths;
  }
  trace::Trace trace;
  Attribution attr;
  std::vector<table::HealthEntry> warnings;
  std::string misfit;
};

TEST(ApplyModelTree, TheNumberOfAClassIsItsPlaceInTheCallOrder) {
  const Applied applied(Forward(2), Tree(kCallOrder));
  EXPECT_TRUE(applied.warnings.empty());
  auto paths = applied.Paths();
  EXPECT_EQ(paths["Model_0"], "");
  EXPECT_EQ(paths["Layer_1"], "layers.1");
  EXPECT_EQ(paths["Norm_2"], "norm");
  EXPECT_EQ(paths["Linear_0"], "layers.0.attn.o");
  EXPECT_EQ(paths["Linear_3"], "layers.1.attn.q");
  EXPECT_EQ(paths["Linear_4"], "head");
  EXPECT_EQ(paths["Rope_0"], "layers.0.attn.rope") << "called in both layers";
  for (size_t i = 0; i < applied.attr.modules.modules.size(); ++i) {
    const Module& module = applied.attr.modules.modules[i];
    EXPECT_EQ(applied.attr.modules.ClassOf(ModuleId(i), applied.trace),
              SplitInstance(applied.trace.strings[module.name]).class_name);
  }
}

TEST(ApplyModelTree, IsNotContradictedByTheFewModulesOutsideOfHiddenGraphs) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Call(main, "cudaGraphLaunch", 10, 1);
  build.Kernel("all of the model", 100, 90, 1);
  build.Scope(main, "Sampler_0", 200, 50);
  build.Call(main, "cudaLaunchKernel", 210, 2);
  build.Kernel("argmax", 300, 10, 2);
  const Applied applied(std::move(build), Tree(kCallOrder));
  ASSERT_EQ(applied.warnings.size(), 1U);
  EXPECT_EQ(applied.warnings[0].code, "model_tree_unused");
  EXPECT_EQ(applied.warnings[0].severity, table::Severity::kInfo);
  EXPECT_FALSE(applied.misfit.empty()) << "for --strict with --model-tree";
}

TEST(ApplyModelTree, WithoutACallOrderLikeSiblingsStandInDefinitionOrder) {
  const Applied applied(Forward(2), Tree(""));
  EXPECT_TRUE(applied.warnings.empty());
  auto paths = applied.Paths();
  EXPECT_EQ(paths["Linear_0"], "layers.0.attn.q");
  EXPECT_EQ(paths["Linear_3"], "layers.1.attn.o");
  EXPECT_EQ(paths["Attention_1"], "layers.1.attn");
  EXPECT_EQ(paths["Linear_4"], "head");
}

TEST(ApplyModelTree, SiblingsWhoseNumbersDifferKeepTheirClass) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "Model_0", 0, 1000);
  build.Scope(main, "Layer_0", 10, 100);
  build.Scope(main, "Attention_0", 20, 50);
  build.Scope(main, "Linear_0", 25, 5);
  build.Scope(main, "Layer_1", 200, 100);
  const Applied applied(std::move(build), Tree(""));
  auto paths = applied.Paths();
  EXPECT_EQ(paths["Layer_1"], "layers.1");
  EXPECT_EQ(paths["Attention_0"], "layers.0.attn");
  EXPECT_EQ(paths["Linear_0"], "layers.0.attn.Linear_0") << "of q and o only one was called";
  ASSERT_EQ(applied.warnings.size(), 1U);
  EXPECT_EQ(applied.warnings[0].code, "model_tree_partial");
}

TEST(ApplyModelTree, ATraceWithMoreInstancesIsOfAnotherModel) {
  for (const char* order : {"", kCallOrder}) {
    const Applied applied(Forward(3), Tree(order));
    ASSERT_EQ(applied.warnings.size(), 1U);
    EXPECT_EQ(applied.warnings[0].code, "model_tree_mismatch");
    EXPECT_EQ(applied.warnings[0].severity, table::Severity::kWarning);
    EXPECT_EQ(applied.Paths()["Layer_0"], "Model_0.Layer_0") << "nothing is changed";
  }
}

TEST(ApplyModelTree, AClassThatAForwardMakesAnewIsLeftOutAlone) {
  // The tree has one Rope; its first layer makes two more, which hold nothing.
  for (const char* order : {"", kCallOrder}) {
    TraceBuilder build = Forward(2);
    const auto main = build.Thread(1, 1);
    build.Scope(main, "Rope_1", 126, 2);
    build.Scope(main, "Rope_2", 143, 2);
    const Applied applied(std::move(build), Tree(order));
    EXPECT_EQ(applied.misfit, "");
    auto paths = applied.Paths();
    EXPECT_EQ(paths["Layer_1"], "layers.1");
    EXPECT_EQ(paths["Norm_2"], "norm");
    EXPECT_EQ(paths["Rope_0"], "layers.0.attn.Rope_0");
    EXPECT_EQ(paths["Rope_2"], "layers.0.attn.Rope_2");
    ASSERT_EQ(applied.warnings.size(), 1U);
    EXPECT_EQ(applied.warnings[0].code, "model_tree_partial");
    EXPECT_EQ(applied.warnings[0].count, 3);
    EXPECT_NE(applied.warnings[0].message.find("3 of Rope"), std::string::npos)
        << applied.warnings[0].message;
  }
}

TEST(ApplyModelTree, AModelWithFewerLayersNestsOtherwise) {
  // Norm_1, the last, would be layers.1.norm, and layers.1 is never called.
  const Applied applied(Forward(1), Tree(kCallOrder));
  ASSERT_EQ(applied.warnings.size(), 1U);
  EXPECT_EQ(applied.warnings[0].code, "model_tree_mismatch");
  EXPECT_NE(applied.warnings[0].message.find("Norm_1 would be layers.1.norm"), std::string::npos)
      << applied.warnings[0].message;
}

TEST(ApplyModelTree, ATraceThatBeganLateHasFewerInstancesAndFits) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "Model_0", 0, 1000);
  build.Scope(main, "Layer_0", 10, 100);
  const Applied applied(std::move(build), Tree(kCallOrder));
  EXPECT_TRUE(applied.warnings.empty());
  EXPECT_EQ(applied.Paths()["Layer_0"], "layers.0");
}

TEST(ApplyModelTree, ModulesOutsideTheTreeKeepTheirNames) {
  TraceBuilder build = Forward(2);
  build.Scope(build.Thread(1, 1), "Sampler_0", 20000, 10);
  build.Scope(build.Thread(1, 1), "Fused_0", 9011, 2);  // in the head
  const Applied applied(std::move(build), Tree(kCallOrder));
  EXPECT_EQ(applied.Paths()["Sampler_0"], "Sampler_0");
  EXPECT_EQ(applied.Paths()["Fused_0"], "head.Fused_0");
}

/// A draft model behind the model: a layer of the same classes, numbered on.
TraceBuilder WithDraft(const char* draft) {
  TraceBuilder build = Forward(2);
  const auto main = build.Thread(1, 1);
  build.Scope(main, draft, 20000, 900);
  build.Scope(main, "Layer_2", 20100, 90);
  build.Scope(main, "Norm_3", 20101, 5);
  build.Scope(main, "DraftNorm_0", 20106, 2);
  build.Scope(main, "Attention_2", 20110, 50);
  build.Scope(main, "Linear_5", 20111, 5);
  build.Scope(main, "Rope_0", 20120, 5);  // the model's own
  return build;
}

TEST(ApplyModelTree, ADraftModelBesideTheModelKeepsItsClassesAndIsCounted) {
  for (const char* draft : {"DraftModel_0", "Model_1"}) {
    for (const char* order : {"", kCallOrder}) {
      const Applied applied(WithDraft(draft), Tree(order));
      EXPECT_EQ(applied.misfit, "") << draft;
      auto paths = applied.Paths();
      EXPECT_EQ(paths["Layer_1"], "layers.1");
      EXPECT_EQ(paths["Linear_4"], "head");
      EXPECT_EQ(paths["Layer_2"], std::string(draft) + ".Layer_2");
      EXPECT_EQ(paths["Linear_5"], std::string(draft) + ".Layer_2.Attention_2.Linear_5");
      ASSERT_EQ(applied.warnings.size(), 1U);
      EXPECT_EQ(applied.warnings[0].code, "model_tree_partial");
      // Layer, norm, attention and linear; Model_1 is one itself.
      EXPECT_EQ(applied.warnings[0].count, std::string(draft) == "Model_1" ? 5 : 4);
    }
  }
}

TEST(ApplyModelTree, ATreeThatContradictsTheModelIsWithheldBesideADraft) {
  TraceBuilder build = WithDraft("DraftModel_0");
  build.Scope(build.Thread(1, 1), "Layer_3", 9100, 90);  // in Model_0: one too many
  const Applied applied(std::move(build), Tree(kCallOrder));
  EXPECT_EQ(applied.warnings[0].code, "model_tree_mismatch");
  EXPECT_EQ(applied.Paths()["Layer_0"], "Model_0.Layer_0");
}

TEST(ApplyModelTree, OtherClassesAltogetherAreAMismatch) {
  TraceBuilder build;
  build.Scope(build.Thread(1, 1), "OtherModel_0", 0, 10);
  const Applied applied(std::move(build), Tree(""));
  ASSERT_EQ(applied.warnings.size(), 1U);
  EXPECT_EQ(applied.warnings[0].code, "model_tree_mismatch");
}

/// A model of the same parts whose layers and attention are of other classes.
TraceBuilder Others() {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "OtherModel_0", 0, 10000);
  build.Scope(main, "OtherLayer_0", 100, 90);
  build.Scope(main, "Norm_0", 101, 5);
  build.Scope(main, "OtherAttention_0", 110, 50);
  build.Scope(main, "Linear_0", 111, 5);
  build.Scope(main, "Rope_0", 120, 5);
  return build;
}

TEST(ApplyModelTree, KnownClassesInsideOtherOnesAreOfAnotherModel) {
  for (const char* order : {"", kCallOrder}) {
    const Applied applied(Others(), Tree(order));
    ASSERT_EQ(applied.warnings.size(), 1U);
    EXPECT_EQ(applied.warnings[0].code, "model_tree_mismatch");
    EXPECT_EQ(applied.Paths()["Rope_0"], "OtherModel_0.OtherLayer_0.OtherAttention_0.Rope_0");
  }
}

/// The tree's model with `n_more` modules in its layers that the tree does not have.
TraceBuilder OfAnotherEngine(int n_more) {
  TraceBuilder build = Forward(2);
  const auto main = build.Thread(1, 1);
  for (int i = 0; i < n_more; ++i) {
    build.Scope(main, "FusedNorm_" + std::to_string(i), 142 + 100 * (i % 2), 1);
  }
  return build;
}

TEST(ApplyModelTree, ManyModulesInsideTheModelThatTheTreeLacksAreOfAnotherEngine) {
  // 14 modules that the tree has: the model, 2 layers, 3 norms, 2 attentions, 5 linear, 1 rope.
  const Applied applied(OfAnotherEngine(2), Tree(kCallOrder));
  ASSERT_EQ(applied.warnings.size(), 1U);
  EXPECT_EQ(applied.warnings[0].code, "model_tree_mismatch");
  EXPECT_EQ(applied.warnings[0].count, 2);
  EXPECT_NE(applied.misfit.find("2 of 16 modules"), std::string::npos) << applied.misfit;
  EXPECT_EQ(applied.Paths()["Layer_0"], "Model_0.Layer_0") << "nothing is changed";
}

TEST(ApplyModelTree, AFewModulesThatTheTreeLacksAreCounted) {
  const Applied applied(OfAnotherEngine(1), Tree(kCallOrder));
  EXPECT_EQ(applied.misfit, "");
  EXPECT_EQ(applied.Paths()["Layer_0"], "layers.0");
  ASSERT_EQ(applied.warnings.size(), 1U);
  EXPECT_EQ(applied.warnings[0].code, "model_tree_partial");
  EXPECT_EQ(applied.warnings[0].message,
            "1 of 15 modules keep their class for a path: the model tree does not have their "
            "classes (FusedNorm_0).");
}

TEST(ApplyModelTree, ExpertsAreCalledByDataAndStayUnnamed) {
  const std::string text = R"({"tree": [["", "Model"], ["experts", "ModuleList"],
    ["experts.0", "MLP"], ["experts.1", "MLP"]],
    "call_order": ["", "experts.1", "experts.0"]})";
  base::Result<model::ModelTree> tree = model::ParseModelTree(text, "tree");
  ASSERT_TRUE(tree.ok());
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "Model_0", 0, 1000);
  build.Scope(main, "MLP_0", 10, 100);
  const Applied applied(std::move(build), *tree);
  EXPECT_EQ(applied.Paths()["MLP_0"], "MLP_0");
  ASSERT_EQ(applied.warnings.size(), 1U);
  EXPECT_EQ(applied.warnings[0].code, "model_tree_experts");
}

TEST(ApplyModelTree, RecordedPathsTakeTheirClassFromTheTree) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.PathScope(main, "", 0, 1000);
  build.PathScope(main, "layers.0", 10, 100);
  build.PathScope(main, "layers.0.attn", 20, 50);
  const Applied applied(std::move(build), Tree(""));
  EXPECT_TRUE(applied.warnings.empty());
  EXPECT_EQ(applied.attr.modules.ClassOf(ModuleId(1), applied.trace), "Layer");
  EXPECT_EQ(applied.trace.strings[applied.attr.modules.modules[2].name], "attn");
}

}  // namespace
}  // namespace layerscope::attribution
