#include "src/attribution/captured_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/support/trace_builder.h"

namespace layerscope::attribution {
namespace {

using tests::TraceBuilder;

/// Calls that ran and calls that recorded of the module of this name.
std::pair<int64_t, int64_t> CallsOf(trace::Trace& trace, std::string_view name) {
  const Attribution out = Attribute(trace, kernel_names::RuleSet());
  for (const Module& module : out.modules.modules) {
    if (trace.strings[module.name] == name) return {module.calls, module.captured_calls};
  }
  return {-1, -1};
}

/// A warm-up run, then the same call while its stream captures: `Linear_0` launches, `Dropout_0`
/// does not. The runner holds both calls.
void WarmUpAndCapture(TraceBuilder& build) {
  const auto main = build.Thread(1, 1);
  build.Scope(main, "Runner_0", 0, 1000);
  for (const int64_t at : {100, 500}) {
    build.Scope(main, "Model_0", at, 200);
    build.Scope(main, "Linear_0", at + 20, 20);
    build.Scope(main, "Dropout_0", at + 60, 20);
  }
  build.Call(main, "cudaLaunchKernel", 125, 1);
  build.Kernel("gemm", 2000, 10, 1);
  build.Call(main, "cudaStreamBeginCapture", 400, 2);
  build.Call(main, "cudaLaunchKernel", 525, 3);
  build.Call(main, "cudaStreamEndCapture", 800, 4);
}

TEST(CapturedCalls, AreToldFromCallsThatRan) {
  TraceBuilder build;
  WarmUpAndCapture(build);
  trace::Trace trace = std::move(build).Build();
  EXPECT_EQ(CallsOf(trace, "Runner_0"), std::pair(int64_t{1}, int64_t{0})) << "it holds the run";
  EXPECT_EQ(CallsOf(trace, "Model_0"), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(CallsOf(trace, "Linear_0"), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(CallsOf(trace, "Dropout_0"), std::pair(int64_t{1}, int64_t{1}))
      << "inside a call that recorded";
}

TEST(CapturedCalls, OfATraceInWhichNothingRanAreTheCalls) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "Model_0", 100, 200);
  build.Call(main, "cudaStreamBeginCapture", 50, 1);
  build.Call(main, "cudaLaunchKernel", 120, 2);
  build.Call(main, "cudaStreamEndCapture", 400, 3);
  EXPECT_EQ(CallsOf(build.trace(), "Model_0"), std::pair(int64_t{1}, int64_t{0}));
}

TEST(CapturedCalls, ACallThatLaunchesNothingOutsideOfCapturesIsACall) {
  TraceBuilder build;
  WarmUpAndCapture(build);
  build.Scope(build.Thread(1, 1), "Sampler_0", 900, 20);
  build.Scope(build.Thread(1, 2), "Linear_0", 520, 20);  // another thread captures nothing
  trace::Trace trace = std::move(build).Build();
  EXPECT_EQ(CallsOf(trace, "Sampler_0"), std::pair(int64_t{1}, int64_t{0}));
}

}  // namespace
}  // namespace layerscope::attribution
