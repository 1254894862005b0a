#include "src/replay/template_resolver.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/kernel_names/rule_set.h"
#include "src/layers/find_layers.h"
#include "src/model/model_config.h"
#include "src/model/profile.h"
#include "src/replay/template_siblings.h"

#include "tests/support/decoder_trace.h"
#include "tests/support/trace_builder.h"

namespace layerscope::replay {
namespace {

using attribution::Evidence;

std::string ModuleOf(const trace::Trace& trace, const attribution::Attribution& attribution,
                     size_t row) {
  const attribution::ModuleId module = attribution.module[row];
  return module.valid() ? attribution.modules.Path(module, trace) : "-";
}

// ---- from a config

model::ModelConfig Llama(int n_layers) {
  return *model::ParseModelConfig(
      R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4,
          "num_key_value_heads": 2, "num_hidden_layers": )" +
          std::to_string(n_layers) + "}",
      "config.json");
}

struct Templated {
  trace::Trace trace;
  attribution::Attribution attribution;
  std::vector<LaunchOutcome> outcomes;
  std::string At(size_t row) const { return ModuleOf(trace, attribution, row); }
  std::string_view RootOf(size_t row) const {
    const std::vector<attribution::Module>& modules = attribution.modules.modules;
    attribution::ModuleId module = attribution.module[row];
    while (modules[module.index()].parent.valid()) module = modules[module.index()].parent;
    return trace.strings[modules[module.index()].name];
  }
};

/// A decode step that replays `n_layers` layers, with layers found and `config` laid over them.
Templated ResolveWith(const model::ModelConfig* config, int n_layers, double least_confidence = 0,
                      bool compiled = false) {
  layers::DecoderTrace decoder;
  for (int i = 0; i < 3; ++i) {
    decoder.Step("step[DECODE bs=4]", [&] {
      decoder.Replay(layers::DecoderTrace::PassNames(static_cast<size_t>(n_layers)));
    });
  }
  Templated run;
  run.trace = std::move(decoder.build()).Build();
  run.attribution = attribution::Attribute(run.trace, kernel_names::RuleSet());
  layers::LayerOptions options;
  options.profile = model::ChooseProfile(nullptr).profile;
  layers::LayerStructure structure = *layers::FindLayers(run.trace, run.attribution, options);
  for (layers::Pass& pass : structure.passes) {
    EXPECT_GE(pass.confidence, 0.7);
    if (least_confidence > 0) pass.confidence = least_confidence;
  }
  Sources sources;
  sources.layers = &structure;
  sources.config = config;
  const GraphLaunches graphs = FindGraphLaunches(run.trace, run.attribution);
  attribution::ModuleGraft graft(run.trace, run.attribution);
  Resolution resolution{run.trace, run.attribution, graft, graphs, {}};
  resolution.outcomes.resize(graphs.launches.size());
  for (size_t i = 0; compiled && i < graphs.launches.size(); ++i) {
    const attribution::ModuleGraft::Name name{
        graft.Intern("GraphModule_0"), {}, graft.Intern("GraphModule")};
    const attribution::ModuleId outer = graft.FindOrAdd({}, trace::ProcessId(0), name);
    const attribution::ModuleId inner = graft.FindOrAdd(outer, trace::ProcessId(0), name);
    const trace::ScopeId call = graft.AddCall(outer, {});
    for (const uint32_t row : graphs.launches[i].rows) {
      // Cut at the attention, which is a piece of its own.
      const bool piece =
          run.trace.strings[run.trace.activities.name[row]].find("flash") != std::string_view::npos;
      graft.Place(row, piece ? graft.AddCall(inner, call) : call, {}, Evidence::kCaptureAlignment);
    }
    resolution.outcomes[i].evidence = Evidence::kCaptureAlignment;
  }
  ResolveByTemplate(resolution, sources);
  graft.Finish();
  run.outcomes = resolution.outcomes;
  return run;
}

// A pass is an embedding, 8 kernels a layer, norm, projection and sampler: 8 * 8 + 4 = 68.
TEST(TemplateResolver, AConfigNamesTheModulesOfFoundLayersHeadAndTail) {
  const model::ModelConfig config = Llama(8);
  const Templated run = ResolveWith(&config, 8);
  ASSERT_EQ(run.outcomes.size(), 3U);
  EXPECT_EQ(run.outcomes[1].evidence, Evidence::kTemplate);
  EXPECT_EQ(run.outcomes[1].matched, 67);
  EXPECT_EQ(run.outcomes[1].mismatched, 1);  // the sampler
  EXPECT_EQ(run.At(0), "model.embed_tokens");
  EXPECT_EQ(run.At(1), "model.layers.0.input_layernorm");
  EXPECT_EQ(run.At(2), "model.layers.0.self_attn.qkv_proj");
  EXPECT_EQ(run.At(68 + 1 + 8 * 7 + 7), "model.layers.7.mlp.down_proj");
  EXPECT_EQ(run.At(65), "model.norm");
  EXPECT_EQ(run.At(66), "lm_head");
  EXPECT_EQ(run.At(67), "-");
  EXPECT_EQ(run.attribution.module_evidence[1], Evidence::kTemplate);
}

TEST(TemplateResolver, AConfigOfAnotherNumberOfLayersIsWithheld) {
  const model::ModelConfig config = Llama(12);
  const Templated run = ResolveWith(&config, 8);
  EXPECT_TRUE(run.outcomes[0].withheld);
  EXPECT_EQ(run.outcomes[0].reason, "the trace has 8 layers, the config 12");
  EXPECT_EQ(run.At(1), "-");
}

TEST(TemplateResolver, UncertainLayersNameNoModules) {
  const model::ModelConfig config = Llama(8);
  const Templated run = ResolveWith(&config, 8, 0.6);
  EXPECT_TRUE(run.outcomes[0].withheld);
  EXPECT_EQ(run.outcomes[0].reason, "the layers were found with confidence 0.60, under 0.7");
  EXPECT_EQ(run.At(1), "-");
}

TEST(TemplateResolver, AModelThatHasAnotherFeedForwardPartIsWithheld) {
  const model::ModelConfig config = *model::ParseModelConfig(
      R"({"model_type": "qwen3_moe", "hidden_size": 64, "num_attention_heads": 4,
          "num_key_value_heads": 2, "num_hidden_layers": 8, "num_experts": 8})",
      "config.json");
  const Templated run = ResolveWith(&config, 8);
  EXPECT_TRUE(run.outcomes[0].withheld);
  EXPECT_EQ(run.outcomes[0].reason,
            "0 of 8 layers show the modules that the config implies; no kernel can be "
            "self_attn.q_norm");
}

