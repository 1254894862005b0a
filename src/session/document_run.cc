#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "src/base/format_number.h"
#include "src/document/trace_copy.h"
#include "src/ingest/kineto/reader.h"
#include "src/io/atomic_output.h"
#include "src/io/byte_source.h"
#include "src/io/gzip_sink.h"
#include "src/session/documents.h"
#include "src/session/input_files.h"

namespace layerscope::session {
namespace {

/// Counts what passes.
class CountingSink : public io::ByteSink {
 public:
  explicit CountingSink(io::ByteSink& below) : below_(below) {}
  base::Status Write(std::string_view bytes) override {
    n_bytes_ += static_cast<int64_t>(bytes.size());
    return below_.Write(bytes);
  }
  base::Status Finish() override { return below_.Finish(); }
  int64_t n_bytes() const { return n_bytes_; }

 private:
  io::ByteSink& below_;
  int64_t n_bytes_ = 0;
};

class FileSink : public io::ByteSink {
 public:
  explicit FileSink(io::AtomicOutput& file) : file_(file) {}
  base::Status Write(std::string_view bytes) override { return file_.Write(bytes); }

 private:
  io::AtomicOutput& file_;
};

/// One run of a verb that writes a document.
class DocumentRun {
 public:
  DocumentRun(const DocumentRequest& request, const Hooks& hooks)
      : request_(request),
        hooks_(hooks),
        path_(request.options.Text("output")),
        gzip_(request.options.Flag("gzip") || (path_ && path_->ends_with(".gz"))) {}

  /// What can be refused before anything is read.
  base::Status Check() const;
  base::Result<analysis::Output> Write(const analysis::AnalysisInput& input) const;

 private:
  base::Status CheckFile(const InputFile& file) const;
  base::Status CheckStrict(const analysis::RankInput& rank, const table::RankResult& result) const;
  base::Result<document::CopyCounts> WriteFile(io::ByteSource& source,
                                               const document::CopyPlan& plan,
                                               int64_t& n_bytes) const;
  base::Result<document::CopyCounts> Copy(io::ByteSource& source, const document::CopyPlan& plan,
                                          io::ByteSink& sink) const;
  base::Status Verify(const std::string& path, int64_t n_written) const;
  void Describe(const document::CopyCounts& counts, std::optional<int64_t> n_bytes,
                table::RankResult& result) const;

