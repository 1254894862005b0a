#include "src/document/nested_runs.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::document {
namespace {

/// "level:key[start,end) kernels sum", one a run.
std::vector<std::string> Texts(const std::vector<Run>& runs) {
  std::vector<std::string> texts;
  for (const Run& run : runs) {
    texts.push_back(std::to_string(run.level) + ":" + std::to_string(run.key) + "[" +
                    std::to_string(run.start_ns) + "," + std::to_string(run.end_ns) + ") " +
                    std::to_string(run.n_kernels) + " " + std::to_string(run.sum_ns));
  }
  return texts;
}

using Path = std::vector<uint32_t>;
using Expected = std::vector<std::string>;

TEST(NestedRuns, ARunHoldsWhatFollowsWithTheSameKeys) {
  NestedRuns runs;
  runs.Add({0, 0, 10, true}, Path{1, 5});
  runs.Add({0, 10, 5, true}, Path{1, 5});
  runs.Add({0, 20, 5, false}, Path{1, 6});
  EXPECT_EQ(Texts(std::move(runs).Finish()),
            (Expected{"0:1[0,25) 2 15", "1:5[0,15) 2 15", "1:6[20,25) 0 0"}));
}

TEST(NestedRuns, AnEarlyStartCutsTheRunBefore) {
  NestedRuns runs;
  runs.Add({0, 0, 100, true}, Path{1, 5});
  runs.Add({0, 40, 10, true}, Path{1, 6});
  runs.Add({0, 45, 10, true}, Path{2, 7});
  // Pass 1 and layer 6 end where pass 2 begins, though the first kernel runs to 100.
  EXPECT_EQ(Texts(std::move(runs).Finish()),
            (Expected{"0:1[0,45) 2 110", "1:5[0,40) 1 100", "1:6[40,45) 1 10", "0:2[45,55) 1 10",
                      "1:7[45,55) 1 10"}));
}

TEST(NestedRuns, AlternatingKeysGiveAStretchEach) {
  NestedRuns runs;
  for (uint32_t i = 0; i < 4; ++i) runs.Add({0, i * 10, 10, true}, Path{i % 2});
  EXPECT_EQ(Texts(std::move(runs).Finish()),
            (Expected{"0:0[0,10) 1 10", "0:1[10,20) 1 10", "0:0[20,30) 1 10", "0:1[30,40) 1 10"}));
}

TEST(NestedRuns, AnInterruptionEndsInnerRunsOnly) {
  NestedRuns runs;
  runs.Add({0, 0, 10, true}, Path{1, 5});
  runs.Interrupt(5, 1);
  runs.Add({0, 20, 10, true}, Path{1, 5});
  EXPECT_EQ(Texts(std::move(runs).Finish()),
            (Expected{"0:1[0,30) 2 20", "1:5[0,5) 1 10", "1:5[20,30) 1 10"}));
}

TEST(NestedRuns, NegativeAndHugeLengthsStayWithinBounds) {
  NestedRuns runs;
  runs.Add({0, 0, -5, true}, Path{1});
  runs.Add({0, 1, INT64_MAX, true}, Path{1});
  runs.Add({0, 2, INT64_MAX, true}, Path{1});
  EXPECT_EQ(Texts(std::move(runs).Finish()),
            (Expected{"0:1[0,9223372036854775807) 3 9223372036854775807"}));
}

}  // namespace
}  // namespace layerscope::document
