#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "src/base/result.h"
#include "src/base/stage_clock.h"
#include "src/session/documents.h"
#include "src/session/option.h"
#include "src/session/registry.h"
#include "src/session/session.h"

namespace layerscope::session {

/// The inputs of one run, read and attributed once, on which every analysis can be computed again
/// and again, by several threads at a time. An answer is what the command line would print for the
/// same inputs and options: whatever the options say of where layers are sought, the run is refined
/// for it from the same columns, and the last few such refinements are kept.
class OpenedRun {
 public:
  /// `given` are the options that hold for every question, of ViewOptions() (view_source.h): model,
  /// side files, rules, place. Errors are those of the verbs.
  static base::Result<std::unique_ptr<OpenedRun>> Open(std::vector<std::string> inputs,
                                                       RawOptions given, const Hooks& hooks,
                                                       base::StageClock& clock);
  ~OpenedRun();
  OpenedRun(const OpenedRun&) = delete;
  OpenedRun& operator=(const OpenedRun&) = delete;

  /// The envelope of `layerscope VERB INPUTS --given… --asked… --format json`. kUsage for an option
  /// that the verb does not have, or that only the command line may give.
  base::Result<std::string> AnalysisJson(const AnalysisSpec& spec, const RawOptions& asked) const;
  /// The document that the verb writes to standard output; it must be of one JSON value.
  base::Result<std::string> DocumentJson(const DocumentSpec& spec) const;
  /// What `layerscope summary` says of the run: its health and, under --strict, the verdict. Not
  /// while others may refine the run: its tables view the columns.
  base::Result<Outcome> Summarise() const;

  /// Calls `use` with what an analysis sees, while nobody refines the run. Its results must not
  /// outlive the call.
  template <typename Use>
  auto WithInput(Use use) const {
    const std::shared_lock<std::shared_mutex> lock(columns_);
    const std::vector<analysis::RankInput> ranks = base_->Inputs();
    return use(base_->Input(ranks));
  }
  const LoadedRun& run() const { return *base_; }
  const std::vector<std::string>& inputs() const { return inputs_; }
  /// How often it was refined for a question so far: what costs time.
  int64_t n_refinements() const { return n_refinements_; }

 private:
  /// What tells one refinement of the run from another.
  struct Refinement {
    bool resolves_modules = false;
    bool has_layers = false;
    RawOptions context;  ///< options that say where and how layers are sought
    friend bool operator==(const Refinement&, const Refinement&) = default;
  };
  using Run = std::shared_ptr<const LoadedRun>;
  using Pending = std::shared_future<base::Result<Run>>;

  OpenedRun(std::vector<std::string> inputs, RawOptions given, const Hooks& hooks);
  base::Status Load(base::StageClock& clock);
  base::Status AttributeWithoutModel();
  base::Result<OptionValues> ValuesOf(const AnalysisSpec& spec, const RawOptions& asked) const;
  Refinement RefinementOf(const AnalysisSpec& spec, const OptionValues& values,
                          const RawOptions& asked) const;
  base::Result<Run> RunFor(const AnalysisSpec& spec, const OptionValues& values,
                           const RawOptions& asked) const;
  base::Result<Run> Make(const Refinement& refinement, const OptionValues& values) const;
  base::Result<Run> Refine(const Refinement& refinement, const OptionValues& values) const;
  RawOptions ContextOf(const RawOptions& options) const;
  void Forget(const Refinement& refinement) const;
  Run ViewOf(const Refinement& refinement) const;

  std::vector<std::string> inputs_;
  RawOptions given_;
  Hooks hooks_;
  LoadOptions load_options_;
  std::vector<InputFile> files_;
  Run base_;                 ///< resolved, with layers where they can be sought
  Run without_model_;        ///< as verbs see it that know nothing of the model
  RawOptions base_context_;  ///< of `given_`
  bool has_replays_ = false;
  size_t n_process_ranks_ = 0;  ///< ranks that --rank chooses inside of a file

  /// Held shared while columns are read, exclusively while a refinement adds strings to them.
  mutable std::shared_mutex columns_;
  mutable std::atomic<int64_t> n_refinements_{0};
  mutable std::mutex refined_mutex_;  ///< of refined_, and of nothing that takes long
  /// The last used first, those that are being made among them: each is made once.
  mutable std::list<std::pair<Refinement, Pending>> refined_;
};

}  // namespace layerscope::session
