#include "src/attribution/module_ranges.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/attribution/attribution.h"

#include "tests/support/trace_builder.h"

namespace layerscope::attribution {
namespace {

using tests::TraceBuilder;
using Strings = std::vector<std::string>;

/// "Class_k" or "Class_k=path" of each scope that is left, "=path" of a range.
Strings Joined(trace::Trace& trace) {
  JoinModuleRanges(trace);
  Strings names;
  for (size_t row = 0; row < trace.scopes.size(); ++row) {
    const trace::StringId path = trace.scopes.PathOf(row);
    std::string name;
    if (trace.scopes.is_path[row] == 0) name = trace.strings[trace.scopes.name[row]];
    if (path.valid()) name += '=' + std::string(trace.strings[path]);
    names.push_back(name);
  }
  return names;
}

TEST(ModuleRanges, ARangeAloneInItsScopeIsTheSameModule) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "Model_0", 0, 1000);
  build.PathScope(main, "", 5, 990);  // the model itself
  build.Scope(main, "Layer_0", 10, 100);
  build.PathScope(main, "layers.0", 12, 90);
  build.Scope(main, "Layer_1", 200, 100);
  build.PathScope(main, "layers.1", 202, 90);
  trace::Trace& trace = build.trace();
  EXPECT_EQ(Joined(trace), (Strings{"Model_0=", "Layer_0=layers.0", "Layer_1=layers.1"}));
  EXPECT_EQ(trace.RecordedScopes().size(), 6U);
  EXPECT_EQ(Joined(trace).size(), 3U);  // once more changes nothing
}

TEST(ModuleRanges, AModuleThatSeveralCallHasOnePath) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  for (const int64_t t : {0, 100}) {
    build.Scope(main, "Rope_0", t, 50);
    build.PathScope(main, "layers.0.rope", t + 5, 40);
  }
  build.Scope(main, "Rope_0", 200, 50);  // and a call that the hook did not see
  EXPECT_EQ(Joined(build.trace()),
            (Strings{"Rope_0=layers.0.rope", "Rope_0=layers.0.rope", "Rope_0=layers.0.rope"}));
}

TEST(ModuleRanges, ACallOfForwardHasNoScopeOfItsOwn) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "Layer_0", 0, 100);
  build.PathScope(main, "layers.0", 5, 90);
  build.PathScope(main, "layers.0.mlp", 10, 30);
  EXPECT_EQ(Joined(build.trace()), (Strings{"Layer_0=layers.0", "=layers.0.mlp"}));
}

TEST(ModuleRanges, WhatIsNotToldTwiceStays) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  const auto pair = [&](const char* name, const char* path, int64_t t) {
    build.Scope(main, name, t, 50);
    build.PathScope(main, path, t + 5, 40);
  };
  pair("TwoPaths_0", "a", 0);
  pair("TwoPaths_0", "b", 100);
  pair("OnePath_0", "c", 200);
  pair("OnePath_1", "c", 300);
  pair("NotAlone_0", "d", 400);
  build.Scope(main, "Other_0", 446, 2);  // beside the range
  build.Scope(main, "Crossed_0", 500, 50);
  build.PathScope(main, "e", 540, 20);
  EXPECT_EQ(Joined(build.trace()),
            (Strings{"TwoPaths_0", "=a", "TwoPaths_0", "=b", "OnePath_0", "=c", "OnePath_1", "=c",
                     "NotAlone_0", "=d", "Other_0", "Crossed_0", "=e"}));
  EXPECT_TRUE(build.trace().scopes.path.empty());
}

TEST(ModuleRanges, ProcessesAreToldApart) {
  TraceBuilder build;
  for (const int pid : {1, 2}) {
    const auto main = build.Thread(pid, 1);
    const bool is_first = pid == 1;
    build.Scope(main, is_first ? "Layer_0" : "Layer_1", 0, 100);
    build.PathScope(main, "layers.0", 5, 90);
  }
  EXPECT_EQ(Joined(build.trace()), (Strings{"Layer_0=layers.0", "Layer_1=layers.0"}));
}

TEST(ModuleRanges, AJoinedModuleHasItsClassAndIsCountedOnce) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "Model_0", 0, 100);
  build.PathScope(main, "model", 5, 90);
  build.Scope(main, "Layer_0", 10, 50);
  build.PathScope(main, "model.layers.0", 12, 40);
  build.PathScope(main, "model.layers.0.mlp", 20, 30);
  const Attribution out = Attribute(build.trace(), kernel_names::RuleSet());
  const ModuleTree& tree = out.modules;
  ASSERT_EQ(tree.modules.size(), 3U);
  EXPECT_EQ(tree.Path(ModuleId(1), build.trace()), "model.layers.0");
  EXPECT_EQ(tree.ClassOf(ModuleId(1), build.trace()), "Layer");
  EXPECT_EQ(tree.modules[1].calls, 1);
  EXPECT_EQ(tree.modules[1].cpu_ns, 50);
  EXPECT_EQ(tree.modules[1].cpu_self_ns, 50 - 30);
  EXPECT_EQ(build.trace().strings[tree.modules[2].name], "mlp");
}

}  // namespace
}  // namespace layerscope::attribution