TEST(TemplateResolver, AConfigWithQueryNormsThatTheTraceLacksIsWithheld) {
  const model::ModelConfig config = *model::ParseModelConfig(
      R"({"model_type": "qwen3", "hidden_size": 64, "num_attention_heads": 4,
          "num_key_value_heads": 2, "num_hidden_layers": 8})",
      "config.json");
  const Templated run = ResolveWith(&config, 8);
  EXPECT_TRUE(run.outcomes[0].withheld);
  EXPECT_EQ(run.outcomes[0].reason,
            "0 of 8 layers show the modules that the config implies; no kernel can be "
            "self_attn.q_norm");
}

// What a compiler hid stays hidden; the reason does not.
TEST(TemplateResolver, AConfigThatDoesNotFitBelowACompiledModuleIsSaid) {
  const model::ModelConfig config = Llama(12);
  const Templated run = ResolveWith(&config, 8, 0, true);
  EXPECT_EQ(run.outcomes[0].evidence, Evidence::kCaptureAlignment);
  ASSERT_EQ(run.outcomes[0].refusals.size(), 1U);
  EXPECT_EQ(run.outcomes[0].refusals[0].source, Evidence::kTemplate);
  EXPECT_EQ(run.outcomes[0].refusals[0].reason, "the trace has 8 layers, the config 12");
  EXPECT_EQ(run.At(1), "GraphModule_0");
}

TEST(TemplateResolver, WithoutAConfigACompiledModuleAsksForIt) {
  const Templated run = ResolveWith(nullptr, 8, 0, true);
  EXPECT_EQ(run.outcomes[0].reason,
            "its modules hold several layers: --config names what lies below them");
}

// A capture of a compiled model ends at one GraphModule: the template goes on below it.
TEST(TemplateResolver, GoesOnBelowAModuleThatHoldsSeveralLayers) {
  const model::ModelConfig config = Llama(8);
  const Templated run = ResolveWith(&config, 8, 0, true);
  EXPECT_EQ(run.outcomes[1].evidence, Evidence::kCaptureAlignment);
  EXPECT_EQ(run.outcomes[1].reason,
            "its modules hold several layers: 67 kernels of a launch lie below them by template "
            "of the config");
  // A module of a known path is called by it; it hangs below the capture's nevertheless.
  EXPECT_EQ(run.At(1), "model.layers.0.input_layernorm");
  EXPECT_EQ(run.RootOf(1), "GraphModule_0");
  EXPECT_EQ(run.At(68 + 1 + 8 * 7 + 7), "model.layers.7.mlp.down_proj");
  EXPECT_EQ(run.At(0), "model.embed_tokens");
  EXPECT_EQ(run.At(65), "model.norm");
  EXPECT_EQ(run.At(67), "GraphModule_0");
  // Pieces of the compiled module do not tear a layer apart.
  const auto parent = [&](size_t row) {
    return run.attribution.modules.modules[run.attribution.module[row].index()].parent;
  };
  EXPECT_EQ(run.At(3), "model.layers.0.self_attn.attn");
  EXPECT_EQ(parent(3), parent(2));
  EXPECT_EQ(run.attribution.module_evidence[1], Evidence::kTemplate);
  EXPECT_EQ(run.attribution.module_evidence[67], Evidence::kCaptureAlignment);

  const model::ModelConfig other = Llama(12);
  const Templated kept = ResolveWith(&other, 8, 0, true);
  EXPECT_EQ(kept.At(1), "GraphModule_0");
}

