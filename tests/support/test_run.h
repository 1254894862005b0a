#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/attribution/attribution.h"
#include "src/kernel_names/rule_set.h"
#include "src/trace/trace.h"

namespace layerscope::analysis {

/// A run of hand-built traces for the tests of this folder: attributed with three rules (`gemm`,
/// `nccl` = communication, `copy`).
class TestRun {
 public:
  explicit TestRun(trace::Trace trace, std::optional<int64_t> rank = std::nullopt)
      : rules_(*kernel_names::RuleSet::Build(
            {{.category = "gemm", .group = "GEMM", .patterns = {"gemm"}},
             {.category = "communication", .group = "NCCL", .patterns = {"nccl"}},
             {.category = "copy", .group = "other", .patterns = {"Memcpy"}}})),
        trace_(std::move(trace)),
        attribution_(attribution::Attribute(trace_, rules_)),
        ranks_{{&trace_, &attribution_, nullptr, std::nullopt, rank, "test.json"}} {}
  TestRun(const TestRun&) = delete;
  TestRun& operator=(const TestRun&) = delete;

  AnalysisInput input() const { return {ranks_, &rules_}; }
  const RankInput& rank() const { return ranks_.front(); }
  const kernel_names::RuleSet& rules() const { return rules_; }
  const trace::Trace& trace() const { return trace_; }

 private:
  kernel_names::RuleSet rules_;
  trace::Trace trace_;
  attribution::Attribution attribution_;
  std::vector<RankInput> ranks_;
};

}  // namespace layerscope::analysis
