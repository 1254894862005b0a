#include "src/attribution/module_graft.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/kernel_names/rule_set.h"

#include "tests/support/trace_builder.h"

namespace layerscope::attribution {
namespace {

using tests::TraceBuilder;
using Strings = std::vector<std::string>;

/// Two forwards of Model_0, which launch a graph of two kernels each, and a kernel of Head_0.
struct Replays {
  Replays() {
    TraceBuilder build;
    const auto main = build.Thread(1, 1);
    for (const int64_t t : {0, 1000}) {
      build.Scope(main, "Model_0", t, 100);
      build.Call(main, "cudaGraphLaunch", t + 10, t + 1);
      build.Kernel("gemm", t + 20, 5, t + 1);
      build.Kernel("norm", t + 30, 5, t + 1);
      build.Scope(main, "Head_0", t + 200, 50);
      build.Op(main, "aten::mm", t + 210, 20);
      build.Call(main, "cudaLaunchKernel", t + 220, t + 2);
      build.Kernel("gemm", t + 230, 5, t + 2);
    }
    trace = std::move(build).Build();
    attr = Attribute(trace, kernel_names::RuleSet());
  }

  ModuleId Module(std::string_view name) const {
    for (size_t i = 0; i < attr.modules.modules.size(); ++i) {
      if (trace.strings[attr.modules.modules[i].name] == name) return ModuleId(i);
    }
    return {};
  }
  Strings Paths() const {
    Strings paths;
    for (size_t i = 0; i < attr.modules.modules.size(); ++i) {
      paths.push_back(attr.modules.Path(ModuleId(i), trace));
    }
    return paths;
  }

