#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/analysis/coverage.h"
#include "src/analysis/device_rows.h"
#include "src/analysis/idle_causes.h"
#include "src/analysis/kernels.h"
#include "src/analysis/launch_counts.h"
#include "src/analysis/module_nodes.h"
#include "src/analysis/run_ranks.h"
#include "src/analysis/step_rows.h"
#include "src/analysis/summary_layers.h"
#include "src/analysis/workload_guess.h"

namespace layerscope::analysis {

/// Busy, idle, span and sum over the devices of a selection.
struct GpuTimes {
  int64_t busy_ns = 0;
  int64_t span_ns = 0;
  int64_t sum_ns = 0;
  int64_t idle_ns() const { return span_ns - busy_ns; }
};

struct CountRange {
  int64_t low = 0;
  int64_t high = 0;
};

/// The steps of one phase. Walls are of the steps that launched something; the median one is the
/// lower of the two in the middle of an even number.
struct PhaseRow {
  std::string phase;                                  ///< empty = unknown
  int64_t n = 0;                                      ///< a step on several devices counts on each
  std::map<LabelValue, std::set<uint32_t>> steps_of;  ///< by pid
  std::optional<int64_t> median_wall_ns;
  std::optional<int64_t> median_ns_per_token;
  std::vector<int64_t> ns_per_token;  ///< sorted
  int64_t busy_ns = 0;
  int64_t wall_ns = 0;
  std::vector<int64_t> walls_ns;  ///< sorted
  /// Of the step with the median wall: the part of it in which the device runs something.
  std::optional<int64_t> median_busy_ppm;
  std::optional<int64_t> requests;  ///< of the step with the median wall
  std::optional<int64_t> tokens;
  /// The least and the most over the steps that launched something.
  std::optional<CountRange> requests_range;
  std::optional<CountRange> tokens_range;
};

/// What the page is made of: computed once, read by its blocks, its data and its advice.
struct SummaryFacts {
  Guess engine;
  Guess model;
  std::string config;  ///< the config's name of the model; empty without a config
  std::string layers;
  /// Of the like siblings with the most time how paths go on before their numbers: "Layer_",
  /// "layers."; empty: none are numbered.
  std::string layer_prefix;
  std::string gpu_name;
  RunRanks ranks;
  std::vector<DeviceRow> devices;
  GpuTimes gpu;
  LaunchCounts launches;
  std::string graph_banner;
  GraphShare graphs;
  ModuleNodes tree;
  std::vector<ModuleNode> top_modules;
  std::vector<KernelRow> categories;
  std::vector<KernelRow> kernels;
  int64_t other_ns = 0;
  std::string other;
  std::string compiled;  ///< what ran in code of torch.compile; empty: nothing
  StepRows steps;
  std::vector<PhaseRow> phases;
  /// kCut: idle, busy shares and times per token of the selection mean nothing.
  StepScope scope = StepScope::kWhole;
  /// Absent for a CPU-only trace, and where the selection leaves out what fills the gaps.
  std::optional<IdleReport> idle;
  /// Absent where layers are not known, or the selection cuts through them.
  std::optional<SummaryLayers> pass_layers;
};

SummaryFacts CollectSummary(const AnalysisInput& input, const RankView& view,
                            const Selection& selection = {});

}  // namespace layerscope::analysis
