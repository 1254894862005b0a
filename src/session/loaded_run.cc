#include "src/session/loaded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "src/analysis/rank_view.h"
#include "src/base/format_number.h"
#include "src/model/rules.h"
#include "src/session/each_file.h"
#include "src/session/read_input.h"
#include "src/session/recording_notes.h"
#include "src/session/refine_run.h"
#include "src/session/side_files.h"

namespace layerscope::session {
namespace {

/// Adds up the progress of several files and passes it on, one call at a time.
class ProgressSum {
 public:
  ProgressSum(const std::vector<InputFile>& files, const LoadOptions& options)
      : options_(options), done_(files.size(), 0) {
    for (const InputFile& file : files) {
      if (file.bytes < 0) total_ = -1;
      if (total_ >= 0) total_ += file.bytes;
    }
  }
  void Report(size_t file, int64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sum_ += bytes - done_[file];
    done_[file] = bytes;
    if (options_.progress) options_.progress(sum_, total_);
  }
  int64_t done(size_t file) const { return done_[file]; }

 private:
  const LoadOptions& options_;
  std::mutex mutex_;
  std::vector<int64_t> done_;
  int64_t sum_ = 0;
  int64_t total_ = 0;
};

base::Result<trace::Trace> ReadFile(const InputFile& file, size_t index, int threads,
                                    const LoadOptions& options, ProgressSum& progress) {
  ReadInputOptions read;
  read.threads = threads;
  read.chunk_bytes = options.chunk_bytes;
  read.stop = options.stop;
  read.progress = [&progress, index](int64_t bytes) { progress.Report(index, bytes); };
  return ReadInput(file, read);
}

base::Status CheckMemory(const std::vector<InputFile>& files, const LoadOptions& options) {
  if (!options.memory_limit) return {};
  const int64_t needed = EstimateMemory(files);
  if (needed <= *options.memory_limit) return {};
  return base::Error{
      base::ErrorCode::kFailed,
      fmt::format("reading {} would need about {}, more than the limit of {}",
                  files.size() == 1 ? files.front().path : fmt::format("{} files", files.size()),
                  base::FormatBytes(needed), base::FormatBytes(*options.memory_limit)),
      files.size() > 1 ? "name fewer ranks, or raise --memory-limit" : "raise --memory-limit"};
}

/// Takes the files that `failures` names out of the run; the first failure when none is left.
base::Status LeaveOutUnreadable(const std::vector<InputFile>& files,
                                std::vector<std::optional<base::Error>> failures, LoadedRun& run) {
  for (size_t i = 0; i < files.size(); ++i) {
    if (!failures[i]) continue;
    run.health.push_back(
        {"unreadable_input", table::Severity::kDataLoss, 1,
         fmt::format("{} was left out: {}.", files[i].path, failures[i]->message)});
  }
  if (run.health.size() == files.size()) {
    return (*std::move(failures.front())).WithContext("reading " + files.front().path);
  }
  std::erase_if(run.ranks, [](const LoadedRank& rank) { return rank.trace == nullptr; });
  return {};
}

/// Longer than any recording: zeros further apart are of different clocks (one file's since the
/// host started, or since its session began).
constexpr uint64_t kMaxClockDistanceNs = uint64_t{24} * 3600 * 1'000'000'000;

/// One zero for all ranks; each its own where they are of different clocks, which is said.
void Rebase(LoadedRun& run) {
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  for (LoadedRank& rank : run.ranks) {
    rank.t0_ns = rank.trace->zero_ns;
    rank.span_ns = rank.trace->end_ns;
    first_ns = std::min(first_ns, rank.t0_ns);
    last_ns = std::max(last_ns, rank.t0_ns);
  }
  if (run.input_set == InputSet::kRuns || run.ranks.empty()) return;
  const uint64_t distance_ns = static_cast<uint64_t>(last_ns) - static_cast<uint64_t>(first_ns);
  if (distance_ns > kMaxClockDistanceNs) {
    run.health.push_back(
        {"clocks_differ", table::Severity::kWarning, 1,
         "The files begin more than a day apart, so their clocks are not the same one: the times "
         "of each are relative to its own first event, and ranks cannot be compared in time."});
    return;
  }
  for (const LoadedRank& rank : run.ranks) rank.trace->Rebase(first_ns);
}

bool Stopped(const LoadOptions& options) {
  return options.stop != nullptr && options.stop->requested();
}

/// Reads every file into its rank; those that may be missing and cannot be read are left out.
base::Status ReadAll(const std::vector<InputFile>& files, const LoadOptions& options,
                     LoadedRun& run) {
  run.ranks.resize(files.size());
  ProgressSum progress(files, options);
  const int threads_a_file = files.size() > 1 ? 1 : options.threads;
  std::vector<std::optional<base::Error>> failures(files.size());
  const auto read = [&](size_t i) -> std::optional<base::Error> {
    base::Result<trace::Trace> trace = ReadFile(files[i], i, threads_a_file, options, progress);
    if (!trace.ok()) {
      const bool may_miss = files.size() > 1 && files[i].from_directory &&
                            trace.error().code == base::ErrorCode::kInvalidInput;
      if (!may_miss) return std::move(trace).error();
      failures[i] = std::move(trace).error();
      return std::nullopt;
    }
    LoadedRank& rank = run.ranks[i];
    rank.path = files[i].path;
    rank.trace = std::make_shared<trace::Trace>(*std::move(trace));
    rank.rank = rank.trace->metadata.rank ? rank.trace->metadata.rank : files[i].rank_from_name;
    rank.recording = files[i].recording;
    rank.bytes_read = progress.done(i);
    return std::nullopt;
  };
  if (base::Status done = ForEachFile(files, options.threads, read); !done.ok()) return done;
  if (Stopped(options)) return {};
  return LeaveOutUnreadable(files, std::move(failures), run);
}

void KeepUnresolved(LoadedRun& run) {
  for (LoadedRank& rank : run.ranks) {
    rank.unresolved = std::make_shared<const attribution::Attribution>(*rank.attribution);
  }
}

/// What --inductor-debug names.
base::Status LoadInductor(const LoadOptions& options, LoadedRun& run) {
  if (options.inductor_debug.empty()) return {};
  base::Result<model::InductorProvenance> loaded =
      model::LoadInductorProvenance(options.inductor_debug);
  if (!loaded.ok()) return std::move(loaded).error().WithContext("--inductor-debug");
  run.inductor = std::make_shared<const model::InductorProvenance>(*std::move(loaded));
  return {};
}

}  // namespace

std::vector<analysis::RankInput> LoadedRun::Inputs() const {
  std::vector<analysis::RankInput> inputs;
  int64_t first_unmarked = 0;
  for (const LoadedRank& rank : ranks) {
    if (input_set == InputSet::kRuns) break;
    first_unmarked = std::max(first_unmarked, analysis::FirstUnmarkedStep(*rank.attribution));
  }
  for (const LoadedRank& rank : ranks) {
    inputs.push_back({rank.trace.get(), rank.attribution.get(), rank.layers.get(), rank.no_layers,
                      rank.rank, rank.path, inductor.get(), rank.files_beside, rank.model_tree,
                      rank.recording, first_unmarked});
  }
  return inputs;
}

analysis::AnalysisInput LoadedRun::Input(const std::vector<analysis::RankInput>& inputs) const {
  return {inputs, rules.get(), model.config.get(), model.profile.get(), model.parallel};
}

std::vector<table::InputInfo> LoadedRun::Infos() const {
  std::vector<table::InputInfo> infos;
  for (const LoadedRank& rank : ranks) {
    infos.push_back({rank.path, std::string(trace::ToString(rank.trace->format)), rank.rank,
                     rank.t0_ns, rank.span_ns});
  }
  return infos;
}

base::Result<LoadedRun> LoadRun(const std::vector<InputFile>& files, LayerContext model,
                                const LoadOptions& options, base::StageClock& clock) {
  if (base::Status enough = CheckMemory(files, options); !enough.ok()) {
    return std::move(enough).error();
  }
  LoadedRun run;
  run.input_set = options.input_set;
  run.model = std::move(model);
  base::Result<kernel_names::RuleSet> rules =
      model::LoadRuleSet(options.rules_path, run.model.profile.get());
  if (!rules.ok()) return std::move(rules).error();
  run.rules = std::make_shared<const kernel_names::RuleSet>(*std::move(rules));
  std::optional<int64_t> memory_left = options.memory_limit;
  if (memory_left) *memory_left -= EstimateMemory(files);
  SideFiles side_files(SideReader(options, files.size()), *run.rules, memory_left);
  if (options.side_files) {
    base::Status named = side_files.Name(*options.side_files);
    if (!named.ok()) return std::move(named).error();
  }
  if (base::Status loaded = LoadInductor(options, run); !loaded.ok()) {
    return std::move(loaded).error();
  }
  clock.Start("read");
  if (base::Status read = ReadAll(files, options, run); !read.ok()) return std::move(read).error();
  if (Stopped(options)) return base::Interrupted();
  Rebase(run);
  NoteFolders(files, run);
  clock.Start("attribute");
  const auto attribute = [&](size_t i) -> std::optional<base::Error> {
    run.ranks[i].attribution = std::make_shared<attribution::Attribution>(
        attribution::Attribute(*run.ranks[i].trace, *run.rules));
    return std::nullopt;
  };
  if (base::Status done = ForEachRank(run, options, attribute); !done.ok()) {
    return std::move(done).error();
  }
  if (options.layers != LayerNeed::kNever) {
    clock.Start("layers");
    if (base::Status done = FindRunLayers(options, run); !done.ok()) {
      return std::move(done).error();
    }
  }
  if (options.keep_unresolved) KeepUnresolved(run);
  if (options.side_files) {
    clock.Start("replay");
    base::Status resolved = ResolveRunModules(options, side_files, run);
    if (!resolved.ok()) return std::move(resolved).error();
  }
  clock.Stop();
  if (Stopped(options)) return base::Interrupted();
  NoteRecordings(run);
  return run;
}

}  // namespace layerscope::session
