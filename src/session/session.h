#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/base/stage_clock.h"
#include "src/base/stop_flag.h"
#include "src/session/loaded_run.h"
#include "src/session/registry.h"
#include "src/table/result.h"

namespace layerscope::session {

/// What to run: one analysis over the files that the inputs stand for.
struct Request {
  const AnalysisSpec* analysis = nullptr;
  std::vector<std::string> inputs;
  OptionValues options;  ///< of AllOptions(*analysis)
};

/// What the caller has to say while it runs.
struct Hooks {
  const base::StopFlag* stop = nullptr;
  std::function<void(int64_t done, int64_t total)> progress;
};

/// A result, with the run whose columns its tables view.
struct Outcome {
  std::shared_ptr<const LoadedRun> run;
  table::Result result;
  /// What people see where that is not the result's parts one by one.
  std::optional<table::Result> for_people{};
  /// Why the exit status is not 0 although there is a result: --strict, or an error-level entry.
  std::optional<base::Error> verdict;
};

/// What to read and to find for a request.
LoadOptions LoadOptionsOf(const Request& request, const Hooks& hooks);

/// Opens, reads and attributes the files that the inputs stand for, finds their layers as far as
/// LayerNeedOf says, and resolves graph replays and names modules where the analysis shows any.
/// kUsage when -o names one of the files.
base::Result<std::shared_ptr<const LoadedRun>> OpenRun(const Request& request, const Hooks& hooks,
                                                       base::StageClock& clock);

/// Runs the analysis of a request on a run that was opened for it, or for options that mean the
/// same to it (opened_run.h). Writes to nothing but its outcome, so several may run at once.
/// kFailed when layers are required and could not be sought in a selected rank.
base::Result<Outcome> AnalyseRun(std::shared_ptr<const LoadedRun> run, const Request& request);

/// Opens, reads, attributes and analyses. Nothing is printed.
base::Result<Outcome> RunAnalysis(const Request& request, const Hooks& hooks,
                                  base::StageClock& clock);

}  // namespace layerscope::session
