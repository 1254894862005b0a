#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/base/stage_clock.h"
#include "src/document/workload/input.h"
#include "src/session/opened_run.h"
#include "src/session/option.h"
#include "src/session/session.h"
#include "src/session/view_inputs.h"

namespace layerscope::session {

/// What the viewer is to show.
struct ViewRequest {
  std::vector<std::string> inputs;
  std::vector<std::string> bench;                ///< --bench
  std::optional<std::string> prometheus;         ///< --prometheus
  std::optional<std::string> prometheus_before;  ///< --prometheus-before
  std::optional<int64_t> run;                    ///< --run: the benchmark's, of several
  /// Options that hold for every figure, of ViewOptions() and the common ones.
  RawOptions given;
};

/// The options of `view` and `report` that say what is shown: place, model, side files, workload.
std::vector<OptionSpec> ViewOptions();

/// Every file that it names, inputs first: no output may replace one.
std::vector<std::string> FilesOf(const ViewRequest& request);

/// The request that a command line of these options makes.
ViewRequest ViewRequestOf(std::vector<std::string> inputs, const RawOptions& raw);

/// Something that a one-file report holds only in part.
struct ViewCut {
  std::string what;
  int64_t kept = 0;
  int64_t of = 0;
  std::string why;
};

/// Where the viewer's figures come from: JSON texts, each the one that the command line prints.
/// Everything that must be read is read by Open; several threads may ask at a time.
class ViewSource {
 public:
  /// Errors are those of the verbs; a document that was given is checked to be JSON.
  static base::Result<std::unique_ptr<ViewSource>> Open(const ViewRequest& request,
                                                        const Hooks& hooks,
                                                        base::StageClock& clock);

  /// `layerscope/view/1`: what can be asked for. `live`: by a server.
  std::string IndexJson(bool live, const std::vector<ViewCut>& cuts) const;
  /// kNotFound for a verb that does not exist or cannot be had of these inputs, however it is
  /// asked.
  base::Status CheckAnalysis(std::string_view verb) const;
  /// The same of a document; kUsage for what cannot be asked of any (Document).
  base::Status CheckDocument(std::string_view name, const RawOptions& asked) const;
  /// An envelope. Errors are also those of CheckAnalysis.
  base::Result<std::string> Analysis(std::string_view verb, const RawOptions& asked) const;
  /// A document by name. `asked`: of a workload of several runs `run` says whose requests it holds;
  /// nothing else can be asked for. Errors are also those of CheckDocument.
  base::Result<std::string> Document(std::string_view name, const RawOptions& asked = {}) const;

  std::vector<std::string> analyses() const;
  std::vector<std::string> documents() const;
  /// Null when the inputs hold no run.
  const OpenedRun* run() const { return run_.get(); }
  const std::string& title() const { return title_; }

 private:
  base::Status LoadDocuments();
  base::Status LoadRequests(const RawOptions& given, const Hooks& hooks, base::StageClock& clock);
  base::Status LoadWorkload(const ViewRequest& request);
  base::Result<std::string> WorkloadOfRun(const std::string& run) const;
  base::Result<std::string> WorkloadText(const document::WorkloadInput& workload,
                                         const document::WorkloadChoice& choice) const;
  base::Result<std::string> SmallWorkloadText(const document::WorkloadInput& workload,
                                              std::optional<size_t> run) const;

  ViewInputs inputs_;
  std::vector<std::string> workload_by_option_;  ///< files of --bench and of both --prometheus
  std::string title_;
  std::unique_ptr<OpenedRun> run_;
  std::optional<document::WorkloadInput> workload_;            ///< of several runs, to show others
  std::map<std::string, std::string, std::less<>> documents_;  ///< made or read when it was opened
};

}  // namespace layerscope::session