  trace::Trace trace;
  Attribution attr;
};

ModuleGraft::Name Called(ModuleGraft& graft, std::string_view name) {
  return {graft.Intern(name), {}, {}};
}

TEST(ModuleGraft, AddedModulesStandBelowTheirParentsInPreOrder) {
  Replays replays;
  ModuleGraft graft(replays.trace, replays.attr);
  const trace::ProcessId process = replays.trace.threads[0].process;
  const ModuleId model = replays.Module("Model_0");
  // Added in an order that is no pre-order.
  const ModuleId layer1 = graft.FindOrAdd(model, process, Called(graft, "Layer_1"));
  const ModuleId layer0 = graft.FindOrAdd(model, process, Called(graft, "Layer_0"));
  graft.FindOrAdd(layer1, process, Called(graft, "Norm_1"));
  graft.FindOrAdd(layer0, process, Called(graft, "Norm_0"));
  EXPECT_EQ(graft.FindOrAdd(model, process, Called(graft, "Layer_1")), layer1);
  graft.Finish();
  EXPECT_EQ(replays.Paths(), (Strings{"Model_0", "Model_0.Layer_1", "Model_0.Layer_1.Norm_1",
                                      "Model_0.Layer_0", "Model_0.Layer_0.Norm_0", "Head_0"}));
  EXPECT_EQ(replays.attr.modules.modules[2].depth, 3);
}

TEST(ModuleGraft, PlacesActivitiesInReplayedCallsAndMovesTheOthersAlong) {
  Replays replays;
  ModuleGraft graft(replays.trace, replays.attr);
  const trace::ProcessId process = replays.trace.threads[0].process;
  const size_t n_scopes = replays.trace.scopes.size();
  trace::Args args;
  args.input_dims = graft.Intern("[[2,8]]");
  const trace::OpId op = graft.AddOp(graft.Intern("aten::mm"), graft.InternArgs(args));
  const ModuleId layer =
      graft.FindOrAdd(replays.Module("Model_0"), process, Called(graft, "Layer_0"));
  for (const uint32_t row : {0U, 3U}) {  // the graph's first kernel, at each of its launches
    const trace::ScopeId call = graft.AddCall(layer, replays.attr.scope[row]);
    graft.Place(row, call, op, Evidence::kCaptureAlignment);
  }
  graft.PlaceOp(1, op);
  graft.Finish();
  const Attribution& attr = replays.attr;
  const ModuleTree& tree = attr.modules;
  EXPECT_EQ(attr.scope[0].index(), n_scopes);
  EXPECT_EQ(attr.scope[3].index(), n_scopes + 1);
  EXPECT_EQ(tree.Path(attr.module[0], replays.trace), "Model_0.Layer_0");
  EXPECT_EQ(tree.module_of_scope[n_scopes], attr.module[0]);
  EXPECT_EQ(tree.depth_of_scope[n_scopes], 2);
  EXPECT_EQ(tree.modules[attr.module[0].index()].calls, 2);
  EXPECT_EQ(tree.modules[attr.module[0].index()].cpu_ns, 0);
  EXPECT_EQ(attr.module_evidence[0], Evidence::kCaptureAlignment);
  EXPECT_EQ(tree.Path(attr.module[1], replays.trace), "Model_0");
  EXPECT_EQ(attr.module_evidence[1], Evidence::kLaunchCorrelation);
  EXPECT_EQ(tree.Path(attr.module[2], replays.trace), "Head_0");  // its number has changed
  EXPECT_EQ(attr.module[2], tree.module_of_scope[attr.scope[2].index()]);
  EXPECT_EQ(attr.OpName(replays.trace, attr.op[0]), attr.OpName(replays.trace, attr.op[2]));
  EXPECT_EQ(attr.op[1], op);
  EXPECT_EQ(replays.trace.args[attr.OpArgs(replays.trace, op).index()], args);
}

TEST(ModuleGraft, OutsideEveryScopeTheRootsOfTheProcessTakeTheModules) {
  TraceBuilder build;
  const auto first = build.Thread(1, 1);
  const auto second = build.Thread(2, 1);
  build.Scope(first, "A_0", 0, 10);
  build.Scope(second, "B_0", 0, 10);
  trace::Trace trace = std::move(build).Build();
  Attribution attr = Attribute(trace, kernel_names::RuleSet());
  ModuleGraft graft(trace, attr);
  const trace::ProcessId process = trace.threads[first.index()].process;
  const ModuleId a = graft.FindOrAdd({}, process, Called(graft, "A_0"));
  EXPECT_EQ(a, ModuleId(0));
  const ModuleId added = graft.FindOrAdd({}, process, Called(graft, "B_0"));
  EXPECT_EQ(graft.FindOrAdd({}, process, Called(graft, "B_0")), added);
  graft.Finish();
  ASSERT_EQ(attr.modules.modules.size(), 3U);  // roots of one process stand together
  EXPECT_EQ(attr.modules.modules[1].process, process);
  EXPECT_NE(attr.modules.modules[2].process, process);
}

TEST(ModuleGraft, PathsTellModulesOfOneNameApart) {
  Replays replays;
  ModuleGraft graft(replays.trace, replays.attr);
  const auto named = [&](std::string_view path) {
    return graft.FindOrAdd(replays.Module("Model_0"), {},
                           {graft.Intern("layers.0"), graft.Intern(path), graft.Intern("Layer")});
  };
  const ModuleId text = named("text.layers.0");
  EXPECT_NE(named("vision.layers.0"), text);
  EXPECT_EQ(named("text.layers.0"), text);
  EXPECT_EQ(graft.FindOrAdd(replays.Module("Model_0"), {}, Called(graft, "layers.0")), text);
}

TEST(ModuleGraft, EqualArgumentsHaveOneId) {
  Replays replays;
  trace::Args own;
  own.input_dims = replays.trace.strings.Intern("[[4]]");
  replays.trace.args.push_back(own);
  const trace::ArgsId id(replays.trace.args.size() - 1);
  ModuleGraft graft(replays.trace, replays.attr);
  EXPECT_EQ(graft.InternArgs(own), id);
  trace::Args other = own;
  other.group_size = 8;
  const trace::ArgsId added = graft.InternArgs(other);
  EXPECT_NE(added, id);
  EXPECT_EQ(graft.InternArgs(other), added);
  EXPECT_EQ(replays.trace.args.size(), id.index() + 2);
}

TEST(ModuleGraft, CategoriesReachToStringsThatWereAdded) {
  Replays replays;
  ModuleGraft graft(replays.trace, replays.attr);
  graft.Intern("a name that the trace does not have");
  graft.Finish();
  EXPECT_EQ(replays.attr.category_of_name.size(), replays.trace.strings.size());
}

}  // namespace
}  // namespace layerscope::attribution