TEST(TemplateResolver, WithoutAConfigOrAResolvedLayerNothingIsSaid) {
  const Templated run = ResolveWith(nullptr, 8);
  EXPECT_FALSE(run.outcomes[0].withheld);
  EXPECT_EQ(run.At(1), "-");
}

// ---- from resolved layers

/// Three layers of two kernels, eager in pass 0 with module scopes around the first two layers,
/// then replayed by one graph launch in pass 1. Rows 0-5 and 6-11.
class SiblingsTest : public testing::Test {
 protected:
  void SetUp() override {
    tests::TraceBuilder build;
    const trace::ThreadId thread = build.Thread(1, 1);
    int64_t now_ns = 1'000;
    for (int layer = 0; layer < 3; ++layer) {
      const int64_t layer_ns = now_ns;
      for (int k = 0; k < 2; ++k) {
        const std::string number = std::to_string(layer * 2 + k);
        build.Call(thread, "cudaLaunchKernel", now_ns + 100, layer * 2 + k + 1);
        build.Kernel(k == 0 ? "norm" : "gemm", now_ns + 500, 400, layer * 2 + k + 1);
        if (layer < 2) {
          build.Scope(thread, (k == 0 ? "Norm_" : "Linear_") + std::to_string(layer), now_ns, 900);
        }
        now_ns += 1'000;
      }
      if (layer < 2) {
        build.Scope(thread, "Layer_" + std::to_string(layer), layer_ns, now_ns - layer_ns);
      }
    }
    build.Scope(thread, "Model_0", 500, now_ns - 500);
    now_ns += 5'000;
    build.Call(thread, "cudaGraphLaunch", now_ns, 100);
    for (int i = 0; i < 6; ++i) {
      build.Kernel(i % 2 == 0 ? "norm" : "gemm", now_ns += 1'000, 900, 100);
    }
    trace_ = std::move(build).Build();
    attribution_ = attribution::Attribute(trace_, kernel_names::RuleSet());
    for (uint32_t pass = 0; pass < 2; ++pass) {
      layers::Pass found;
      found.first_layer = pass * 3;
      found.n_layers = 3;
      found.complete = true;
      found.confidence = 0.9;
      structure_.passes.push_back(found);
      for (int32_t layer = 0; layer < 3; ++layer) {
        layers::Layer entry;
        entry.pass = layers::PassId(pass);
        entry.index = layer;
        structure_.layers.push_back(entry);
      }
    }
    for (uint32_t row = 0; row < 12; ++row) {
      structure_.pass.emplace_back(row / 6);
      structure_.layer.emplace_back(row / 2);
      structure_.part.push_back(layers::PassPart::kLayer);
      structure_.foreign.push_back(0);
    }
  }

  LaunchOutcome Resolve() {
    const GraphLaunches graphs = FindGraphLaunches(trace_, attribution_);
    attribution::ModuleGraft graft(trace_, attribution_);
    Resolution resolution{trace_, attribution_, graft, graphs, {}};
    resolution.outcomes.resize(graphs.launches.size());
    ResolveBySiblings(resolution, structure_);
    graft.Finish();
    return resolution.outcomes.front();
  }
  std::string At(size_t row) const { return ModuleOf(trace_, attribution_, row); }

  trace::Trace trace_;
  attribution::Attribution attribution_;
  layers::LayerStructure structure_;
};

TEST_F(SiblingsTest, TheSameLayerOfAnotherPassLendsItsModules) {
  const LaunchOutcome outcome = Resolve();
  EXPECT_EQ(outcome.evidence, Evidence::kTemplate);
  EXPECT_EQ(outcome.matched, 6);
  EXPECT_EQ(At(6), "Model_0.Layer_0.Norm_0");
  EXPECT_EQ(At(9), "Model_0.Layer_1.Linear_1");
  EXPECT_EQ(attribution_.module[9], attribution_.module[3]);
}

TEST_F(SiblingsTest, ALayerWhoseModuleIsUnknownTakesClassesWithoutNumbers) {
  Resolve();
  EXPECT_EQ(At(10), "Model_0.Layer.Norm");
  EXPECT_EQ(At(11), "Model_0.Layer.Linear");
}

TEST_F(SiblingsTest, AnotherIndexTakesTheNamesOfItsOwnLayerWhereTheyAreKnown) {
  // The replay's layer 0 is one of another type in pass 0: layer 1 lends, with layer 0's names.
  structure_.layers[0].type = 1;
  Resolve();
  EXPECT_EQ(At(6), "Model_0.Layer_0.Norm_0");
  EXPECT_EQ(At(7), "Model_0.Layer_0.Linear_0");
}

TEST_F(SiblingsTest, OtherTypesAndUncertainPassesLendNothing) {
  structure_.layers[3].type = 1;
  structure_.passes[0].confidence = 0.5;
  EXPECT_FALSE(Resolve().placed());
  EXPECT_EQ(At(6), "-");
}

}  // namespace
}  // namespace layerscope::replay
