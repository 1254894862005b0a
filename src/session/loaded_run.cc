#include "src/session/loaded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <new>

#include "src/analysis/process_ranks.h"
#include "src/base/format_number.h"
#include "src/layers/find_layers.h"
#include "src/model/rules.h"
#include "src/session/parallel.h"
#include "src/session/read_input.h"
#include "src/session/resolve_modules.h"
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

/// Runs `work`; what it throws (memory, the standard library) becomes an error.
template <typename Work>
std::optional<base::Error> Guarded(Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return base::Error{base::ErrorCode::kFailed, "not enough memory",
                       "read fewer ranks at a time, or a smaller part of the trace"};
  } catch (const std::exception& error) {
    return base::Error{base::ErrorCode::kFailed, error.what(), {}};
  }
}

/// Runs `work` on every file; the error of the first file in order wins, with its name in front.
template <typename Work>
base::Status ForEachFile(const std::vector<InputFile>& files, int threads, Work work) {
  std::vector<std::optional<base::Error>> errors(files.size());
  ForEachInParallel(files.size(), threads,
                    [&](size_t i) { errors[i] = Guarded([&] { return work(i); }); });
  for (size_t i = 0; i < files.size(); ++i) {
    if (!errors[i]) continue;
    if (files.size() == 1 && errors[i]->message.find(files[i].path) != std::string::npos) {
      return *std::move(errors[i]);
    }
    const std::string name = files[i].path == "-" ? "standard input" : files[i].path;
    return (*std::move(errors[i])).WithContext("reading " + name);
  }
  return {};
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
    run.unreadable.push_back(
        {"unreadable_input", table::Severity::kDataLoss, 1,
         fmt::format("{} was left out: {}.", files[i].path, failures[i]->message)});
  }
  if (run.unreadable.size() == files.size()) {
    return (*std::move(failures.front())).WithContext("reading " + files.front().path);
  }
  std::erase_if(run.ranks, [](const LoadedRank& rank) { return rank.trace == nullptr; });
  return {};
}

/// One clock for all files of one run.
void Rebase(LoadedRun& run) {
  int64_t zero_ns = std::numeric_limits<int64_t>::max();
  for (LoadedRank& rank : run.ranks) {
    rank.t0_ns = rank.trace->zero_ns;
    rank.span_ns = rank.trace->end_ns;
    zero_ns = std::min(zero_ns, rank.t0_ns);
  }
  for (LoadedRank& rank : run.ranks) {
    rank.trace->Rebase(run.input_set == InputSet::kRuns ? rank.t0_ns : zero_ns);
  }
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
    rank.trace = std::make_unique<trace::Trace>(*std::move(trace));
    rank.rank = rank.trace->metadata.rank ? rank.trace->metadata.rank : files[i].rank_from_name;
    rank.bytes_read = progress.done(i);
    return std::nullopt;
  };
  if (base::Status done = ForEachFile(files, options.threads, read); !done.ok()) return done;
  if (Stopped(options)) return {};
  return LeaveOutUnreadable(files, std::move(failures), run);
}

/// Runs `work(i)` for every rank, one thread a rank.
template <typename Work>
base::Status ForEachRank(const LoadedRun& run, const LoadOptions& options, Work work) {
  std::vector<InputFile> files;
  for (const LoadedRank& rank : run.ranks) files.push_back({rank.path, {}, -1, false});
  return ForEachFile(files, options.threads, work);
}

/// The pid that --rank means in a file that numbers several processes as ranks (CLI.md).
std::optional<std::string> PidOfRank(const LoadedRank& rank, std::optional<int64_t> wanted) {
  if (!wanted || rank.rank) return std::nullopt;
  analysis::RankInput input;
  input.trace = rank.trace.get();
  const analysis::ProcessRanks ranks = analysis::RanksOfProcesses(input);
  if (!ranks.many()) return std::nullopt;
  for (const trace::ProcessId host : ranks.hosts) {
    if (ranks.rank_of[host.index()] != wanted) continue;
    return rank.trace->LabelText(rank.trace->processes[host.index()].pid);
  }
  return std::nullopt;
}

base::Result<layers::LayerStructure> LayersOf(const LoadedRun& run, const LoadedRank& rank) {
  layers::LayerOptions options = run.model.options;
  if (!options.pid) options.pid = PidOfRank(rank, run.model.rank);
  return layers::FindLayers(*rank.trace, *rank.attribution, options);
}

