#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/base/result.h"
#include "src/kernel_names/rule_set.h"
#include "src/layers/layer_structure.h"
#include "src/model/inductor_provenance.h"
#include "src/model/model_config.h"
#include "src/model/parallel_layout.h"
#include "src/model/profile.h"
#include "src/table/result.h"
#include "src/trace/trace.h"

namespace layerscope::analysis {

/// One input file: its columns and what attribution says about them. Both must outlive the results,
/// whose tables view them.
struct RankInput {
  const trace::Trace* trace = nullptr;
  const attribution::Attribution* attribution = nullptr;
  /// Passes and layers; null where no verb or option asked for them, or they could not be sought
  /// (`no_layers` says why).
  const layers::LayerStructure* layers = nullptr;
  std::optional<base::Error> no_layers;
  std::optional<int64_t> rank;  ///< from distributedInfo or the file's name; absent = unknown
  std::string path;
  const model::InductorProvenance* inductor = nullptr;  ///< --inductor-debug; null without
  /// Files that were found beside the trace and read for its modules.
  std::vector<std::string> files_beside{};
  std::string model_tree{};  ///< the file that named modules by path; empty: none
  /// The folder of the recording that the file is of, where the run has several, one after the
  /// other; empty: it has one. Lives as long as the trace.
  std::string_view recording{};
  /// Unmarked steps are numbered from here or higher: behind bench_step::N of the run's other
  /// files.
  int64_t first_unmarked_step = 0;
};

/// What every analysis reads. Times of all ranks share one zero.
struct AnalysisInput {
  std::span<const RankInput> ranks;
  const kernel_names::RuleSet* rules = nullptr;
  const model::ModelConfig* config = nullptr;  ///< --config; null without
  const model::Profile* profile = nullptr;     ///< set whenever layers were sought
  model::ParallelLayout parallel{};            ///< of --tp … and --server-args; unknown otherwise
};

/// What an analysis hands back: one entry a selected input file. The session adds command, inputs,
/// options and health.
struct Output {
  std::vector<table::RankResult> ranks;
  std::optional<table::Object> reduced;        ///< over several files, where the analysis reduces
  std::vector<table::HealthEntry> health{};    ///< of the run as a whole, beside that of each input
  std::vector<table::Block> reduced_blocks{};  ///< what people see of `reduced`; empty: all of it
  std::string reduced_title = table::kAllRanks;
};

/// How rows are chosen and ordered for the reader at hand; never what they hold.
struct Presentation {
  bool for_people = true;       ///< table and Markdown; false: JSON and CSV, all rows by default
  std::optional<int64_t> rows;  ///< -n; 0 = all
  std::string sort;             ///< "COL" or "COL:asc"; empty = the analysis' own order
  bool verbose = false;         ///< full names instead of short ones

  /// The number of rows to show: -n, else `people` for people and all (0) for machines.
  int64_t Limit(int64_t people) const { return rows.value_or(for_people ? people : 0); }
};

}  // namespace layerscope::analysis
