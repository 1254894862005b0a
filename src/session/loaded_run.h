#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/attribution/attribution.h"
#include "src/base/result.h"
#include "src/base/stage_clock.h"
#include "src/base/stop_flag.h"
#include "src/kernel_names/rule_set.h"
#include "src/layers/layer_structure.h"
#include "src/model/inductor_provenance.h"
#include "src/session/input_files.h"
#include "src/session/layer_context.h"
#include "src/session/registry.h"
#include "src/session/side_file_search.h"
#include "src/table/result.h"
#include "src/trace/trace.h"

namespace layerscope::session {

/// One file, read and attributed.
struct LoadedRank {
  std::string path;
  std::optional<int64_t> rank;  ///< distributedInfo, else the file's name, else unknown
  std::string recording;        ///< InputFile::recording
  int64_t t0_ns = 0;            ///< the file's own zero, absolute
  int64_t span_ns = 0;          ///< from its own zero to its last end
  int64_t bytes_read = 0;       ///< of the file, compressed
  // Shared: one trace under several options is several runs of the same columns (opened_run.h).
  std::shared_ptr<trace::Trace> trace;
  std::shared_ptr<attribution::Attribution> attribution;
  /// What attribution said before replays were resolved and modules named; null unless
  /// LoadOptions::keep_unresolved.
  std::shared_ptr<const attribution::Attribution> unresolved;
  std::shared_ptr<const layers::LayerStructure>
      layers;                            ///< null where they were not, or could not be, sought
  std::optional<base::Error> no_layers;  ///< why they could not be
  /// Files that lay beside the trace, named by nobody, and were read for its modules.
  std::vector<std::string> files_beside;
  std::string model_tree;  ///< the file that named modules by path; empty: none
  /// A file that the user named and that could not be used for its modules, or one beside it that
  /// cannot be read, with the reason; --strict refuses that.
  std::optional<std::string> unused;
};

/// The files of one run on one clock: times of all are relative to the smallest zero. Or runs of
/// their own, each relative to its own.
struct LoadedRun {
  InputSet input_set = InputSet::kRanks;
  LayerContext model;  ///< what the options say of the model
  std::shared_ptr<const kernel_names::RuleSet> rules;
  std::vector<LoadedRank> ranks;
  /// --inductor-debug; null without.
  std::shared_ptr<const model::InductorProvenance> inductor;
  /// What is to be said of the files together: those of a directory that could not be read at all,
  /// one data_loss entry each (the other ranks are used; a file that the user named is never left
  /// out), and clocks that differ.
  std::vector<table::HealthEntry> health;

  /// Views of the members; they live as long as this.
  std::vector<analysis::RankInput> Inputs() const;
  analysis::AnalysisInput Input(const std::vector<analysis::RankInput>& ranks) const;
  std::vector<table::InputInfo> Infos() const;
};

struct LoadOptions {
  InputSet input_set = InputSet::kRanks;
  std::string inductor_debug;  ///< --inductor-debug; empty = without
  std::string rules_path;      ///< --rules; empty = the profile's and the universal rules alone
  LayerNeed layers = LayerNeed::kNever;
  /// What resolves graph replays and names modules; absent: neither is done.
  std::optional<SideFileOptions> side_files;
  bool keep_unresolved = false;
  int threads = 0;         ///< 0 = one a core
  size_t chunk_bytes = 0;  ///< 0 = the reader's own
  std::optional<int64_t> memory_limit;
  const base::StopFlag* stop = nullptr;
  /// Told the bytes read so far and in all (-1 = unknown); from any thread, one at a time.
  std::function<void(int64_t done, int64_t total)> progress;
};

/// Reads, rebases and attributes all files and finds their layers as far as `options` ask: one
/// thread a file when there are several, else the reader's own threads. Then graph replays are
/// resolved and modules named, where `options` ask. Errors name the file.
/// kFailed when the memory limit would not suffice. A file whose layers cannot be sought is no
/// error here: its rank says why.
base::Result<LoadedRun> LoadRun(const std::vector<InputFile>& files, LayerContext model,
                                const LoadOptions& options, base::StageClock& clock);

}  // namespace layerscope::session
