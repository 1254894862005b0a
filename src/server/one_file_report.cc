#include "src/server/one_file_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "src/base/format_number.h"
#include "src/json/writer.h"
#include "src/render/render.h"
#include "src/server/page.h"
#include "src/server/report_plan.h"
#include "src/server/request_target.h"

namespace layerscope::server {
namespace {

using session::RawOptions;
using session::ViewCut;

/// A module tree above this makes the page slow to open; the viewer asks a server for parts of it.
constexpr size_t kMaxTreeBytes = size_t{2} << 20;
constexpr int kTimelineBins = 1200;
/// What the page needs beside its data: the index, keys and cuts.
constexpr size_t kFrameBytes = size_t{64} << 10;

constexpr const char* kSizeWhy = "the report would be larger than its --max-size";

RawOptions WithDepth(RawOptions options, int depth) {
  options["depth"] = fmt::format("{}", depth);
  return options;
}

/// Collects slices while they fit.
class ReportBuilder {
 public:
  ReportBuilder(const session::ViewSource& source, size_t max_bytes, const base::StopFlag* stop)
      : source_(source), max_bytes_(max_bytes), stop_(stop), used_(kFrameBytes) {}

  base::Status Build();
  std::string DataJson() const;
  size_t n_slices() const { return analyses_.size() + documents_.size(); }
  const std::vector<ViewCut>& cuts() const { return cuts_; }

 private:
  using Slice = std::pair<std::string, std::string>;  ///< key and JSON
  /// What the viewer would get from a server, without its white space.
  struct Asked {
    std::string text;
    bool ok = true;  ///< else the envelope of an error
  };

  bool Stopped() const { return stop_ != nullptr && stop_->requested(); }
  bool Offers(std::string_view verb) const;
  std::optional<Asked> Ask(const std::string& verb, const RawOptions& options) const;
  bool Add(const std::string& verb, const RawOptions& options, std::optional<Asked> asked);
  bool Store(std::string key, std::string text, std::vector<Slice>& slices);
  void AddOrCut(const std::string& verb, const RawOptions& options);
  bool AddDocument(const std::string& name);
  void AddTree(const RawOptions& options);
  void AddTreeInPart(const RawOptions& options, const std::string& whole, size_t limit);
  void AddTimeline();
  void AddCompared();
  void AddLayerKernels();
  void Cut(std::string what, int64_t kept, int64_t of);

