#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/format_number.h"
#include "src/document/store_copy.h"
#include "src/document/trace_copy.h"
#include "src/ingest/kineto/reader.h"
#include "src/io/byte_source.h"
#include "src/render/health_lines.h"
#include "src/render/json.h"
#include "src/session/document_output.h"
#include "src/session/documents.h"
#include "src/session/foreign_input.h"
#include "src/session/input_files.h"
#include "src/session/workload.h"

namespace layerscope::session {
namespace {

/// A copy of a trace reads its input twice.
base::Status CheckReadsTwice(const std::string& verb, const InputFile& file) {
  if (file.path == "-") {
    return base::UsageError(
        fmt::format("{} reads its input twice, and standard input can be read once", verb),
        "save it to a file and name that");
  }
  std::error_code problem;
  const bool exists = std::filesystem::exists(file.path, problem);
  if (exists && !std::filesystem::is_regular_file(file.path, problem)) {
    return base::UsageError(
        fmt::format("{} reads its input twice, and {} can be read once", verb, file.path),
        "save it to a file and name that");
  }
  return {};
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

/// What every document says of itself stands in front.
void PutInFront(const table::Object& data, table::RankResult& result) {
  result.data.insert(result.data.begin(), data.begin(), data.end());
}

/// One run of a verb that writes a document: what it is made of, then the writing.
class DocumentRun {
 public:
  DocumentRun(const DocumentRequest& request, const Hooks& hooks)
      : request_(request),
        hooks_(hooks),
        output_(request.options, request.standard_output),
        build_trace_(std::get_if<DocumentSpec::BuildTrace>(&request.document->build)) {}

  /// What can be refused before anything is read.
  base::Status Check() const;
  base::Result<analysis::Output> Build(const analysis::AnalysisInput& input);
  /// Names what Build read beside the run in front of the run's files.
  void AddInputs(table::Result& result) const {
    result.inputs.insert(result.inputs.begin(), json_.inputs.begin(), json_.inputs.end());
  }
  /// Writes what Build made, and adds what was written to the result.
  base::Status Write(Outcome& outcome) const;

 private:
  base::Result<analysis::Output> BuildTrace(const analysis::AnalysisInput& input);
  base::Result<analysis::Output> BuildJson(const analysis::AnalysisInput& input);
  base::Status WriteTrace(table::RankResult& result) const;
  base::Result<document::CopyCounts> Copy(io::ByteSink& sink) const;
  base::Status WriteJson(Outcome& outcome) const;
  base::Status Verify(const std::string& path, int64_t n_written) const;

  const DocumentRequest& request_;
  const Hooks& hooks_;
  DocumentOutput output_;
  const DocumentSpec::BuildTrace* build_trace_;  ///< null: the document is a JSON value
  std::vector<analysis::RankInput> ranks_;       ///< what the document was made of
  document::TraceDocument trace_;
  document::JsonDocument json_;
};

base::Status DocumentRun::Check() const {
  const OptionValues& options = request_.options;
  if (base::Status good = output_.Check(build_trace_ != nullptr ? "trace" : "document");
      !good.ok()) {
    return good;
  }
  if (build_trace_ == nullptr) return {};
  base::Result<std::vector<InputFile>> files = FindInputFiles(request_.inputs);
  if (!files.ok()) return std::move(files).error();
  for (const InputFile& file : *files) {
    if (base::Status usable = CheckReadsTwice(request_.document->name, file); !usable.ok()) {
      return usable;
    }
  }
  if (files->size() == 1 || options.Has("rank")) return {};
  return base::UsageError(
      fmt::format("{} writes one trace, and {} are given", request_.document->name, files->size()),
      "choose one with --rank, or run it for each");
}

base::Result<analysis::Output> DocumentRun::Build(const analysis::AnalysisInput& input) {
  return build_trace_ != nullptr ? BuildTrace(input) : BuildJson(input);
}

base::Result<analysis::Output> DocumentRun::BuildTrace(const analysis::AnalysisInput& input) {
  base::Result<const analysis::RankInput*> rank = ChooseRank(input, request_.options);
  if (!rank.ok()) return std::move(rank).error();
  ranks_ = {**rank};
  analysis::AnalysisInput one = input;
  one.ranks = ranks_;
  base::Result<document::TraceDocument> document = (*build_trace_)(one, request_.options);
  if (!document.ok()) return std::move(document).error();
  trace_ = *std::move(document);
  analysis::Output output;
  output.ranks.push_back(std::move(trace_.result));
  return output;
}

base::Result<analysis::Output> DocumentRun::BuildJson(const analysis::AnalysisInput& input) {
  ranks_.assign(input.ranks.begin(), input.ranks.end());
  analysis::AnalysisInput all = input;
  all.ranks = ranks_;
  base::Result<document::JsonDocument> document = std::get<DocumentSpec::BuildJson>(
      request_.document->build)(all, request_.options, request_.inputs);
  if (!document.ok()) return std::move(document).error();
  json_ = *std::move(document);
  return analysis::Output{std::move(json_.ranks), std::move(json_.reduced),
                          std::move(json_.health)};
}

base::Status DocumentRun::Write(Outcome& outcome) const {
  return build_trace_ != nullptr ? WriteTrace(outcome.result.ranks.front()) : WriteJson(outcome);
}

/// A trace is copied from its text; a database has none, so its copy is made of the store.
base::Result<document::CopyCounts> DocumentRun::Copy(io::ByteSink& sink) const {
  const document::CopyHooks hooks{hooks_.stop, hooks_.progress};
  const analysis::RankInput& rank = ranks_.front();
  if (rank.trace->format == trace::TraceFormat::kNsys) {
    return document::CopyStore(trace_.plan, hooks, sink);
  }
  base::Result<std::unique_ptr<io::ByteSource>> source = io::OpenFile(rank.path);
  if (!source.ok()) return std::move(source).error();
  return document::CopyTrace(**source, trace_.plan, hooks, sink);
}

base::Status DocumentRun::WriteTrace(table::RankResult& result) const {
  document::CopyCounts counts;
  const auto copy = [&](io::ByteSink& sink) -> base::Status {
    base::Result<document::CopyCounts> copied = Copy(sink);
    if (!copied.ok()) return std::move(copied).error();
    counts = *copied;
    return {};
  };
  base::Result<std::optional<int64_t>> n_bytes = output_.Write(
      copy, [&](const std::string& path) { return Verify(path, counts.n_written()); });
  if (!n_bytes.ok()) return std::move(n_bytes).error();
  table::Object data = output_.Describe("trace", *n_bytes);
  data.emplace_back("events", table::Object{{"input", counts.n_input},
                                            {"kept", counts.n_kept},
                                            {"added", counts.n_added},
                                            {"written", counts.n_written()}});
  table::Block facts;
  facts.kind = table::Block::Kind::kFacts;
  facts.title = request_.document->name;
  facts.facts = {
      {"written", output_.Text(*n_bytes)},
      {"events",
       fmt::format("{}: {} of {} of the input, {} added", base::FormatCount(counts.n_written()),
                   base::FormatCount(counts.n_kept), base::FormatCount(counts.n_input),
                   base::FormatCount(counts.n_added))}};
  if (counts.n_repaired > 0) {
    facts.facts.emplace_back("mended", base::FormatCounted(counts.n_repaired, "event") +
                                           " that strict JSON readers would refuse");
  }
  PutInFront(data, result);
  result.blocks.insert(result.blocks.begin(), std::move(facts));
  return {};
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
                  *output_.path(), n_written, back->counts.n_events),
      "check the disk, and report this if it happens again"};
}

/// The inputs of a document as people see them: as one, for it is one document.
table::Result AsOne(const table::Result& result, std::vector<table::Block> blocks) {
  table::Result one;
  one.command = result.command;
  // Several would be told apart by headings; the table names them.
  if (result.inputs.size() == 1) one.inputs = result.inputs;
  one.health = render::CollectHealth(result);
  table::RankResult part;
  if (result.ranks.size() == 1) part.coverage = result.ranks.front().coverage;
  part.blocks = std::move(blocks);
  for (const table::RankResult& rank : result.ranks) {
    if (!rank.abstained) continue;
    table::Block& block = part.blocks.emplace_back();
    block.text = fmt::format("{} is withheld: {}", rank.input, rank.abstained->why);
  }
  one.ranks.push_back(std::move(part));
  return one;
}

base::Status DocumentRun::WriteJson(Outcome& outcome) const {
  const auto fill = [&](io::ByteSink& sink) -> base::Status {
    const auto write = [&](std::string_view piece) -> base::Status {
      if (hooks_.stop != nullptr && hooks_.stop->requested()) return base::Interrupted();
      return sink.Write(piece);
    };
    if (base::Status written = render::WriteJsonDocument(json_.root, write); !written.ok()) {
      return written;
    }
    return sink.Finish();
  };
  base::Result<std::optional<int64_t>> n_bytes = output_.Write(fill, {});
  if (!n_bytes.ok()) return std::move(n_bytes).error();
  const table::Object data = output_.Describe(json_.name, *n_bytes);
  table::Block facts;
  facts.kind = table::Block::Kind::kFacts;
  facts.title = request_.document->name;
  facts.facts = {{"written", output_.Text(*n_bytes)}};
  for (table::RankResult& rank : outcome.result.ranks) PutInFront(data, rank);
  std::vector<table::Block> blocks = {std::move(facts)};
  blocks.insert(blocks.end(), json_.blocks.begin(), json_.blocks.end());
  outcome.for_people = AsOne(outcome.result, std::move(blocks));
  return {};
}

/// Opens the traces among the inputs, if there are any, and analyses them.
base::Result<Outcome> RunOnTraces(const AnalysisSpec& spec, const DocumentRequest& request,
                                  const Hooks& hooks, base::StageClock& clock) {
  if (!request.document->traces_optional) {
    return RunAnalysis({&spec, request.inputs, request.options}, hooks, clock);
  }
  const Request on_traces{&spec, PartInputs(request.inputs).traces, request.options};
  if (!on_traces.inputs.empty()) {
    base::Result<Outcome> outcome = RunAnalysis(on_traces, hooks, clock);
    if (outcome.ok()) return outcome;
    return ForeignToWorkload(on_traces.inputs, std::move(outcome).error());
  }
  base::Result<LayerContext> model = LoadLayerContext(request.options);
  if (!model.ok()) return std::move(model).error();
  auto nothing = std::make_shared<LoadedRun>();
  nothing->model = *std::move(model);
  return AnalyseRun(std::move(nothing), on_traces);
}

}  // namespace

base::Result<Outcome> RunDocument(const DocumentRequest& request, const Hooks& hooks,
                                  base::StageClock& clock) {
  DocumentRun run(request, hooks);
  if (base::Status good = run.Check(); !good.ok()) return std::move(good).error();
  // To an analysis all is the same but the writing: opening, health and the verdict.
  AnalysisSpec spec;
  spec.name = request.document->name;
  spec.options = request.document->options;
  spec.layer_need = request.document->layer_need;
  spec.input_set = request.document->input_set;
  spec.compute = [&run](const analysis::AnalysisInput& input, const OptionValues&,
                        const analysis::Presentation&,
                        const std::vector<std::string>&) { return run.Build(input); };
  base::Result<Outcome> outcome = RunOnTraces(spec, request, hooks, clock);
  if (!outcome.ok()) return outcome;
  run.AddInputs(outcome->result);
  // Under --strict nothing is written where data was lost or a result is withheld.
  if (outcome->verdict && request.options.Flag("strict")) return *std::move(outcome->verdict);
  clock.Start("write");
  base::Status written = run.Write(*outcome);
  clock.Stop();
  if (!written.ok()) return std::move(written).error();
  return outcome;
}

}  // namespace layerscope::session