  const DocumentRequest& request_;
  const Hooks& hooks_;
  std::optional<std::string> path_;  ///< of the output; absent = standard output
  bool gzip_;
};

base::Status DocumentRun::Check() const {
  const OptionValues& options = request_.options;
  const std::string format = options.TextOr("format", "json");
  if (!path_ && format != "json") {
    return base::UsageError(
        fmt::format("--format {} goes with -o FILE: without it the trace itself goes to "
                    "standard output",
                    format),
        "give -o FILE");
  }
  if (path_ && path_->ends_with(".zst")) {
    return base::UsageError(fmt::format("-o {}: traces are not written as zstd", *path_),
                            "name it .json or .json.gz");
  }
  base::Result<std::vector<InputFile>> files = FindInputFiles(request_.inputs);
  if (!files.ok()) return std::move(files).error();
  for (const InputFile& file : *files) {
    if (base::Status usable = CheckFile(file); !usable.ok()) return usable;
  }
  if (files->size() == 1 || options.Has("rank")) return {};
  return base::UsageError(
      fmt::format("{} writes one trace, and {} are given", request_.document->name, files->size()),
      "choose one with --rank, or run it for each");
}

base::Status DocumentRun::CheckFile(const InputFile& file) const {
  if (file.path == "-") {
    return base::UsageError(
        fmt::format("{} reads its input twice, and standard input can be read once",
                    request_.document->name),
        "save it to a file and name that");
  }
  std::error_code problem;
  const bool exists = std::filesystem::exists(file.path, problem);
  if (exists && !std::filesystem::is_regular_file(file.path, problem)) {
    return base::UsageError(fmt::format("{} reads its input twice, and {} can be read once",
                                        request_.document->name, file.path),
                            "save it to a file and name that");
  }
  return {};
}

/// Under --strict nothing is written where data was lost or a result is withheld.
base::Status DocumentRun::CheckStrict(const analysis::RankInput& rank,
                                      const table::RankResult& result) const {
  if (!request_.options.Flag("strict")) return {};
  for (const table::HealthEntry& entry : rank.trace->ledger.ToHealth()) {
    if (entry.severity < table::Severity::kDataLoss) continue;
    return base::Error{
        base::ErrorCode::kStrictViolated,
        fmt::format("data was lost ({}, {}): {}", entry.code, entry.count, entry.message),
        "without --strict the rest is used"};
  }
  if (!result.abstained) return {};
  return base::Error{base::ErrorCode::kStrictViolated, "withheld: " + result.abstained->why,
                     result.abstained->how};
}

base::Result<const analysis::RankInput*> ChooseRank(const analysis::AnalysisInput& input,
                                                    const OptionValues& options) {
  if (input.ranks.size() == 1) return &input.ranks.front();
  const std::optional<int64_t> wanted = options.Number("rank");
  std::string existing;
  for (const analysis::RankInput& rank : input.ranks) {
    if (rank.rank && rank.rank == wanted) return &rank;
    if (rank.rank) existing += fmt::format("{}{}", existing.empty() ? "" : ", ", *rank.rank);
  }
  return base::Error{base::ErrorCode::kNotFound,
                     fmt::format("no rank '{}' in this input", wanted.value_or(-1)),
                     existing.empty() ? "no file says its rank" : "there are: " + existing};
}

base::Result<analysis::Output> DocumentRun::Write(const analysis::AnalysisInput& input) const {
  base::Result<const analysis::RankInput*> rank = ChooseRank(input, request_.options);
  if (!rank.ok()) return std::move(rank).error();
  analysis::AnalysisInput one = input;
  one.ranks = {*rank, 1};
  base::Result<document::TraceDocument> document = request_.document->build(one, request_.options);
  if (!document.ok()) return std::move(document).error();
  if (base::Status strict = CheckStrict(**rank, document->result); !strict.ok()) {
    return std::move(strict).error();
  }
  base::Result<std::unique_ptr<io::ByteSource>> source = io::OpenFile((*rank)->path);
  if (!source.ok()) return std::move(source).error();
  int64_t n_bytes = 0;
  base::Result<document::CopyCounts> counts =
      path_ ? WriteFile(**source, document->plan, n_bytes)
            : Copy(**source, document->plan, *request_.standard_output);
  if (!counts.ok()) return std::move(counts).error();
  Describe(*counts, path_ ? std::optional<int64_t>(n_bytes) : std::nullopt, document->result);
  analysis::Output output;
  output.ranks.push_back(std::move(document->result));
  return output;
}

base::Result<document::CopyCounts> DocumentRun::Copy(io::ByteSource& source,
                                                     const document::CopyPlan& plan,
                                                     io::ByteSink& sink) const {
  const document::CopyHooks hooks{hooks_.stop, hooks_.progress};
  if (!gzip_) return document::CopyTrace(source, plan, hooks, sink);
  io::GzipSink packed(sink);
  return document::CopyTrace(source, plan, hooks, packed);
}

base::Result<document::CopyCounts> DocumentRun::WriteFile(io::ByteSource& source,
                                                          const document::CopyPlan& plan,
                                                          int64_t& n_bytes) const {
  base::Result<io::AtomicOutput> file = io::AtomicOutput::Create(*path_);
  if (!file.ok()) return std::move(file).error();
  FileSink raw(*file);
  CountingSink sink(raw);
  base::Result<document::CopyCounts> counts = Copy(source, plan, sink);
  if (!counts.ok()) return counts;
  n_bytes = sink.n_bytes();
  base::Result<std::string> readable = file->ReadablePath();
  if (!readable.ok()) return std::move(readable).error();
  if (!readable->empty()) {
    if (base::Status good = Verify(*readable, counts->n_written()); !good.ok()) {
      return std::move(good).error();
    }
  }
  if (base::Status done = file->Commit(); !done.ok()) return std::move(done).error();
  return counts;
}

/// Reads what was written, with the reader of every verb.
base::Status DocumentRun::Verify(const std::string& path, int64_t n_written) const {
  base::Result<std::unique_ptr<io::ByteSource>> source = io::OpenFile(path);
  if (!source.ok()) return std::move(source).error();
  ingest::kineto::ReadOptions options;
  options.counts_only = true;
  options.stop = hooks_.stop;
  options.threads =
      static_cast<int>(std::min<int64_t>(request_.options.Number("threads").value_or(0), 1024));
  base::Result<trace::Trace> back = ingest::kineto::ReadTrace(**source, options);
  if (!back.ok()) return std::move(back).error();
  const bool whole = back->ledger.count(trace::LedgerCode::truncated) == 0 &&
                     back->ledger.count(trace::LedgerCode::corrupt_compression) == 0;
  if (whole && back->counts.n_events == n_written) return {};
  return base::Error{
      base::ErrorCode::kFailed,
      fmt::format("writing {}: {} events were written and {} are read back; the output was dropped",
                  *path_, n_written, back->counts.n_events),
      "check the disk, and report this if it happens again"};
}

void DocumentRun::Describe(const document::CopyCounts& counts, std::optional<int64_t> n_bytes,
                           table::RankResult& result) const {
  const auto or_null = [](const auto& value) {
    return value ? table::Value(*value) : table::Value(table::Null());
  };
  table::Object data = {{"document", "trace"},
                        {"path", or_null(path_)},
                        {"compression", gzip_ ? "gzip" : "none"},
                        {"bytes", or_null(n_bytes)},
                        {"events", table::Object{{"input", counts.n_input},
                                                 {"kept", counts.n_kept},
                                                 {"added", counts.n_added},
                                                 {"written", counts.n_written()}}}};
  for (auto& member : result.data) data.push_back(std::move(member));
  result.data = std::move(data);
  table::Block facts;
  facts.kind = table::Block::Kind::kFacts;
  facts.title = request_.document->name;
  const std::string size = n_bytes ? ", " + base::FormatBytes(*n_bytes) : "";
  facts.facts = {
      {"written", path_.value_or("standard output") + size},
      {"events",
       fmt::format("{}: {} of {} of the input, {} added", base::FormatCount(counts.n_written()),
                   base::FormatCount(counts.n_kept), base::FormatCount(counts.n_input),
                   base::FormatCount(counts.n_added))}};
  if (counts.n_repaired > 0) {
    facts.facts.emplace_back("mended", base::FormatCounted(counts.n_repaired, "event") +
                                           " that strict JSON readers would refuse");
  }
  result.blocks.insert(result.blocks.begin(), std::move(facts));
}

}  // namespace

base::Result<Outcome> RunDocument(const DocumentRequest& request, const Hooks& hooks,
                                  base::StageClock& clock) {
  const DocumentRun run(request, hooks);
  if (base::Status good = run.Check(); !good.ok()) return std::move(good).error();
  // The analysis of this run is the writing: opening, health and the verdict are those of all
  // verbs.
  AnalysisSpec spec;
  spec.name = request.document->name;
  spec.options = request.document->options;
  spec.layer_need = request.document->layer_need;
  spec.compute = [&run](const analysis::AnalysisInput& input, const OptionValues&,
                        const analysis::Presentation&,
                        const std::vector<std::string>&) { return run.Write(input); };
  return RunAnalysis({&spec, request.inputs, request.options}, hooks, clock);
}

}  // namespace layerscope::session