  const session::ViewSource& source_;
  const size_t max_bytes_;
  const base::StopFlag* stop_;
  size_t used_;
  std::vector<Slice> analyses_;
  std::vector<Slice> documents_;
  std::vector<ViewCut> cuts_;
  std::optional<int> tree_depth_;  ///< levels of the module tree; absent: all
  std::string passes_, steps_, layers_;
};

bool ReportBuilder::Offers(std::string_view verb) const {
  const std::vector<std::string> verbs = source_.analyses();
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

/// Nothing for a verb that these inputs do not have.
std::optional<ReportBuilder::Asked> ReportBuilder::Ask(const std::string& verb,
                                                       const RawOptions& options) const {
  if (Stopped() || !Offers(verb)) return std::nullopt;
  base::Result<std::string> text = source_.Analysis(verb, options);
  if (!text.ok()) return Asked{WithoutSpaces(render::RenderError(verb, text.error())), false};
  return Asked{WithoutSpaces(*text), true};
}

bool ReportBuilder::Add(const std::string& verb, const RawOptions& options,
                        std::optional<Asked> asked) {
  if (!asked) return true;  // Nothing to add is nothing cut.
  return Store(SliceKey(verb, options), std::move(asked->text), analyses_);
}

/// False where it does not fit.
bool ReportBuilder::Store(std::string key, std::string text, std::vector<Slice>& slices) {
  const size_t size = EscapedForScript(text).size() + key.size() + 8;
  if (used_ + size > max_bytes_) return false;
  used_ += size;
  slices.emplace_back(std::move(key), std::move(text));
  return true;
}

void ReportBuilder::AddOrCut(const std::string& verb, const RawOptions& options) {
  std::optional<Asked> asked = Ask(verb, options);
  if (asked && options.empty()) {
    if (verb == "passes") passes_ = asked->text;
    if (verb == "steps") steps_ = asked->text;
    if (verb == "layers") layers_ = asked->text;
  }
  if (!Add(verb, options, std::move(asked))) Cut(SliceKey(verb, options), 0, 1);
}

void ReportBuilder::Cut(std::string what, int64_t kept, int64_t of) {
  cuts_.push_back({std::move(what), kept, of, kSizeWhy});
}

bool ReportBuilder::AddDocument(const std::string& name) {
  const std::vector<std::string> names = source_.documents();
  if (Stopped() || std::find(names.begin(), names.end(), name) == names.end()) return true;
  base::Result<std::string> text = source_.Document(name);
  return Store(name, WithoutSpaces(text.ok() ? *text : render::RenderError(name, text.error())),
               documents_);
}

/// The whole tree, or as many of its levels as fit. What is stored as `modules` is the deepest
/// there is.
void ReportBuilder::AddTree(const RawOptions& options) {
  if (tree_depth_ && *tree_depth_ < 1) return;
  const size_t room = used_ < max_bytes_ ? max_bytes_ - used_ : 0;
  const size_t limit = std::min(kMaxTreeBytes, room);
  std::optional<Asked> asked =
      Ask("modules", tree_depth_ ? WithDepth(options, *tree_depth_) : options);
  const bool fits = !asked || !asked->ok || EscapedForScript(asked->text).size() <= limit;
  if (!fits && !tree_depth_) {
    AddTreeInPart(options, asked->text, limit);
  } else if (!Add("modules", options, std::move(asked))) {
    Cut(SliceKey("modules", options), 0, 1);
  }
}

/// What its rows take says how many levels fit; that many are asked for, and stored where they do.
void ReportBuilder::AddTreeInPart(const RawOptions& options, const std::string& whole,
                                  size_t limit) {
  int depth = LevelsWithin(whole, limit);
  std::optional<Asked> part;
  for (; depth > 0 && !Stopped(); --depth) {
    part = Ask("modules", WithDepth(options, depth));
    if (!part || EscapedForScript(part->text).size() <= limit) break;
    part.reset();
  }
  tree_depth_ = depth;
  const int64_t kept = part ? ModulesListed(part->text).listed : 0;
  cuts_.push_back({"modules of the tree", kept, ModulesListed(whole).all,
                   fmt::format("the whole tree is larger than {}; {} levels are listed",
                               base::FormatBytes(static_cast<int64_t>(limit)), depth)});
  if (!Add("modules", options, std::move(part))) Cut(SliceKey("modules", options), 0, 1);
}

/// A coarser one where the fine one does not fit.
void ReportBuilder::AddTimeline() {
  const RawOptions asked = {{"bins", fmt::format("{}", kTimelineBins)}};
  if (!Offers("timeline")) return;
  for (int bins = kTimelineBins; bins >= 75 && !Stopped(); bins /= 2) {
    if (!Add("timeline", asked, Ask("timeline", {{"bins", fmt::format("{}", bins)}}))) continue;
    if (bins < kTimelineBins) Cut("bins of the timeline", bins, kTimelineBins);
    return;
  }
  Cut("bins of the timeline", 0, kTimelineBins);
}

/// The columns Fast, Typical and Slow of the Profiler.
void ReportBuilder::AddCompared() {
  for (const ComparedInterval& interval : ComparedIntervals(passes_, steps_)) {
    AddTree({{interval.option, fmt::format("{}", interval.index)}});
  }
}

void ReportBuilder::AddLayerKernels() {
  const ShownLayers shown = LayersShown(layers_);
  if (!shown.pass) return;
  auto of = static_cast<int64_t>(shown.layers.size());
  int64_t kept = 0;
  for (const int64_t layer : shown.layers) {
    const RawOptions options = {{"layer", fmt::format("{}", layer)},
                                {"pass", fmt::format("{}", *shown.pass)}};
    std::optional<Asked> asked = Ask("kernels", options);
    const bool failed = !asked || !asked->ok;
    if (!Add("kernels", options, std::move(asked))) break;
    // Of one that failed the page has the reason: it is neither kept nor cut.
    (failed ? of : kept) += failed ? -1 : 1;
  }
  if (kept < of) Cut("layers with their kernels", kept, of);
}

base::Status ReportBuilder::Build() {
  AddOrCut("summary", {});
  if (!cuts_.empty()) {
    return base::Error{base::ErrorCode::kFailed,
                       fmt::format("not even the summary fits into {}",
                                   base::FormatBytes(static_cast<int64_t>(max_bytes_))),
                       "raise --max-size"};
  }
  for (const char* verb : {"info", "passes", "layers", "steps", "overhead"}) AddOrCut(verb, {});
  AddOrCut("layers", {{"all-passes", "true"}});
  for (const char* name : {"workload", "requests"}) {
    if (!AddDocument(name)) Cut(fmt::format("the document {}", name), 0, 1);
  }
  AddOrCut("kernels", {{"n", "200"}});
  AddOrCut("kernels", {{"by", "category"}});
  AddTree({});
  if (!AddDocument("map")) Cut("the document map", 0, 1);
  AddTimeline();
  AddCompared();
  AddLayerKernels();
  return Stopped() ? base::Status(base::Interrupted()) : base::Status();
}

std::string ReportBuilder::DataJson() const {
  std::string text = "{\"view\":" + WithoutSpaces(source_.IndexJson(false, cuts_));
  const auto add = [&text](const char* name, const std::vector<Slice>& slices) {
    text += fmt::format(",\"{}\":{{", name);
    bool first = true;
    for (const auto& [key, json] : slices) {
      if (!std::exchange(first, false)) text += ',';
      json::AppendQuoted(key, &text);
      text += ':';
      text += json;
    }
    text += '}';
  };
  add("analyses", analyses_);
  add("documents", documents_);
  return text + "}";
}

}  // namespace

std::string WithoutSpaces(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!in_string && (c == ' ' || c == '\n' || c == '\t' || c == '\r')) continue;
    out += c;
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\' && i + 1 < json.size()) out += json[++i];
  }
  return out;
}

base::Result<OneFileReport> BuildReport(const session::ViewSource& source, size_t max_bytes,
                                        const base::StopFlag* stop) {
  const std::string_view bundle = ViewerBundle();
  if (bundle.empty()) {
    return base::Error{base::ErrorCode::kFailed, std::string(kNoBundle),
                       std::string(kNoBundleHint) + "; -o x.md writes the report without it"};
  }
  if (bundle.size() + kFrameBytes >= max_bytes) {
    return base::UsageError(
        fmt::format("--max-size leaves no room: the viewer alone takes {}",
                    base::FormatBytes(static_cast<int64_t>(bundle.size() + kFrameBytes))),
        "raise --max-size");
  }
  ReportBuilder builder(source, max_bytes - bundle.size(), stop);
  if (base::Status built = builder.Build(); !built.ok()) return std::move(built).error();
  OneFileReport report;
  report.html = WithData(bundle, builder.DataJson());
  report.n_slices = builder.n_slices();
  report.cuts = builder.cuts();
  return report;
}

}  // namespace layerscope::server
