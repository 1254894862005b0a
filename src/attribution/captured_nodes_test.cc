#include "src/attribution/captured_nodes.h"

#include <gtest/gtest.h>

#include "tests/support/trace_builder.h"

namespace layerscope::attribution {
namespace {

using tests::TraceBuilder;
using Origin = CapturedNode::Origin;

constexpr int64_t kDeep = 200'000;

/// Scopes `A` from 0 to 100 and `B` from 100 to 200 of one thread.
class Nodes {
 public:
  Nodes() : thread(build.Thread(1, 1)) {
    build.Scope(thread, "A", 0, 100);
    build.Scope(thread, "B", 100, 100);
  }

  CapturedNode Find(int64_t node) const {
    const trace::Trace& trace = build.trace();
    InnermostIndex scopes;
    const ModuleTree tree = BuildModuleTree(trace, &scopes);
    const CapturedNodes nodes(trace, tree, [&](trace::ThreadId at, int64_t t_ns) {
      const uint32_t scope = scopes.Find(at.index(), t_ns);
      return CapturedNodes::Open{scope == kNoRow ? trace::ScopeId() : trace::ScopeId(scope), {}};
    });
    return nodes.Find(trace.threads[thread.index()].process, node);
  }

  TraceBuilder build;
  trace::ThreadId thread;
};

TEST(CapturedNodes, FollowTheChainOfClonesToItsRoot) {
  Nodes nodes;
  nodes.build.NodeRow(nodes.thread, 300, 3, 2);  // rows in any order
  nodes.build.NodeRow(nodes.thread, 250, 2, 1);
  nodes.build.NodeRow(nodes.thread, 50, 1);
  EXPECT_EQ(nodes.Find(3).origin, Origin::kCaptured);
  EXPECT_EQ(nodes.Find(3).scope, trace::ScopeId(0));
  EXPECT_EQ(nodes.Find(4).origin, Origin::kUnknown);
}

TEST(CapturedNodes, RepeatedRowsSayTheSameOnce) {
  Nodes nodes;
  for (int64_t i = 0; i < 3; ++i) nodes.build.NodeRow(nodes.thread, 50, 1);
  for (int64_t i = 0; i < 3; ++i) nodes.build.NodeRow(nodes.thread, 300 + i, 2, 1);
  EXPECT_EQ(nodes.Find(2).scope, trace::ScopeId(0));
}

TEST(CapturedNodes, TwoOriginalsConflict) {
  Nodes nodes;
  nodes.build.NodeRow(nodes.thread, 50, 1);
  nodes.build.NodeRow(nodes.thread, 60, 2);
  nodes.build.NodeRow(nodes.thread, 300, 3, 1);
  nodes.build.NodeRow(nodes.thread, 310, 3, 2);
  nodes.build.NodeRow(nodes.thread, 320, 4, 3);
  EXPECT_EQ(nodes.Find(1).origin, Origin::kCaptured);
  EXPECT_EQ(nodes.Find(3).origin, Origin::kConflicting);
  EXPECT_EQ(nodes.Find(4).origin, Origin::kConflicting);
}

TEST(CapturedNodes, CapturesInTwoModulesConflict) {
  Nodes nodes;
  nodes.build.NodeRow(nodes.thread, 50, 1);
  nodes.build.NodeRow(nodes.thread, 150, 1);
  nodes.build.NodeRow(nodes.thread, 50, 2);
  nodes.build.NodeRow(nodes.thread, 250, 2);  // outside of every module
  nodes.build.NodeRow(nodes.thread, 50, 3);
  nodes.build.NodeRow(nodes.thread, 60, 3);
  EXPECT_EQ(nodes.Find(1).origin, Origin::kConflicting);
  EXPECT_EQ(nodes.Find(2).origin, Origin::kConflicting);
  EXPECT_EQ(nodes.Find(3).scope, trace::ScopeId(0));
}

TEST(CapturedNodes, ACircleHasNoCapture) {
  Nodes nodes;
  nodes.build.NodeRow(nodes.thread, 300, 1, 1);
  nodes.build.NodeRow(nodes.thread, 300, 2, 3);
  nodes.build.NodeRow(nodes.thread, 300, 3, 4);
  nodes.build.NodeRow(nodes.thread, 300, 4, 2);
  nodes.build.NodeRow(nodes.thread, 300, 5, 4);  // leads into it
  for (const int64_t node : {1, 2, 3, 4, 5}) {
    EXPECT_EQ(nodes.Find(node).origin, Origin::kConflicting) << node;
  }
}

TEST(CapturedNodes, AnAbsurdlyLongChainIsFollowed) {
  Nodes nodes;
  nodes.build.NodeRow(nodes.thread, 150, 0);
  for (int64_t i = 1; i < kDeep; ++i) nodes.build.NodeRow(nodes.thread, 300, i, i - 1);
  EXPECT_EQ(nodes.Find(kDeep - 1).scope, trace::ScopeId(1));
}

TEST(CapturedNodes, ARowWithoutAThreadSaysNothing) {
  Nodes nodes;
  nodes.build.NodeRow(nodes.thread, 50, 1);
  trace::Trace trace = std::move(nodes.build).Build();
  trace.graph_nodes.thread[0] = trace::ThreadId();
  const CapturedNodes found(trace, ModuleTree(),
                            [](trace::ThreadId, int64_t) { return CapturedNodes::Open(); });
  EXPECT_EQ(found.Find(trace.graph_nodes.process[0], 1).origin, Origin::kUnknown);
}

}  // namespace
}  // namespace layerscope::attribution
