#include "src/replay/capture_resolver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/capture_case.h"

namespace layerscope::replay {
namespace {

TEST(ResolveByCaptures, PlacesEveryKernelOfAFullGraph) {
  for (const bool named : {true, false}) {
    CaptureCase of;
    of.Replay(ForwardOf(3));
    of.Replay(ForwardOf(3));
    of.Give(Capture(named, 3));
    of.Resolve();
    EXPECT_EQ(of.CountWrong(3), 0) << named;
    ASSERT_EQ(of.out().alignments.size(), 1U);
    EXPECT_EQ(of.graph().launches, 2);
    EXPECT_EQ(of.graph().matched, 36);
    EXPECT_EQ(of.graph().evidence, attribution::Evidence::kCaptureAlignment);
    EXPECT_FALSE(of.graph().withheld);
  }
}

TEST(ResolveByCaptures, CountsACallOfEveryModuleALaunch) {
  CaptureCase of;
  of.Replay(ForwardOf(2));
  of.Replay(ForwardOf(2));
  of.Replay(ForwardOf(2));
  of.Give(Capture(true, 2));
  of.Resolve();
  for (const attribution::Module& module : of.out().modules.modules) EXPECT_EQ(module.calls, 3);
  EXPECT_EQ(of.out().modules.modules.size(), 1U + 2U + 12U);
}

TEST(ResolveByCaptures, LaysPiecesOverLaunchesInTheirOrder) {
  for (const bool named : {true, false}) {
    CaptureCase of;
    of.Replay(ForwardOf(4, true), "step[DECODE bs=8]");
    of.Replay(ForwardOf(4, true), "step[DECODE bs=8]");
    of.Give(Capture(named, 4, true));
    of.Resolve();
    EXPECT_EQ(of.CountWrong(4, true), 0) << named;
    EXPECT_EQ(of.graph().pieces, 5);
    EXPECT_EQ(of.graph().launches, 10);
    EXPECT_EQ(of.graph().kernels_per_launch, 20);
  }
}

TEST(ResolveByCaptures, WithholdsACaptureOfAnotherModel) {
  for (const bool named : {true, false}) {
    CaptureCase of;
    of.Replay(ForwardOf(3));
    of.Give(Capture(named, 4));
    of.Resolve();
    EXPECT_EQ(of.Module(0), "-");
    EXPECT_TRUE(of.graph().withheld);
    EXPECT_FALSE(of.graph().reason.empty());
  }
}

TEST(ResolveByCaptures, WithholdsAnEqualCountOfOtherWork) {
  // As many kernels as the capture, one place off: a head kernel more, the last one less.
  std::vector<Names> shifted = ForwardOf(3);
  shifted[0].insert(shifted[0].begin(), "embedding_gather_kernel");
  shifted[0].pop_back();
  CaptureCase of;
  of.Replay(shifted);
  of.Give(Capture(false, 3));
  of.Resolve();
  EXPECT_EQ(of.Module(3), "-");
  EXPECT_TRUE(of.graph().withheld);

  CaptureCase unknown;
  unknown.Replay({Names(18, "kernel_that_says_nothing")});
  unknown.Give(Capture(false, 3));
  unknown.Resolve();
  EXPECT_TRUE(unknown.graph().withheld);
}

TEST(ResolveByCaptures, LeavesOneOtherKernelAlone) {
  std::vector<Names> pieces = ForwardOf(10);
  pieces[0][7] = "another_gemm";
  CaptureCase of;
  of.Replay(pieces);
  of.Give(Capture(true, 10));
  of.Resolve();
  EXPECT_EQ(of.CountWrong(10), 1);
  EXPECT_EQ(of.Module(7), "-");
  EXPECT_EQ(of.graph().matched, 59);
  EXPECT_EQ(of.graph().mismatched, 1);
}

TEST(ResolveByCaptures, SaysNothingOfLayersWhenOneIsMissing) {
  CaptureCase of;
  of.Replay(ForwardOf(9));  // the replay lost one whole layer of ten: nobody knows which
  of.Give(Capture(true, 10));
  of.Resolve();
  EXPECT_TRUE(of.graph().withheld);
  for (size_t row = 0; row < 54; ++row) EXPECT_EQ(of.Module(row), "-");
}

TEST(ResolveByCaptures, PlacesWhatIsLeftWhenKernelsAreMissing) {
  std::vector<Names> pieces = ForwardOf(10);
  pieces[0].erase(pieces[0].begin() + 33);  // the attention of layer 5
  pieces[0].erase(pieces[0].begin() + 8);   // the rotary embedding of layer 1
  CaptureCase of;
  of.Replay(pieces);
  of.Give(Capture(true, 10));
  of.Resolve();
  EXPECT_EQ(of.graph().matched, 58);
  EXPECT_EQ(of.graph().missing, 2);
  EXPECT_EQ(of.Module(8), "Model_0.Layer_1.Attention_1");
  EXPECT_EQ(of.Module(57), "Model_0.Layer_9.SiluAndMul_9");
}

/// A forward of ten layers without some of its kernels.
std::vector<Names> Without(std::initializer_list<size_t> lost) {
  std::vector<Names> pieces = ForwardOf(10);
  Names kept;
  for (size_t i = 0; i < pieces[0].size(); ++i) {
    if (std::find(lost.begin(), lost.end(), i) == lost.end()) kept.push_back(pieces[0][i]);
  }
  pieces[0] = kept;
  return pieces;
}

TEST(ResolveByCaptures, AWholeReplayShowsWhatAnotherLostOfACaptureWithoutNames) {
  CaptureCase of;
  of.Replay(Without({8, 33}));  // the rotary embedding of layer 1, the attention of layer 5
  of.Replay(ForwardOf(10));
  of.Give(Capture(false, 10));
  of.Resolve();
  EXPECT_EQ(of.graph().launches, 2);
  EXPECT_EQ(of.graph().matched, 58 + 60);
  EXPECT_EQ(of.graph().mismatched, 0);
  EXPECT_EQ(of.graph().missing, 2);
  EXPECT_EQ(of.Module(8), "Model_0.Layer_1.Attention_1");
  EXPECT_EQ(of.Module(57), "Model_0.Layer_9.SiluAndMul_9");
}

TEST(ResolveByCaptures, ReplaysThatLostOtherKernelsShowTheWholeGraph) {
  CaptureCase of;
  of.Replay(Without({8, 33}));
  of.Replay(Without({20, 51}));
  of.Give(Capture(false, 10));
  of.Resolve();
  EXPECT_EQ(of.Module(8), "Model_0.Layer_1.Attention_1");
  EXPECT_EQ(of.Module(57), "Model_0.Layer_9.SiluAndMul_9");
  EXPECT_EQ(of.Module(58 + 20), "Model_0.Layer_3.Attention_3");
  EXPECT_EQ(of.Module(58 + 57), "Model_0.Layer_9.SiluAndMul_9");

  CaptureCase three;
  three.Replay(Without({8, 33, 40}));
  three.Replay(Without({8, 20, 51}));
  three.Replay(Without({20, 40, 51}));
  three.Give(Capture(false, 10));
  three.Resolve();
  EXPECT_EQ(three.Module(8), "Model_0.Layer_1.Attention_1");
  EXPECT_EQ(three.Module(3 * 57 - 1), "Model_0.Layer_9.SiluAndMul_9");
}

TEST(ResolveByCaptures, AKernelThatEveryReplayLostIsNotGuessed) {
  CaptureCase of;
  of.Replay(Without({8, 33}));
  of.Replay(Without({8, 51}));
  of.Give(Capture(false, 10));
  of.Resolve();
  EXPECT_TRUE(of.graph().withheld);
  EXPECT_EQ(of.Module(0), "-");
}

TEST(ResolveByCaptures, TakesTheCaptureOfTheStepsBatch) {
  CaptureWriter two(true);
  int64_t from_ns = two.now_ns();
  two.Forward(3);
  two.Annotate("capture_32_FULL", from_ns);
  from_ns = two.now_ns() + 1;
  two.Launch(kLayer[0], 9);  // outside
  two.Forward(3);
  two.Annotate("capture_8_FULL", from_ns);
  CaptureCase of;
  of.Replay(ForwardOf(3), "step[DECODE bs=8]");
  of.Replay(ForwardOf(3), "step[DECODE bs=32]");
  of.Give(std::move(two));
  of.Resolve();
  EXPECT_EQ(of.graph(0).source_batch, 8);
  EXPECT_TRUE(of.graph(0).reason.empty());
  EXPECT_EQ(of.CountWrong(3), 0);
}

TEST(ResolveByCaptures, SaysThatACaptureWasMadeForAnotherBatch) {
  CaptureCase of;
  of.Replay(ForwardOf(3), "step[DECODE bs=32]");
  of.Give(Capture(true, 3), 64);
  of.Resolve();
  EXPECT_EQ(of.CountWrong(3), 0);
  EXPECT_EQ(of.graph().reason, "captured for batch 64, used for 32");
  EXPECT_EQ(of.out().warnings.back().code, "capture_other_batch");
}

TEST(ResolveByCaptures, SaysToWhichSizeAStepIsPadded) {
  CaptureCase of;
  of.Replay(ForwardOf(3), "step[DECODE bs=30]");
  of.Give(Capture(true, 2), 16);
  of.Give(Capture(true, 4), 64);
  of.Give(Capture(true, 3), 32);
  of.Resolve();
  EXPECT_EQ(of.CountWrong(3), 0);
  EXPECT_EQ(of.graph().source, "capture3");
  EXPECT_EQ(of.graph().reason, "captured for batch 32, to which 30 is padded");
}

TEST(ResolveByCaptures, AStepBelowTheSmallestSizeIsPaddedToIt) {
  CaptureCase of;
  of.Replay(ForwardOf(3), "step[DECODE bs=5]");
  of.Give(Capture(true, 3), 16);
  of.Give(Capture(true, 4), 32);
  of.Resolve();
  EXPECT_EQ(of.graph().reason, "captured for batch 16, to which 5 is padded");
  for (const table::HealthEntry& warning : of.out().warnings) {
    EXPECT_NE(warning.code, "capture_other_batch");
  }
}

TEST(ResolveByCaptures, LeavesOtherThreadsOutOfACapture) {
  CaptureWriter capture(false);
  capture.Call("cudaStreamBeginCapture");
  capture.Elsewhere();
  capture.Launch(kLayer[0], 0);
  capture.Elsewhere();
  capture.Launch(kLayer[1], 0);
  capture.Call("cudaStreamEndCapture");
  CaptureCase of;
  of.Replay({{std::string(kLayer[0].kernel), std::string(kLayer[1].kernel)}});
  of.Give(std::move(capture));
  of.Resolve();
  EXPECT_EQ(of.Module(0), "RMSNorm_0");
  EXPECT_EQ(of.Module(1), "QKVParallelLinear_0");
}

TEST(ResolveByCaptures, CopiesShiftNothing) {
  for (const bool named : {true, false}) {
    CaptureWriter capture(named);
    capture.Call("cudaStreamBeginCapture");
    for (const Part& part : kLayer) {
      capture.Copy();
      capture.Launch(part, 0);
    }
    capture.Call("cudaStreamEndCapture");
    CaptureCase of;
    Names names = ForwardOf(1)[0];
    names.insert(names.begin() + 3, "memcpy128");
    of.Replay({names});
    of.Give(std::move(capture));
    of.Resolve();
    EXPECT_EQ(of.Module(2), "RotaryEmbedding_0");
    EXPECT_EQ(of.Module(4), "Attention_0");
    EXPECT_EQ(of.graph().matched, 6);
    EXPECT_EQ(of.graph().missing, 0);
  }
}

TEST(ResolveByCaptures, HangsTheRestBelowAModuleThatIsAroundTheLaunch) {
  CaptureCase of;
  of.Replay(ForwardOf(1));
  of.Around("Model_0");
  of.Give(Capture(true, 1));
  of.Resolve();
  EXPECT_EQ(of.Module(0), "Model_0.Layer_0.RMSNorm_0");
  EXPECT_EQ(of.out().modules.modules.front().calls, 1);

  CaptureCase other;
  other.Replay(ForwardOf(1));
  other.Around("GraphRunner_0");
  other.Give(Capture(true, 1));
  other.Resolve();
  EXPECT_EQ(other.Module(0), "GraphRunner_0.Model_0.Layer_0.RMSNorm_0");
}

TEST(ResolveByCaptures, WithholdsTwoCapturesThatNameModulesDifferently) {
  CaptureWriter first(true);
  first.Call("hipStreamBeginCapture");
  first.Launch({"k", "op", "A"}, 0);
  first.Call("hipStreamEndCapture");
  CaptureWriter second(true);
  second.Call("hipStreamBeginCapture");
  second.Launch({"k", "op", "B"}, 0);
  second.Call("hipStreamEndCapture");
  CaptureCase of;
  of.Replay({{"k"}});
  of.Give(std::move(first));
  of.Give(std::move(second));
  of.Resolve();
  EXPECT_EQ(of.Module(0), "-");
  EXPECT_TRUE(of.graph().withheld);
}

TEST(ResolveByCaptures, APartOfAForwardNeedsAWholeOneThatFits) {
  // What the window left of a forward of nine layers ends like one of eight.
  std::vector<Names> cut = ForwardOf(9, true);
  cut.erase(cut.begin(), cut.begin() + 2);
  for (const bool named : {true, false}) {
    CaptureCase of;
    of.Replay(cut);
    of.Replay(ForwardOf(9, true));
    of.Give(Capture(named, 8, true));
    of.Resolve();
    for (size_t row = 0; row < of.out().module.size(); ++row) EXPECT_EQ(of.Module(row), "-");
    EXPECT_TRUE(of.graph().withheld);
  }
}

TEST(ResolveByCaptures, SaysThatACaptureIsOfAnotherRank) {
  CaptureCase of;
  of.Replay(ForwardOf(3));
  of.Give(Capture(true, 3), {}, 1);
  of.Resolve(0);
  EXPECT_EQ(of.CountWrong(3), 0);
  EXPECT_EQ(of.graph().reason, "captured on rank 1");
}

TEST(ResolveByCaptures, NamesThatSomeLaunchesHaveMustAgree) {
  for (const bool other : {false, true}) {
    CaptureWriter capture(false);
    capture.Call("cudaStreamBeginCapture");
    for (int layer = 0; layer < 4; ++layer) {
      for (const Part& part : kLayer) {
        const bool norm = part.module == "RMSNorm";
        if (norm) capture.NameNext(other ? "another_rms_norm_kernel" : part.kernel);
        capture.Launch(part, layer);
      }
    }
    capture.Call("cudaStreamEndCapture");
    CaptureCase of;
    of.Replay(ForwardOf(4));
    of.Give(std::move(capture));
    of.Resolve();
    EXPECT_EQ(of.graph().withheld, other);
    EXPECT_EQ(of.Module(1), other ? "-" : "QKVParallelLinear_0");
  }
}

TEST(ResolveByCaptures, LaunchesThatLackKernelsOfOthersOfTheirKindAreSpokenOf) {
  std::vector<Names> lost = ForwardOf(4);
  lost[0].erase(lost[0].begin() + 7);
  CaptureCase of;
  of.Replay(ForwardOf(4), "step[DECODE bs=8]");
  of.Replay(lost, "step[DECODE bs=8]");
  of.Replay(ForwardOf(3), "step[DECODE bs=4]");
  of.Resolve();
  ASSERT_FALSE(of.out().warnings.empty());
  EXPECT_EQ(of.out().warnings.back().code, "graph_kernels_missing");
  EXPECT_EQ(of.out().warnings.back().count, 1);
}

TEST(ResolveByCaptures, WithholdsABurst) {
  CaptureCase of;
  of.build().Call(of.build().Thread(5, 5), "hipGraphLaunch", 500, 77);
  const Names names = ForwardOf(3)[0];
  for (const std::string& name : names) of.build().Kernel(name, 9'000, 50'000, 77);
  of.Give(Capture(true, 3));
  of.Resolve();
  EXPECT_EQ(of.Module(0), "-");
  EXPECT_TRUE(of.graph().withheld);
  EXPECT_EQ(of.out().warnings.back().code, "graph_burst");
}

}  // namespace
}  // namespace layerscope::replay
