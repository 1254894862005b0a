#include "src/session/view_source.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <utility>

#include "src/base/check.h"
#include "src/base/nearest.h"
#include "src/io/byte_sink.h"
#include "src/io/small_file.h"
#include "src/json/document.h"
#include "src/json/write_node.h"
#include "src/render/json.h"
#include "src/session/documents.h"
#include "src/session/registry.h"
#include "src/session/shared_options.h"
#include "src/session/workload.h"

namespace layerscope::session {
namespace {

/// A finished document beyond this would not be shown well by any browser.
constexpr size_t kMaxDocumentBytes = size_t{64} << 20;
/// Above this the times between single tokens are left out: a page should load at once.
constexpr size_t kMaxWorkloadBytes = size_t{4} << 20;

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
  return request;
}

base::Result<std::unique_ptr<ViewSource>> ViewSource::Open(const ViewRequest& request,
                                                           const Hooks& hooks,
                                                           base::StageClock& clock) {
  std::unique_ptr<ViewSource> source(new ViewSource);
  base::Result<ViewInputs> sorted = SortViewInputs(request.inputs);
  if (!sorted.ok()) return std::move(sorted).error();
  source->inputs_ = *std::move(sorted);
  std::vector<std::string> named = request.inputs;
  named.insert(named.end(), request.bench.begin(), request.bench.end());
  if (request.prometheus) named.push_back(*request.prometheus);
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
        io::ReadSmallFile(path, kMaxDocumentBytes, "a document of the viewer", {});
    if (!text.ok()) return std::move(text).error();
    base::Result<json::Node> root = json::ParseDocument(*text);
    if (!root.ok()) return std::move(root).error().WithContext(path);
    documents_[name] = json::WriteNode(*root) + "\n";
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
  const auto build = [&](bool token_times) -> base::Result<std::string> {
    const WorkloadOptions options{std::nullopt, token_times};
    base::Result<document::JsonDocument> document =
        run_ == nullptr ? BuildWorkload(files, options, {})
                        : run_->WithInput([&](const analysis::AnalysisInput& input) {
                            return BuildWorkload(files, options, input);
                          });
    if (!document.ok()) return std::move(document).error();
    std::string text;
    base::Status written =
        render::WriteJsonDocument(document->root, [&](std::string_view piece) -> base::Status {
          text += piece;
          return {};
        });
    if (!written.ok()) return std::move(written).error();
    return text;
  };
  base::Result<std::string> text = build(true);
  if (text.ok() && text->size() > kMaxWorkloadBytes) text = build(false);
  if (!text.ok()) return std::move(text).error();
  documents_["workload"] = *std::move(text);
  return {};
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
  for (const std::string& path : inputs_.workload) add(path, "workload", table::Null());
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

base::Result<std::string> ViewSource::Analysis(std::string_view verb,
                                               const RawOptions& asked) const {
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
  return run_->AnalysisJson(*spec, asked);
}

base::Result<std::string> ViewSource::Document(std::string_view name) const {
  if (const auto found = documents_.find(name); found != documents_.end()) return found->second;
  if (name == "map" && run_ != nullptr) {
    const DocumentSpec* const spec = FindDocument("map");
    LS_CHECK(spec != nullptr, "there is a map");
    return run_->DocumentJson(*spec);
  }
  return base::Error{base::ErrorCode::kNotFound,
                     fmt::format("no document '{}' of these inputs", name),
                     fmt::format("there are: {}", fmt::join(documents(), ", "))};
}

}  // namespace layerscope::session
