#include "src/layers/pass_groups.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/decoder_trace.h"

namespace layerscope::layers {
namespace {

using Names = std::vector<std::string>;

/// The groups of all rows of a trace on device 0.
std::vector<PassGroup> GroupsOf(trace::Trace& trace) {
  const attribution::Attribution attribution = attribution::Attribute(trace, {});
  TargetRows target;
  target.device = trace::DeviceId(0);
  for (uint32_t row = 0; row < trace.activities.size(); ++row) target.rows.push_back(row);
  std::stable_sort(target.rows.begin(), target.rows.end(), [&](uint32_t a, uint32_t b) {
    return trace.activities.start_ns[a] < trace.activities.start_ns[b];
  });
  NameTraits traits(trace);
  return BuildPassGroups(trace, attribution, target, traits);
}

Names Join(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(BuildPassGroups, PartsAStepOfSeveralForwards) {
  DecoderTrace of;
  const Names names = DecoderTrace::PassNames(3);
  of.Step("ProfilerStep#1", Join(Join(names, names), names));
  trace::Trace trace = std::move(of.build()).Build();
  const std::vector<PassGroup> groups = GroupsOf(trace);
  ASSERT_EQ(groups.size(), 3U);
  for (const PassGroup& group : groups) {
    EXPECT_EQ(group.tokens.size(), names.size());
    EXPECT_EQ(group.kind, PassKind::kUnknown);
    EXPECT_EQ(group.step, attribution::StepId(0));
  }
  EXPECT_FALSE(groups[0].may_be_cut_last);
  EXPECT_TRUE(groups[2].may_be_cut_last);
}

TEST(BuildPassGroups, TellsADraftForwardBehindItsTarget) {
  DecoderTrace of;
  of.Step("ProfilerStep#1", Join(DecoderTrace::PassNames(6), DecoderTrace::PassNames(1)));
  trace::Trace trace = std::move(of.build()).Build();
  const std::vector<PassGroup> groups = GroupsOf(trace);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].kind, PassKind::kUnknown);
  EXPECT_EQ(groups[1].kind, PassKind::kDraft);
}

TEST(BuildPassGroups, KeepsAForwardWholeThatGathersInItsMiddle) {
  // Two layers look up embeddings of their own: no equal forwards lie between them.
  Names names = DecoderTrace::PassNames(9);
  const std::string gather = names.front();
  names.insert(names.begin() + 1 + 8 * 6, gather);
  names.insert(names.begin() + 1 + 8 * 1, gather);
  DecoderTrace of;
  of.Step("step[DECODE bs=1]", names);
  trace::Trace trace = std::move(of.build()).Build();
  EXPECT_EQ(GroupsOf(trace).size(), 1U);
}

TEST(BuildPassGroups, PartsGraphsWithoutSteps) {
  Names graph = DecoderTrace::PassNames(4);
  graph.erase(graph.begin());
  graph.resize(graph.size() - 3);
  DecoderTrace of;
  for (int i = 0; i < 3; ++i) {
    of.Replay(graph);
    of.Idle(5'000);
  }
  trace::Trace trace = std::move(of.build()).Build();
  const std::vector<PassGroup> groups = GroupsOf(trace);
  ASSERT_EQ(groups.size(), 3U);
  for (const PassGroup& group : groups) EXPECT_EQ(group.tokens.size(), graph.size());
}

TEST(BuildPassGroups, KeepsPiecewiseGraphsOfOneAttentionEachTogether) {
  const Names names = DecoderTrace::PassNames(4);
  DecoderTrace of;
  for (size_t i = 0; i < 4; ++i) {
    const auto from = names.begin() + static_cast<std::ptrdiff_t>(1 + 8 * i);
    of.Replay(Names(from, from + 8));
  }
  trace::Trace trace = std::move(of.build()).Build();
  EXPECT_EQ(GroupsOf(trace).size(), 1U);
}

TEST(BuildPassGroups, NumbersMicroBatchesOnTwoStreams) {
  DecoderTrace of;
  const Names names = DecoderTrace::PassNames(3);
  of.Step("step[EXTEND bs=2 toks=64]", [&] {
    const int64_t begin_ns = of.now_ns();
    of.Launch(names);
    // The second one runs beside it, half a kernel later.
    of.build().GpuStream(0, 9);
    int64_t t_ns = begin_ns + 5'000;
    for (size_t i = 0; i < names.size(); ++i, t_ns += 10'000) {
      const auto correlation = static_cast<int64_t>(5'000 + i);
      of.build().Call(of.thread(), "cudaLaunchKernel", t_ns - 1'000, correlation);
      of.build().Kernel(names[i], t_ns, 8'000, correlation);
    }
  });
  trace::Trace trace = std::move(of.build()).Build();
  const std::vector<PassGroup> groups = GroupsOf(trace);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].note, "micro-batch 1 of 2");
  EXPECT_EQ(groups[1].note, "micro-batch 2 of 2");
  EXPECT_EQ(groups[0].tokens.size(), names.size());
  EXPECT_EQ(groups[1].tokens.size(), names.size());
}

TEST(BuildPassGroups, LeavesWhatIsLaunchedOutsideStepsOutside) {
  DecoderTrace of;
  of.Launch({"prepare_inputs", "prepare_more"});
  of.Idle(20'000);
  of.Step("step[DECODE bs=1]", DecoderTrace::PassNames(3));
  of.Launch({"sampler_kernel"});
  trace::Trace trace = std::move(of.build()).Build();
  const std::vector<PassGroup> groups = GroupsOf(trace);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].tokens.size(), 3U * 8 + 4);
}

}  // namespace
}  // namespace layerscope::layers
