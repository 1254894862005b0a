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
#include "src/session/input_files.h"
#include "src/table/result.h"
#include "src/trace/trace.h"

namespace layerscope::session {

/// One file, read and attributed.
struct LoadedRank {
  std::string path;
  std::optional<int64_t> rank;  ///< distributedInfo, else the file's name, else unknown
  int64_t t0_ns = 0;            ///< the file's own zero, absolute
  int64_t span_ns = 0;          ///< from its own zero to its last end
  int64_t bytes_read = 0;       ///< of the file, compressed
  std::unique_ptr<trace::Trace> trace;
  std::unique_ptr<attribution::Attribution> attribution;
};

/// The files of one run on one clock: times of all are relative to the smallest zero.
struct LoadedRun {
  std::unique_ptr<kernel_names::RuleSet> rules;
  std::vector<LoadedRank> ranks;
  /// Files of a directory that could not be read at all, one data_loss entry each: the other ranks
  /// are used. A file that the user named is never left out.
  std::vector<table::HealthEntry> unreadable;

  std::vector<analysis::RankInput> Inputs() const;
  std::vector<table::InputInfo> Infos() const;
};

struct LoadOptions {
  std::string rules_path;  ///< --rules; empty = the universal rules alone
  int threads = 0;         ///< 0 = one a core
  size_t chunk_bytes = 0;  ///< 0 = the reader's own
  std::optional<int64_t> memory_limit;
  const base::StopFlag* stop = nullptr;
  /// Told the bytes read so far and in all (-1 = unknown); from any thread, one at a time.
  std::function<void(int64_t done, int64_t total)> progress;
};

/// Reads, rebases and attributes all files: one thread a file when there are several, else the
/// reader's own threads. Errors name the file. kFailed when the memory limit would not suffice.
base::Result<LoadedRun> LoadRun(const std::vector<InputFile>& files, const LoadOptions& options,
                                base::StageClock& clock);

/// Memory that reading `files` is expected to take, in bytes; files of unknown size count nothing.
int64_t EstimateMemory(const std::vector<InputFile>& files);

}  // namespace layerscope::session
