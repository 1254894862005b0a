#include "src/session/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "src/base/format_number.h"
#include "src/document/workload/input.h"
#include "src/document/workload/workload_data.h"
#include "src/io/list_directory.h"
#include "src/io/small_file.h"
#include "src/session/file_begin.h"
#include "src/session/input_files.h"
#include "src/session/input_kind.h"
#include "src/workload/benchmark.h"
#include "src/workload/impossible.h"
#include "src/workload/kind.h"
#include "src/workload/metric_difference.h"
#include "src/workload/prometheus_text.h"
#include "src/workload/server_metrics.h"

namespace layerscope::session {
namespace {

using document::WorkloadInput;
using document::WorkloadSource;
using workload::Exposition;
using workload::Kind;

/// 100,000 requests with 200 tokens each are 500 MB.
constexpr size_t kMaxBytes = size_t{2} << 30;
/// The text while it grows, and lists of eight bytes an entry of which the text has two.
constexpr size_t kMemoryPerByte = 8;

std::string NameOf(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

base::Error Wrong(std::string_view option, const std::string& path, const std::string& what) {
  return {base::ErrorCode::kInvalidInput,
          fmt::format("{}{}: this is {}", option, NameOf(path), what),
          std::string(workload::kWhatIsRead)};
}

/// What was read of the files, in the order of the command line.
class WorkloadReader {
 public:
  explicit WorkloadReader(std::optional<int64_t> memory_limit) : memory_left_(memory_limit) {}

  base::Status Read(const WorkloadFiles& files);
  base::Status Choose(const WorkloadOptions& options);
  WorkloadInput Take() { return std::move(input_); }

 private:
  struct Dump {
    size_t source = 0;
    Exposition exposition;
  };

  /// The text of a file, if it is not more than memory allows.
  base::Result<std::string> ReadText(std::string_view option, const std::string& path);
  base::Status ReadPositional(const std::string& path);
  base::Status ReadBench(std::string_view option, const std::string& path, std::string_view text);
  base::Status ReadDump(std::string_view option, const std::string& path, std::string_view text,
                        std::vector<Dump>& dumps);
  base::Status ReadNamedDumps(const WorkloadFiles& files);
  base::Status SetServer();
  size_t AddSource(const std::string& path, std::string_view kind, std::string role);

  std::optional<int64_t> memory_left_;
  WorkloadInput input_;
  std::vector<Dump> found_;  ///< positional dumps
  std::vector<Dump> now_;    ///< --prometheus
  std::vector<Dump> before_;
};

base::Result<std::string> WorkloadReader::ReadText(std::string_view option,
                                                   const std::string& path) {
  size_t most = kMaxBytes;
  std::string what = "a workload";
  const char* hint = "leave out the texts that were generated";
  const auto affordable =
      static_cast<size_t>(std::max<int64_t>(memory_left_.value_or(0), 0)) / kMemoryPerByte;
  const bool is_limited = memory_left_.has_value() && affordable < most;
  if (is_limited) {
    most = affordable;
    what = fmt::format("this --memory-limit, which leaves room for {}",
                       base::FormatBytes(static_cast<int64_t>(affordable)));
    hint = "raise --memory-limit";
  }
  base::Result<std::string> text = io::ReadSmallFile(path, most, what, hint);
  if (text.ok()) {
    if (memory_left_) *memory_left_ -= static_cast<int64_t>(text->size() * kMemoryPerByte);
    text->erase(0, text->size() - workload::WithoutMark(*text).size());
    return text;
  }
  base::Error error = std::move(text).error();
  // As of a trace that needs too much.
  if (is_limited && error.hint == hint) error.code = base::ErrorCode::kFailed;
  if (!option.empty()) error.message.insert(0, option);
  return error;
}

size_t WorkloadReader::AddSource(const std::string& path, std::string_view kind, std::string role) {
  WorkloadSource& source = input_.sources.emplace_back();
  source.path = path;
  source.kind = kind;
  source.role = std::move(role);
  input_.losses.emplace_back();
  return input_.sources.size() - 1;
}

base::Status WorkloadReader::ReadBench(std::string_view option, const std::string& path,
                                       std::string_view text) {
  base::Result<workload::Benchmark> benchmark = workload::ParseBenchmark(text);
  if (!benchmark.ok()) {
    return std::move(benchmark).error().WithContext(fmt::format("{}{}", option, NameOf(path)));
  }
  const size_t index = AddSource(path, workload::ToString(benchmark->kind), "bench");
  WorkloadSource& source = input_.sources[index];
  source.version = benchmark->version;
  source.n_runs = static_cast<int64_t>(benchmark->runs.size());
  input_.losses[index] = std::move(benchmark->losses);
  for (workload::Run& run : benchmark->runs) {
    source.n_requests += static_cast<int64_t>(run.requests.size());
    input_.runs.push_back({index, std::move(run)});
  }
  return {};
}

base::Status WorkloadReader::ReadDump(std::string_view option, const std::string& path,
                                      std::string_view text, std::vector<Dump>& dumps) {
  if (const Kind kind = workload::SniffKind(text); kind != Kind::kPrometheus) {
    if (workload::IsBenchmark(kind)) {
      return base::Error{base::ErrorCode::kInvalidInput,
                         fmt::format("{}{}: this is a benchmark's result ({})", option,
                                     NameOf(path), workload::ToString(kind)),
                         "give it with --bench"};
    }
    return Wrong(option, path, workload::ForeignName(text));
  }
  base::Result<Exposition> exposition = workload::ParseExposition(text);
  if (exposition.ok()) {
    workload::DropImpossible(*exposition);
    // Whose it is, before anything else is made of it.
    base::Result<workload::ServerEngine> server = workload::EngineOf(*exposition);
    if (server.ok()) {
      dumps.push_back({AddSource(path, workload::ToString(Kind::kPrometheus), "server"),
                       *std::move(exposition)});
      WorkloadSource& source = input_.sources.back();
      source.version = server->name;
      if (!server->version.empty()) source.version += " " + server->version;
      return {};
    }
    return std::move(server).error().WithContext(fmt::format("{}{}", option, NameOf(path)));
  }
  return std::move(exposition).error().WithContext(fmt::format("{}{}", option, NameOf(path)));
}

base::Status WorkloadReader::ReadPositional(const std::string& path) {
  base::Result<std::string> text = ReadText({}, path);
  if (!text.ok()) return std::move(text).error();
  if (workload::SniffKind(*text) == Kind::kPrometheus) return ReadDump({}, path, *text, found_);
  return ReadBench({}, path, *text);
}

base::Status WorkloadReader::ReadNamedDumps(const WorkloadFiles& files) {
  const auto read = [&](const std::optional<std::string>& path, std::string_view option,
                        std::vector<Dump>& dumps) -> base::Status {
    if (!path) return {};
    base::Result<std::string> text = ReadText(option, *path);
    if (!text.ok()) return std::move(text).error();
    return ReadDump(option, *path, *text, dumps);
  };
  if (base::Status done = read(files.prometheus, "--prometheus ", now_); !done.ok()) return done;
  return read(files.prometheus_before, "--prometheus-before ", before_);
}

base::Status WorkloadReader::Read(const WorkloadFiles& files) {
  if (files.inputs.empty() && files.bench.empty() && !files.prometheus) {
    if (files.prometheus_before) {
      return base::UsageError("--prometheus-before goes with the dump from after the run",
                              "give that with --prometheus");
    }
    return base::UsageError(
        "no benchmark and no metrics given",
        "name a benchmark's result, or a saved answer of the server's /metrics");
  }
  for (const std::string& path : files.inputs) {
    if (base::Status read = ReadPositional(path); !read.ok()) return read;
  }
  for (const std::string& path : files.bench) {
    base::Result<std::string> text = ReadText("--bench ", path);
    if (!text.ok()) return std::move(text).error();
    if (workload::SniffKind(*text) == Kind::kPrometheus) {
      return base::Error{base::ErrorCode::kInvalidInput,
                         fmt::format("--bench {}: this is a Prometheus dump", NameOf(path)),
                         "give it with --prometheus"};
    }
    if (base::Status read = ReadBench("--bench ", path, *text); !read.ok()) return read;
  }
  if (base::Status read = ReadNamedDumps(files); !read.ok()) return read;
  return SetServer();
}

/// Which dump is from after the run, and which from before it.
base::Status WorkloadReader::SetServer() {
  if (found_.size() > 2 || (!found_.empty() && !now_.empty())) {
    return base::UsageError(
        fmt::format("{} Prometheus dumps are given", found_.size() + now_.size() + before_.size()),
        "give one with --prometheus, and one from before the run with --prometheus-before");
  }
  if (found_.size() == 2 && !before_.empty()) {
    return base::UsageError("three Prometheus dumps are given",
                            "give one with --prometheus and one with --prometheus-before");
  }
  if (found_.size() == 2) {
    const bool in_order = !workload::IsEarlier(found_[1].exposition, found_[0].exposition);
    before_.push_back(std::move(found_[in_order ? 0 : 1]));
    now_.push_back(std::move(found_[in_order ? 1 : 0]));
  } else if (found_.size() == 1) {
    now_.push_back(std::move(found_[0]));
  }
  if (now_.empty()) {
    if (before_.empty()) return {};
    return base::UsageError("--prometheus-before goes with the dump from after the run",
                            "give that with --prometheus");
  }
  Dump& now = now_.front();
  input_.losses[now.source] = now.exposition.losses;
  Exposition exposition = std::move(now.exposition);
  if (!before_.empty()) {
    Dump& before = before_.front();
    input_.sources[before.source].role = "server_before";
    input_.losses[before.source] = std::move(before.exposition.losses);
    before.exposition.losses.clear();
    base::Result<Exposition> between =
        workload::MetricDifference(before.exposition, std::move(exposition));
    if (!between.ok()) {
      return std::move(between).error().WithContext(
          fmt::format("{} and {}", NameOf(input_.sources[before.source].path),
                      NameOf(input_.sources[now.source].path)));
    }
    exposition = *std::move(between);
    input_.losses[now.source] = exposition.losses;
    input_.server_difference = true;
  }
  base::Result<workload::ServerMetrics> server = workload::BuildServerMetrics(exposition);
  if (!server.ok()) return std::move(server).error();
  input_.server = *std::move(server);
  return {};
}

base::Status WorkloadReader::Choose(const WorkloadOptions& options) {
  input_.choice.token_times = options.token_times;
  if (input_.runs.empty()) {
    if (!options.run) return {};
    return base::Error{base::ErrorCode::kNotFound, "no benchmark is given, so there are no runs",
                       "name a benchmark's result"};
  }
  if (options.run) {
    const base::Result<size_t> run = FindRun(input_, *options.run);
    if (!run.ok()) return run.error();
    input_.choice.run = *run;
    return {};
  }
  const auto with_requests =
      std::find_if(input_.runs.begin(), input_.runs.end(),
                   [](const document::WorkloadRun& run) { return !run.run.requests.empty(); });
  const auto first = with_requests == input_.runs.end() ? 0 : with_requests - input_.runs.begin();
  input_.choice.run = static_cast<size_t>(first);
  return {};
}

/// What tools call their results and people their dumps; other files are not opened.
bool MayBeWorkload(std::string_view name) {
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  constexpr std::array<std::string_view, 7> kEnds = {".json",    ".jsonl", ".txt", ".prom",
                                                     ".metrics", ".log",   ".out"};
  return std::any_of(kEnds.begin(), kEnds.end(),
                     [name](std::string_view end) { return name.ends_with(end); });
}

/// A list without an event is read as a trace without events: `[]`, and what is cut or damaged.
base::Status CheckTraces(const WorkloadFiles& files, const analysis::AnalysisInput& traces) {
  for (const analysis::RankInput& rank : traces.ranks) {
    if (rank.trace->counts.n_events > 0 || rank.trace->format != trace::TraceFormat::kKineto) {
      continue;
    }
    const std::string begin = FileBegin(rank.path, kSniffBytes);
    const std::string name = workload::ForeignName(begin);
    if (!begin.empty() && name != workload::kProfilerTrace) return Wrong({}, rank.path, name);
  }
  const bool alone = files.inputs.empty() && files.bench.empty() && !files.prometheus &&
                     !files.prometheus_before && !traces.ranks.empty();
  if (!alone) return {};
  return base::UsageError(
      fmt::format("no benchmark and no metrics given: {} is a trace", traces.ranks.front().path),
      "name a benchmark's result or a saved answer of /metrics beside it, or look at the trace "
      "with `layerscope view`");
}

}  // namespace

bool IsWorkloadFile(const std::string& path) {
  const std::string begin = FileBegin(path, kSniffBytes);
  return !begin.empty() && workload::SniffKind(begin) != Kind::kUnknown;
}

std::vector<std::string> WorkloadFilesIn(const std::string& directory) {
  const base::Result<std::vector<io::DirectoryEntry>> entries = io::ListDirectory(directory);
  std::vector<std::string> files;
  if (!entries.ok()) return files;
  for (const io::DirectoryEntry& entry : *entries) {
    std::string path = (std::filesystem::path(directory) / entry.name).string();
    if (MayBeWorkload(entry.name) && IsWorkloadFile(path)) files.push_back(std::move(path));
  }
  return files;
}

bool HoldsRecordings(const std::string& directory) {
  const base::Result<std::vector<InputFile>> files = FindInputFiles({directory}, InputSet::kRuns);
  return files.ok() && std::any_of(files->begin(), files->end(), [](const InputFile& file) {
           return KindOf(file.path) != InputKind::kTrace ||
                  workload::ForeignName(FileBegin(file.path, kSniffBytes)) ==
                      workload::kProfilerTrace;
         });
}

MixedInputs PartInputs(const std::vector<std::string>& inputs) {
  MixedInputs parts;
  for (const std::string& input : inputs) {
    std::error_code problem;
    if (input != "-" && std::filesystem::is_directory(input, problem)) {
      const std::vector<std::string> files = WorkloadFilesIn(input);
      parts.workload.insert(parts.workload.end(), files.begin(), files.end());
      if (files.empty() || HoldsRecordings(input)) parts.traces.push_back(input);
      continue;
    }
    const bool workload = input == "-" || IsWorkloadFile(input);
    (workload ? parts.workload : parts.traces).push_back(input);
  }
  return parts;
}

base::Result<document::WorkloadInput> ReadWorkload(const WorkloadFiles& files,
                                                   const WorkloadOptions& options) {
  WorkloadReader reader(options.memory_limit);
  if (base::Status read = reader.Read(files); !read.ok()) return std::move(read).error();
  if (base::Status chosen = reader.Choose(options); !chosen.ok()) return std::move(chosen).error();
  return reader.Take();
}

base::Result<size_t> FindRun(const document::WorkloadInput& input, int64_t run) {
  const size_t n = input.runs.size();
  if (run >= 0 && static_cast<size_t>(run) < n) return static_cast<size_t>(run);
  return base::Error{
      base::ErrorCode::kNotFound, fmt::format("no run '{}' in this input", run),
      n == 1 ? "there is run 0 alone" : fmt::format("there are runs 0 to {}", n - 1)};
}

base::Result<document::JsonDocument> BuildWorkload(const WorkloadFiles& files,
                                                   const WorkloadOptions& options,
                                                   const analysis::AnalysisInput& traces) {
  if (base::Status usable = CheckTraces(files, traces); !usable.ok()) {
    return std::move(usable).error();
  }
  base::Result<document::WorkloadInput> workload = ReadWorkload(files, options);
  if (!workload.ok()) return std::move(workload).error();
  return document::BuildWorkloadData(*workload, workload->choice, traces);
}

}  // namespace layerscope::session
