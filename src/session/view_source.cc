#include "src/session/view_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "src/base/check.h"
#include "src/base/nearest.h"
#include "src/base/parse_number.h"
#include "src/document/workload/workload_data.h"
#include "src/io/byte_sink.h"
#include "src/io/small_file.h"
#include "src/json/strict_copy.h"
#include "src/render/json.h"
#include "src/session/documents.h"
#include "src/session/registry.h"
#include "src/session/shared_options.h"
#include "src/session/workload.h"

namespace layerscope::session {
namespace {

/// As the page takes it by drop (viewer/src/frame/opening.ts): a browser makes one string of it.
constexpr size_t kMaxDocumentBytes = size_t{512} << 20;
constexpr const char* kDocumentIs = "a document of the viewer, which may have 512 MiB";
constexpr const char* kDocumentInstead =
    "name what it was made of instead (traces, benchmark results): what is shown is made of those";
/// Above this the times between single tokens are left out: a page should load at once.
constexpr size_t kMaxWorkloadBytes = size_t{4} << 20;
/// A digit, a comma and a space.
constexpr size_t kLeastTokenTimeBytes = 3;

/// `report` writes what the viewer shows into a file; asked for as an analysis it is the written
/// report, which the viewer does not show.
constexpr std::string_view kNotShown = "report";

class TextSink : public io::ByteSink {
 public:
  base::Status Write(std::string_view bytes) override {
    text_ += bytes;
    return {};
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

const DocumentSpec* FindDocument(std::string_view name) {
  for (const DocumentSpec& spec : Documents()) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

/// "rank0.json.gz and 3 more".
std::string TitleOf(const std::vector<std::string>& inputs) {
  if (inputs.empty()) return "layerscope";
  std::string path = inputs.front();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  std::string name = std::filesystem::path(path).filename().string();
  if (name.empty() || name == ".") name = path;
  return inputs.size() == 1 ? name : fmt::format("{} and {} more", name, inputs.size() - 1);
}

RawOptions CommonOf(const RawOptions& given) {
  RawOptions common;
  for (const OptionSpec& option : CommonOptions()) {
    if (const auto found = given.find(option.name); found != given.end()) common.insert(*found);
  }
  return common;
}

size_t CountTokenTimes(const document::WorkloadInput& workload, std::optional<size_t> run) {
  if (!run) return 0;
  size_t count = 0;
  for (const workload::Request& request : workload.runs[*run].run.requests) {
    count += request.itl_ns.size();
  }
  return count;
}

}  // namespace

std::vector<OptionSpec> ViewOptions() {
  std::vector<OptionSpec> places = SelectionOptions();
  std::erase_if(places, [](const OptionSpec& option) {
    return option.name != "rank" && option.name != "pid" && option.name != "device";
  });
  return JoinOptions({BenchmarkOptions(), std::move(places), ModelOptionSpecs()});
}

std::vector<std::string> FilesOf(const ViewRequest& request) {
  std::vector<std::string> files = request.inputs;
  files.insert(files.end(), request.bench.begin(), request.bench.end());
  for (const auto& path : {request.prometheus, request.prometheus_before}) {
    if (path) files.push_back(*path);
  }
  for (const OptionSpec& option : ModelOptionSpecs()) {
    const auto given = request.given.find(option.name);
    if (option.names_file && given != request.given.end()) files.push_back(given->second);
  }
  return files;
}

ViewRequest ViewRequestOf(std::vector<std::string> inputs, const RawOptions& raw) {
  ViewRequest request;
  request.inputs = std::move(inputs);
  std::set<std::string> names = {"rules", "strict", "threads", "memory-limit", "chunk-size"};
  for (const OptionSpec& option : ViewOptions()) names.insert(option.name);
  for (const auto& [name, text] : raw) {
    if (names.count(name) != 0) request.given.emplace(name, text);
  }
  const auto take = [&request](const char* name) -> std::optional<std::string> {
    const auto node = request.given.extract(name);
    return node.empty() ? std::nullopt : std::optional(node.mapped());
  };
  if (const std::optional<std::string> bench = take("bench")) {
    request.bench = SplitTexts(*bench);
  }
  request.prometheus = take("prometheus");
  request.prometheus_before = take("prometheus-before");
  if (const std::optional<std::string> run = take("run")) request.run = base::ParseWhole(*run);
  return request;
}

base::Result<std::unique_ptr<ViewSource>> ViewSource::Open(const ViewRequest& request,
                                                           const Hooks& hooks,
                                                           base::StageClock& clock) {
  std::unique_ptr<ViewSource> source(new ViewSource);
  base::Result<ViewInputs> sorted = SortViewInputs(request.inputs);
  if (!sorted.ok()) return std::move(sorted).error();
  source->inputs_ = *std::move(sorted);
  std::vector<std::string>& by_option = source->workload_by_option_;
  by_option = request.bench;
  for (const auto& path : {request.prometheus, request.prometheus_before}) {
    if (path) by_option.push_back(*path);
  }
  std::vector<std::string> named = request.inputs;
  named.insert(named.end(), by_option.begin(), by_option.end());
  if (named.empty()) {
    return base::UsageError("no input given",
                            "give a trace, a directory, a benchmark's result or a document");
  }
  source->title_ = TitleOf(named);
  if (base::Status done = source->LoadDocuments(); !done.ok()) return std::move(done).error();
  if (!source->inputs_.ranks.empty()) {
    base::Result<std::unique_ptr<OpenedRun>> run =
        OpenedRun::Open(source->inputs_.ranks, request.given, hooks, clock);
    if (!run.ok()) return std::move(run).error();
    source->run_ = *std::move(run);
    if (request.given.count("strict") != 0) {
      base::Result<Outcome> summary = source->run_->Summarise();
      if (!summary.ok()) return std::move(summary).error();
      if (summary->verdict) return *std::move(summary->verdict);
    }
  }
  if (base::Status done = source->LoadRequests(request.given, hooks, clock); !done.ok()) {
    return std::move(done).error();
  }
  if (base::Status done = source->LoadWorkload(request); !done.ok()) {
    return std::move(done).error();
  }
  return source;
}

/// Written again, not passed on: Python writes bare NaN, which no browser reads.
base::Status ViewSource::LoadDocuments() {
  for (const auto& [name, path] : inputs_.documents) {
    base::Result<std::string> text =
        io::ReadSmallFile(path, kMaxDocumentBytes, kDocumentIs, kDocumentInstead);
    if (!text.ok()) return std::move(text).error();
    base::Result<std::string> strict = json::StrictCopy(*text);
    if (!strict.ok()) return std::move(strict).error().WithContext(path);
    documents_[name] = *std::move(strict) + "\n";
  }
  return {};
}

base::Status ViewSource::LoadRequests(const RawOptions& given, const Hooks& hooks,
                                      base::StageClock& clock) {
  if (inputs_.requests.empty()) return {};
  const DocumentSpec* const spec = FindDocument("requests");
  LS_CHECK(spec != nullptr, "there is a document of requests");
  base::Result<OptionValues> values = ParseOptions(AllOptions(*spec), given);
  if (!values.ok()) return std::move(values).error();
  TextSink sink;
  base::Result<Outcome> outcome =
      RunDocument({spec, inputs_.requests, *std::move(values), &sink}, hooks, clock);
  if (!outcome.ok()) return std::move(outcome).error();
  documents_["requests"] = sink.Take();
  return {};
}

base::Status ViewSource::LoadWorkload(const ViewRequest& request) {
  const WorkloadFiles files{inputs_.workload, request.bench, request.prometheus,
                            request.prometheus_before};
  if (files.inputs.empty() && files.bench.empty() && !files.prometheus &&
      !files.prometheus_before) {
    return {};
  }
  WorkloadOptions options;
  options.run = request.run;
  base::Result<OptionValues> common = ParseOptions(CommonOptions(), CommonOf(request.given));
  if (!common.ok()) return std::move(common).error();
  options.memory_limit = common->Number("memory-limit");
  base::Result<document::WorkloadInput> workload = ReadWorkload(files, options);
  if (!workload.ok()) return std::move(workload).error();
  base::Result<std::string> text = SmallWorkloadText(*workload, workload->choice.run);
  if (!text.ok()) return std::move(text).error();
  documents_["workload"] = *std::move(text);
  if (workload->runs.size() > 1) workload_ = *std::move(workload);
  return {};
}

/// Without the times of single tokens where it would be large.
base::Result<std::string> ViewSource::SmallWorkloadText(const document::WorkloadInput& workload,
                                                        std::optional<size_t> run) const {
  const bool may_fit = CountTokenTimes(workload, run) * kLeastTokenTimeBytes <= kMaxWorkloadBytes;
  base::Result<std::string> text = WorkloadText(workload, {run, may_fit});
  if (text.ok() && text->size() > kMaxWorkloadBytes && may_fit) {
    text = WorkloadText(workload, {run, false});
  }
  return text;
}

base::Result<std::string> ViewSource::WorkloadText(const document::WorkloadInput& workload,
                                                   const document::WorkloadChoice& choice) const {
  const document::JsonDocument document =
      run_ == nullptr ? document::BuildWorkloadData(workload, choice, {})
                      : run_->WithInput([&](const analysis::AnalysisInput& input) {
                          return document::BuildWorkloadData(workload, choice, input);
                        });
  std::string text;
  base::Status written =
      render::WriteJsonDocument(document.root, [&](std::string_view piece) -> base::Status {
        text += piece;
        return {};
      });
  if (!written.ok()) return std::move(written).error();
  return text;
}

std::vector<std::string> ViewSource::analyses() const {
  std::vector<std::string> names;
  if (run_ == nullptr) return names;
  for (const AnalysisSpec& spec : Analyses()) {
    if (spec.name != kNotShown) names.push_back(spec.name);
  }
  return names;
}

std::vector<std::string> ViewSource::documents() const {
  std::vector<std::string> names;
  if (run_ != nullptr || documents_.count("map") != 0) names.emplace_back("map");
  for (const char* name : {"requests", "workload"}) {
    if (documents_.count(std::string_view(name)) != 0) names.emplace_back(name);
  }
  return names;
}

std::string ViewSource::IndexJson(bool live, const std::vector<ViewCut>& cuts) const {
  table::Array inputs;
  const auto add = [&inputs](const std::string& path, std::string_view kind, table::Value rank) {
    inputs.emplace_back(table::Object{{"path", path}, {"kind", kind}, {"rank", std::move(rank)}});
  };
  if (run_ != nullptr) {
    for (const table::InputInfo& info : run_->run().Infos()) {
      add(info.path, info.kind, info.rank ? table::Value(*info.rank) : table::Value(table::Null()));
    }
  }
  for (const std::string& path : inputs_.requests) add(path, "requests", table::Null());
  for (const auto& paths : {inputs_.workload, workload_by_option_}) {
    for (const std::string& path : paths) add(path, "workload", table::Null());
  }
  for (const auto& [name, path] : inputs_.documents) add(path, name, table::Null());
  const auto list = [](const std::vector<std::string>& names) {
    return table::Array(names.begin(), names.end());
  };
  table::Array cut_list;
  for (const ViewCut& cut : cuts) {
    cut_list.emplace_back(
        table::Object{{"what", cut.what}, {"kept", cut.kept}, {"of", cut.of}, {"why", cut.why}});
  }
  const table::Object index = {{"schema", "layerscope/view/1"},
                               {"version", LAYERSCOPE_VERSION},
                               {"title", title_},
                               {"live", live},
                               {"inputs", std::move(inputs)},
                               {"analyses", list(analyses())},
                               {"documents", list(documents())},
                               {"cuts", std::move(cut_list)}};
  return render::JsonText(index) + "\n";
}

base::Status ViewSource::CheckAnalysis(std::string_view verb) const {
  const AnalysisSpec* const spec = FindAnalysis(verb);
  if (spec == nullptr || verb == kNotShown) {
    return base::Error{base::ErrorCode::kNotFound,
                       fmt::format("no analysis '{}'{}", verb, base::DidYouMean(verb, analyses())),
                       fmt::format("there are: {}", fmt::join(analyses(), ", "))};
  }
  if (run_ == nullptr) {
    return base::Error{base::ErrorCode::kNotFound,
                       fmt::format("'{}' needs a trace, and these inputs hold none", verb),
                       "start it with a trace too"};
  }
  return {};
}

base::Result<std::string> ViewSource::Analysis(std::string_view verb,
                                               const RawOptions& asked) const {
  if (base::Status known = CheckAnalysis(verb); !known.ok()) return std::move(known).error();
  return run_->AnalysisJson(*FindAnalysis(verb), asked);
}

base::Status ViewSource::CheckDocument(std::string_view name, const RawOptions& asked) const {
  const bool asks_run = name == "workload" && asked.size() == 1 && asked.count("run") == 1;
  if (!asked.empty() && !asks_run) {
    return base::UsageError("a document has no options but `run` of a workload", {});
  }
  const std::vector<std::string> names = documents();
  if (std::find(names.begin(), names.end(), name) != names.end()) return {};
  return base::Error{base::ErrorCode::kNotFound,
                     fmt::format("no document '{}' of these inputs", name),
                     fmt::format("there are: {}", fmt::join(names, ", "))};
}

base::Result<std::string> ViewSource::WorkloadOfRun(const std::string& run) const {
  const std::optional<int64_t> number = base::ParseWhole(run);
  if (!number) return base::UsageError(fmt::format("run '{}' is no number of a run", run), {});
  if (!workload_) {
    return base::Error{base::ErrorCode::kNotFound, "this workload has one run, or is a document",
                       "start `layerscope view` with the results of several runs"};
  }
  base::Result<size_t> found = FindRun(*workload_, *number);
  if (!found.ok()) return std::move(found).error();
  return SmallWorkloadText(*workload_, *found);
}

base::Result<std::string> ViewSource::Document(std::string_view name,
                                               const RawOptions& asked) const {
  if (base::Status known = CheckDocument(name, asked); !known.ok()) {
    return std::move(known).error();
  }
  if (!asked.empty()) return WorkloadOfRun(asked.at("run"));
  if (const auto found = documents_.find(name); found != documents_.end()) return found->second;
  const DocumentSpec* const spec = FindDocument("map");
  LS_CHECK(spec != nullptr && run_ != nullptr, "the map alone is made when it is asked for");
  return run_->DocumentJson(*spec);
}

}  // namespace layerscope::session