std::optional<base::Error> FindLayersOf(const LoadedRun& run, LoadedRank& rank) {
  base::Result<layers::LayerStructure> found = LayersOf(run, rank);
  if (!found.ok()) {
    rank.no_layers = std::move(found).error();
    return std::nullopt;
  }
  rank.layers = std::make_unique<layers::LayerStructure>(*std::move(found));
  return std::nullopt;
}

/// Layers may give replayed kernels their modules: those of a resolved layer, or the config's.
bool MayUseTemplates(const LoadedRun& run, const LoadedRank& rank, const SideFileSet& set) {
  if (run.model.config != nullptr || rank.trace->scopes.size() > 0) return true;
  return !set.captures.empty() || !set.eager.empty() || !set.annotations.empty();
}

/// Resolves one rank's replays and names its modules. Layers that are sought for this alone stay
/// out of the result: the verb did not ask for them.
std::optional<base::Error> ResolveRank(const LoadedRun& run, SideFiles& files, LoadedRank& rank) {
  const bool has_replays = HasReplays(*rank.attribution);
  const SideFileSet set = files.Of(rank.path, rank.rank);
  const layers::LayerStructure* layers = rank.layers.get();
  std::optional<layers::LayerStructure> own;
  if (has_replays && layers == nullptr && !rank.no_layers && MayUseTemplates(run, rank, set)) {
    base::Result<layers::LayerStructure> found = LayersOf(run, rank);
    if (found.ok()) layers = &own.emplace(*std::move(found));
  }
  return ResolveModules(rank, set, layers, run.model.config.get(), files);
}

/// Side traces are read one at a time, with the threads that the ranks leave.
SideFiles::ReadTrace SideReader(const LoadOptions& options, size_t n_ranks) {
  return [&options, n_ranks](const SideFilePath& file) -> base::Result<trace::Trace> {
    const InputFile input{file.path, file.rank, file.bytes, false};
    LoadOptions quiet = options;
    quiet.progress = nullptr;
    ProgressSum progress({input}, quiet);
    return ReadFile(input, 0, n_ranks > 1 ? 1 : options.threads, quiet, progress);
  };
}

/// What --inductor-debug names.
base::Status LoadInductor(const LoadOptions& options, LoadedRun& run) {
  if (options.inductor_debug.empty()) return {};
  base::Result<model::InductorProvenance> loaded =
      model::LoadInductorProvenance(options.inductor_debug);
  if (!loaded.ok()) return std::move(loaded).error().WithContext("--inductor-debug");
  run.inductor = std::make_unique<const model::InductorProvenance>(*std::move(loaded));
  return {};
}

base::Status ResolveAll(const LoadOptions& options, SideFiles& files, LoadedRun& run,
                        base::StageClock& clock) {
  clock.Start("replay");
  std::vector<std::optional<base::Error>> errors(run.ranks.size());
  ForEachInParallel(run.ranks.size(), options.threads, [&](size_t i) {
    errors[i] = Guarded([&] { return ResolveRank(run, files, run.ranks[i]); });
  });
  // They are about a side file, and name it.
  for (std::optional<base::Error>& error : errors) {
    if (error) return *std::move(error);
  }
  return {};
}

}  // namespace

std::vector<analysis::RankInput> LoadedRun::Inputs() const {
  std::vector<analysis::RankInput> inputs;
  for (const LoadedRank& rank : ranks) {
    inputs.push_back({rank.trace.get(), rank.attribution.get(), rank.layers.get(), rank.no_layers,
                      rank.rank, rank.path, inductor.get(), rank.files_beside, rank.model_tree});
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
  run.rules = std::make_unique<kernel_names::RuleSet>(*std::move(rules));
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
  clock.Start("attribute");
  const auto attribute = [&](size_t i) -> std::optional<base::Error> {
    run.ranks[i].attribution = std::make_unique<attribution::Attribution>(
        attribution::Attribute(*run.ranks[i].trace, *run.rules));
    return std::nullopt;
  };
  if (base::Status done = ForEachRank(run, options, attribute); !done.ok()) {
    return std::move(done).error();
  }
  if (options.layers != LayerNeed::kNever) {
    clock.Start("layers");
    const auto find = [&](size_t i) { return FindLayersOf(run, run.ranks[i]); };
    if (base::Status done = ForEachRank(run, options, find); !done.ok()) {
      return std::move(done).error();
    }
  }
  if (options.side_files) {
    base::Status resolved = ResolveAll(options, side_files, run, clock);
    if (!resolved.ok()) return std::move(resolved).error();
  }
  clock.Stop();
  if (Stopped(options)) return base::Interrupted();
  return run;
}

}  // namespace layerscope::session
