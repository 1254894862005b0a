#include "src/layers/find_layers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/layers/segmentation.h"

#include "tests/support/decoder_trace.h"

namespace layerscope::layers {
namespace {

using Names = std::vector<std::string>;

Names Part(const Names& names, size_t from, size_t to) {
  return {names.begin() + static_cast<std::ptrdiff_t>(from),
          names.begin() + static_cast<std::ptrdiff_t>(to)};
}

bool Warns(const LayerStructure& structure, std::string_view code) {
  return std::any_of(structure.warnings.begin(), structure.warnings.end(),
                     [&](const table::HealthEntry& entry) { return entry.code == code; });
}

TEST(FindLayers, CutsEveryStepIntoItsLayers) {
  DecoderTrace of;
  const Names names = DecoderTrace::PassNames(6);
  of.Step("step[EXTEND bs=2 toks=64]", names);
  for (int i = 0; i < 3; ++i) of.Step("step[DECODE bs=4]", names);
  const FoundLayers found(std::move(of.build()).Build());
  ASSERT_TRUE(found.result().ok()) << found.result().error().message;
  ASSERT_EQ(found->passes.size(), 4U);
  EXPECT_EQ(found->layers_per_pass, 6);
  EXPECT_EQ(found->passes[0].kind, PassKind::kPrefill);
  EXPECT_EQ(found->passes[1].kind, PassKind::kDecode);
  EXPECT_EQ(found->passes[1].batch, 4);
  for (const Pass& pass : found->passes) {
    EXPECT_EQ(pass.n_layers, 6U);
    EXPECT_TRUE(pass.complete);
    EXPECT_GE(pass.confidence, kConfident);
  }
  for (size_t layer = 0; layer < found->layers.size(); ++layer) {
    EXPECT_EQ(found.CountIn(layer), DecoderTrace::kPerLayer) << layer;
  }
  EXPECT_EQ(found.CountParts(PassPart::kHead), 4U) << "the embedding of each pass";
  EXPECT_EQ(found.CountParts(PassPart::kTail), 12U) << "norm, LM head, sampler";
  EXPECT_EQ(found->layers[0].flags, kLayerFirst);
  EXPECT_EQ(found->layers[5].flags, kLayerFinal);
  EXPECT_EQ(found->layers[3].flags, 0);
  EXPECT_EQ(found->types, std::vector<std::string>{"A"}) << "layer 0's plain norm makes no type";
  EXPECT_EQ(found->anchor.evidence, attribution::Evidence::kPeriodicity);
}

TEST(FindLayers, ChoosesTheFirstOfThreeSteadyPasses) {
  DecoderTrace of;
  const Names names = DecoderTrace::PassNames(4);
  of.Step("step[DECODE bs=4]", [&] {
    of.Launch(Part(names, 0, 4));
    of.Idle(500'000);  // inside layer 0
    of.Launch(Part(names, 4, names.size()));
  });
  for (int i = 0; i < 3; ++i) of.Step("step[DECODE bs=4]", names);
  const FoundLayers found(std::move(of.build()).Build());
  ASSERT_TRUE(found.result().ok());
  EXPECT_EQ(found->steady_pass, 1U) << "pass 0's first layer is cold";
}

TEST(FindLayers, PlacesTheRestOfAPassFromBeforeTheWindow) {
  DecoderTrace of;
  const Names names = DecoderTrace::PassNames(6);
  // The last 3 kernels of layer 2, layers 3 to 5, and the tail.
  of.RunLost(Part(names, 1 + 8 * 2 + 5, names.size()));
  of.Idle(30'000);
  of.Step("step[DECODE bs=4]", names);
  of.Step("step[DECODE bs=4]", names);
  const FoundLayers found(std::move(of.build()).Build());
  ASSERT_TRUE(found.result().ok()) << found.result().error().message;
  ASSERT_EQ(found->passes.size(), 3U);
  const Pass& rest = found->passes[0];
  EXPECT_FALSE(rest.complete);
  EXPECT_EQ(rest.note, "began before the window");
  ASSERT_EQ(rest.n_layers, 4U);
  EXPECT_EQ(found->layers[0].index, 2);
  EXPECT_EQ(found->layers[0].flags, kLayerCut);
  EXPECT_EQ(found.CountIn(0), 3U);
  EXPECT_EQ(found->layers[3].index, 5);
  EXPECT_EQ(found->layers[3].flags, kLayerFinal);
  EXPECT_TRUE(Warns(*found, "partial_pass"));
}

TEST(FindLayers, MarksTheLastPassThatTheWindowCuts) {
  DecoderTrace of;
  const Names names = DecoderTrace::PassNames(6);
  of.Step("step[DECODE bs=4]", names);
  of.Step("step[DECODE bs=4]", names);
  of.Step("step[DECODE bs=4]", Part(names, 0, 1 + 8 * 3 + 2));
  const FoundLayers found(std::move(of.build()).Build());
  ASSERT_TRUE(found.result().ok());
  ASSERT_EQ(found->passes.size(), 3U);
  const Pass& last = found->passes[2];
  EXPECT_FALSE(last.complete);
  EXPECT_EQ(last.note, "cut by the end of the window");
  ASSERT_EQ(last.n_layers, 4U);
  EXPECT_EQ(found->layers[last.first_layer + 3].flags, kLayerCut);
  EXPECT_EQ(found.CountIn(last.first_layer + 3), 2U);
}

TEST(FindLayers, PartsForwardsWithoutSteps) {
  DecoderTrace of;
  const Names names = DecoderTrace::PassNames(5);
  for (int i = 0; i < 3; ++i) {
    of.Launch(names);
    of.Idle(40'000);
  }
  const FoundLayers found(std::move(of.build()).Build());
  ASSERT_TRUE(found.result().ok());
  ASSERT_EQ(found->passes.size(), 3U);
  EXPECT_EQ(found->layers_per_pass, 5);
  for (const Pass& pass : found->passes) {
    EXPECT_EQ(pass.kind, PassKind::kUnknown);
    EXPECT_TRUE(pass.complete);
  }
  EXPECT_EQ(found.CountParts(PassPart::kOutside), 0U);
}

TEST(FindLayers, ShowsForeignKernelsOfOtherStreamsApart) {
  DecoderTrace of;
  const Names names = DecoderTrace::PassNames(4);
  int64_t inside_layer_1_ns = 0;
  of.Step("step[DECODE bs=4]", [&] {
    of.Launch(Part(names, 0, 1 + 8 + 3));
    inside_layer_1_ns = of.now_ns() - 4'000;
    of.Launch(Part(names, 1 + 8 + 3, names.size()));
  });
  of.Step("step[DECODE bs=4]", names);
  // Launched before the steps began, by nobody's step.
  of.build().Call(of.thread(), "cudaLaunchKernel", 10, 9'001);
  of.build().GpuStream(0, 21);
  const auto foreign = of.build().Kernel("neg_kernel", inside_layer_1_ns, 500, 9'001);
  const auto copy = of.build().Activity(trace::ActivityKind::kMemcpy, "Memcpy HtoD",
                                        inside_layer_1_ns, 500, 9'002);
  const FoundLayers found(std::move(of.build()).Build());
  ASSERT_TRUE(found.result().ok());
  EXPECT_EQ(found->foreign[foreign.index()], 1);
  EXPECT_EQ(found->layer[foreign.index()], LayerId(1));
  EXPECT_FALSE(found->pass[foreign.index()].valid());
  EXPECT_EQ(found->part[foreign.index()], PassPart::kOutside);
  EXPECT_EQ(found->layer[copy.index()], LayerId(1)) << "a copy goes where it starts";
  EXPECT_EQ(found->part[copy.index()], PassPart::kLayer);
  EXPECT_EQ(found.CountIn(1), 9U) << "8 kernels and the copy";
}

TEST(FindLayers, GivesSideStreamKernelsOfTheStepToTheLayerInWhichTheyStart) {
  DecoderTrace of;
  const Names names = DecoderTrace::PassNames(4);
  trace::ActivityId side;
  of.Step("step[DECODE bs=4]", [&] {
    of.Launch(Part(names, 0, 1 + 8 * 2 + 4));
    of.build().Call(of.thread(), "cudaLaunchKernel", of.now_ns() - 500, 9'001);
    of.build().GpuStream(0, 21);
    side = of.build().Kernel("shared_expert", of.now_ns(), 90'000, 9'001);
    of.build().GpuStream(0, 7);
    of.Launch(Part(names, 1 + 8 * 2 + 4, names.size()));
  });
  of.Step("step[DECODE bs=4]", names);
  const FoundLayers found(std::move(of.build()).Build());
  ASSERT_TRUE(found.result().ok());
  EXPECT_EQ(found->layer[side.index()], LayerId(2)) << "although it runs into layer 3";
  EXPECT_EQ(found->pass[side.index()], PassId(0));
  EXPECT_EQ(found->foreign[side.index()], 0);
}

TEST(FindLayers, ReadsACaptureByTheKernelsThatItsLaunchesName) {
  DecoderTrace of;
  const trace::ThreadId thread = of.thread();
  int64_t t_ns = 1'000;
  of.build().Call(thread, "hipStreamBeginCapture", t_ns, 1);
  for (const std::string& name : DecoderTrace::PassNames(6)) {
    t_ns += 1'000;
    of.build().LaunchOf(thread, "hipModuleLaunchKernel", name, t_ns, t_ns);
  }
  of.build().Call(thread, "hipStreamEndCapture", t_ns += 1'000, 2);
  of.build().Kernel("warm_up", 500, 100, 77);
  const FoundLayers found(std::move(of.build()).Build());
  ASSERT_TRUE(found.result().ok()) << found.result().error().message;
  ASSERT_EQ(found->passes.size(), 1U);
  EXPECT_EQ(found->passes[0].kind, PassKind::kCapture);
  EXPECT_EQ(found->passes[0].n_captured_launches, 52) << "6 * 8 + 4";
  ASSERT_EQ(found->layers.size(), 6U);
  EXPECT_EQ(found->layers[2].first_captured_launch, 17);
  EXPECT_EQ(found->layers[2].n_captured_launches, 8);
  EXPECT_EQ(found.CountParts(PassPart::kOutside), 1U);
}

TEST(FindLayers, ListsACaptureThatNamesNoKernelsWithoutLayers) {
  DecoderTrace of;
  of.build().Call(of.thread(), "cudaStreamBeginCapture", 10, 1);
  for (int i = 0; i < 40; ++i) of.build().Call(of.thread(), "cudaLaunchKernel", 20 + i, 10 + i);
  of.build().Call(of.thread(), "cudaStreamEndCapture", 90, 2);
  const FoundLayers found(std::move(of.build()).Build());
  ASSERT_TRUE(found.result().ok());
  ASSERT_EQ(found->passes.size(), 1U);
  EXPECT_EQ(found->passes[0].n_captured_launches, 40);
  ASSERT_TRUE(found->abstained.has_value());
  EXPECT_EQ(found->abstained->code, "unnamed_capture");
}

TEST(FindLayers, ChecksItselfAgainstModuleScopes) {
  DecoderTrace of;
  const Names names = DecoderTrace::PassNames(4);
  for (int pass = 0; pass < 2; ++pass) {
    of.Step("step[DECODE bs=4]", [&] {
      const int64_t from_ns = of.now_ns() - 1'500;
      of.Launch(Part(names, 0, 1));
      for (size_t i = 0; i < 4; ++i) {
        const int64_t begin_ns = of.now_ns() - 1'500;
        of.Launch(Part(names, 1 + 8 * i, 9 + 8 * i));
        of.build().Scope(of.thread(), "DecoderLayer_" + std::to_string(i), begin_ns,
                         of.now_ns() - begin_ns - 3'000);
      }
      of.Launch(Part(names, 33, 36));
      of.build().Scope(of.thread(), "Model_0", from_ns, of.now_ns() - from_ns - 3'000);
    });
  }
  const FoundLayers found(std::move(of.build()).Build());
  ASSERT_TRUE(found.result().ok());
  ASSERT_TRUE(found->modules.has_value());
  EXPECT_EQ(found->modules->module_class, "DecoderLayer");
  EXPECT_EQ(found->modules->n_layers, 8);
  EXPECT_EQ(found->modules->n_agreeing, 8);
  EXPECT_DOUBLE_EQ(found->anchor.confidence, 0.99);
}

TEST(FindLayers, CutsAtAGivenAnchorInsideTheLayer) {
  DecoderTrace of;
  for (int i = 0; i < 2; ++i) of.Step("step[DECODE bs=4]", DecoderTrace::PassNames(5));
  LayerOptions options;
  options.anchor = "flash_fwd_splitkv";
  const FoundLayers found(std::move(of.build()).Build(), options);
  ASSERT_TRUE(found.result().ok()) << found.result().error().message;
  EXPECT_EQ(found->layers_per_pass, 5);
  EXPECT_EQ(found->anchor.kind, "period");
  EXPECT_EQ(found->anchor.per_layer, 1);
  EXPECT_EQ(found->anchor.evidence, attribution::Evidence::kAnchorKernel);
  EXPECT_EQ(found.CountIn(0), DecoderTrace::kPerLayer) << "moved back to its norm";
}

TEST(FindLayers, RefusesAGivenAnchorThatOnePassHasOnceMore) {
  DecoderTrace of;
  const Names names = DecoderTrace::PassNames(5);
  for (int i = 0; i < 4; ++i) {
    Names of_pass = names;
    // One more attention between two layers of the second pass: 6 are not 5 layers x 1.
    if (i == 1) of_pass.insert(of_pass.begin() + 1 + 8 * 3, names[3]);
    of.Step("step[DECODE bs=4]", of_pass);
  }
  LayerOptions options;
  options.anchor = "flash_fwd_splitkv";
  const FoundLayers found(std::move(of.build()).Build(), options);
  ASSERT_FALSE(found.result().ok());
  EXPECT_EQ(found.result().error().code, base::ErrorCode::kFailed);
  EXPECT_NE(found.result().error().message.find("pass 1"), std::string::npos)
      << found.result().error().message;
}

TEST(FindLayers, LaysTheTargetsLayerOverADraftModelOfOne) {
  DecoderTrace of;
  Names draft = DecoderTrace::PassNames(2);
  draft.erase(draft.begin() + 1, draft.begin() + 9);  // its only layer is like the target's last
  for (int i = 0; i < 2; ++i) {
    of.Step("step[TARGET_VERIFY bs=4 toks=16]", DecoderTrace::PassNames(5));
    of.Step("step[DRAFT_DECODE bs=4]", draft);
  }
  const FoundLayers found(std::move(of.build()).Build());
  ASSERT_TRUE(found.result().ok()) << found.result().error().message;
  ASSERT_EQ(found->passes.size(), 4U);
  EXPECT_EQ(found->passes[1].kind, PassKind::kDraft);
  ASSERT_EQ(found->passes[1].n_layers, 1U);
  EXPECT_EQ(found.CountIn(found->passes[1].first_layer), DecoderTrace::kPerLayer);
  EXPECT_EQ(found->layers_per_pass, 5) << "the target's";
}

TEST(FindLayers, RefusesTwoDevicesUntilOneIsChosen) {
  const auto trace = [] {
    DecoderTrace of;
    of.Step("step[DECODE bs=4]", DecoderTrace::PassNames(4));
    of.build().GpuStream(1, 7);
    of.Step("step[DECODE bs=4]", DecoderTrace::PassNames(4));
    return std::move(of.build()).Build();
  };
  const FoundLayers mixed(trace());
  ASSERT_FALSE(mixed.result().ok());
  EXPECT_EQ(mixed.result().error().code, base::ErrorCode::kFailed);
  EXPECT_NE(mixed.result().error().message.find("device 0, 1"), std::string::npos);
  EXPECT_NE(mixed.result().error().hint.find("--device"), std::string::npos);
  LayerOptions options;
  options.device = "1";
  const FoundLayers one(trace(), options);
  ASSERT_TRUE(one.result().ok()) << one.result().error().message;
  EXPECT_EQ(one->passes.size(), 1U);
}

TEST(FindLayers, RefusesKernelsOfTwoProcesses) {
  tests::TraceBuilder build;
  build.GpuProcess(7);
  build.Call(build.Thread(1, 1), "cudaLaunchKernel", 0, 1);
  build.Call(build.Thread(2, 2), "cudaLaunchKernel", 0, 2);
  build.Kernel("a", 10, 1, 1);
  build.Kernel("a", 20, 1, 2);
  const FoundLayers found(std::move(build).Build());
  ASSERT_FALSE(found.result().ok());
  EXPECT_NE(found.result().error().message.find("pid 1, 2"), std::string::npos);
  EXPECT_NE(found.result().error().hint.find("--pid 1"), std::string::npos);
}

TEST(FindLayers, AbstainsOnKernelsOfNoDecoder) {
  DecoderTrace of;
  of.Launch(Names(200, "saxpy"));
  const FoundLayers found(std::move(of.build()).Build());
  ASSERT_TRUE(found.result().ok());
  EXPECT_TRUE(found->passes.empty());
  ASSERT_TRUE(found->abstained.has_value());
  EXPECT_FALSE(found->abstained->how.empty());
}

TEST(FindLayers, SaysWhereTheConfigCountsOtherwise) {
  DecoderTrace of;
  for (int i = 0; i < 3; ++i) of.Step("step[DECODE bs=4]", DecoderTrace::PassNames(5));
  LayerOptions options;
  options.num_layers = 7;
  const FoundLayers found(std::move(of.build()).Build(), options);
  ASSERT_TRUE(found.result().ok());
  if (!found->layers.empty()) {
    EXPECT_LT(found->anchor.confidence, kConfident);
  } else {
    EXPECT_TRUE(found->abstained.has_value());
  }
}

TEST(FindLayers, TakesNoCountThatARestAloneExceeds) {
  // Of eight layers the last 3 kernels of layer 2 and layers 3 to 7 were recorded: more than three.
  DecoderTrace of;
  const Names names = DecoderTrace::PassNames(8);
  of.RunLost(Part(names, 1 + 8 * 2 + 5, names.size()));
  LayerOptions options;
  options.num_layers = 3;
  const FoundLayers found(std::move(of.build()).Build(), options);
  ASSERT_TRUE(found.result().ok()) << found.result().error().message;
  ASSERT_EQ(found->passes.size(), 1U);
  ASSERT_GT(found->passes[0].n_layers, 3U);
  EXPECT_EQ(found->layers_per_pass, std::nullopt);
  EXPECT_TRUE(Warns(*found, "layer_count_differs"));
  EXPECT_LT(found->passes[0].confidence, kConfident);
  for (const Layer& layer : found->layers) EXPECT_EQ(layer.flags & kLayerFinal, 0);
}

TEST(FindLayers, RefusesAnAnchorThatMatchesEveryName) {
  DecoderTrace of;
  for (int i = 0; i < 3; ++i) of.Step("step[DECODE bs=4]", DecoderTrace::PassNames(5));
  LayerOptions options;
  options.anchor = "/.*/";
  const FoundLayers found(std::move(of.build()).Build(), options);
  ASSERT_FALSE(found.result().ok());
  EXPECT_NE(found.result().error().message.find("matches all"), std::string::npos)
      << found.result().error().message;
}

TEST(FindLayers, SaysThatAnAnchorRunsInNoPass) {
  DecoderTrace of;
  for (int i = 0; i < 3; ++i) of.Step("step[DECODE bs=4]", DecoderTrace::PassNames(5));
  of.build().Call(of.thread(), "cudaLaunchKernel", 10, 9'001);
  of.build().GpuStream(0, 21);
  of.build().Kernel("neg_kernel", 1'050'000, 500, 9'001);
  LayerOptions options;
  options.anchor = "neg_kernel";
  const FoundLayers found(std::move(of.build()).Build(), options);
  ASSERT_FALSE(found.result().ok());
  EXPECT_NE(found.result().error().message.find("stream 21"), std::string::npos)
      << found.result().error().message;
}

TEST(FindLayers, RefusesAbsurdCountsAsUsage) {
  LayerOptions options;
  options.num_layers = kMaxLayers + 1;
  DecoderTrace of;
  of.Step("step[DECODE bs=4]", DecoderTrace::PassNames(5));
  const FoundLayers found(std::move(of.build()).Build(), options);
  ASSERT_FALSE(found.result().ok());
  EXPECT_EQ(found.result().error().code, base::ErrorCode::kUsage);
}

TEST(FindLayers, WithholdsThePassWhoseKernelsAllStartAtOnce) {
  tests::TraceBuilder build;
  for (const std::string& name : DecoderTrace::PassNames(6)) build.Kernel(name, 1'000, 10, 0);
  const FoundLayers found(std::move(build).Build());
  ASSERT_TRUE(found.result().ok());
  EXPECT_TRUE(found->layers.empty());
  EXPECT_TRUE(found->abstained.has_value());
}

TEST(FindLayers, DoesNotTrustTheConfigOfAModelWithExperts) {
  model::ModelConfig config;
  config.num_layers = 5;
  config.layers.assign(5, {"FULL+MOE", std::nullopt});
  DecoderTrace of;
  for (int i = 0; i < 3; ++i) of.Step("step[DECODE bs=4]", DecoderTrace::PassNames(5));
  LayerOptions options;
  options.config = &config;
  const FoundLayers found(std::move(of.build()).Build(), options);
  ASSERT_TRUE(found.result().ok()) << found.result().error().message;
  EXPECT_TRUE(Warns(*found, "config_mismatch"));
  for (const Pass& pass : found->passes) EXPECT_LE(pass.confidence, 0.6);
}

}  // namespace
}  // namespace layerscope::layers
