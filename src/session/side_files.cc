#include "src/session/side_files.h"

#include <fmt/format.h>

#include <utility>

#include "src/base/format_number.h"
#include "src/session/read_input.h"

namespace layerscope::session {
namespace {

/// What an option takes, for one that was given something else.
std::string HintOf(const std::string& option) {
  if (option == "--capture-trace") {
    return "name the profiler trace of the graphs' capture, or the folder of them "
           "(capture_traces)";
  }
  if (option == "--eager-trace") return "name a profiler trace of the same model without graphs";
  return {};
}

/// What the user named by an option fails under that option's name.
base::Error Named(const SideFilePath& file, base::Error error) {
  if (file.option.empty()) return error;
  if (error.message.find(file.path) == std::string::npos) {
    error = std::move(error).WithContext(file.path);
  }
  if (error.hint.empty()) error.hint = HintOf(file.option);
  return std::move(error).WithContext(file.option);
}

}  // namespace

base::Status SideFiles::Name(const SideFileOptions& options) {
  options_ = options;
  base::Result<SideFileSet> named = NamedSideFiles(options);
  if (!named.ok()) return std::move(named).error();
  named_ = *std::move(named);
  for (const SideFilePath& file : named_.model_trees) {
    if (file.option.empty()) continue;
    base::Result<const model::ModelTree*> tree = OpenModelTree(file);
    if (!tree.ok()) return std::move(tree).error();
  }
  for (const SideFilePath& file : named_.annotations) {
    if (file.option.empty()) continue;
    base::Result<const model::GraphAnnotations*> annotations = OpenAnnotations(file);
    if (!annotations.ok()) return std::move(annotations).error();
  }
  return {};
}

SideFileSet SideFiles::Of(const std::string& trace_path, std::optional<int64_t> rank) const {
  SideFileSet set;
  if (options_.search) set = SideFilesBeside(trace_path);
  const auto prefer = [](const std::vector<SideFilePath>& named, std::vector<SideFilePath>& list) {
    if (!named.empty()) list = named;
  };
  prefer(named_.captures, set.captures);
  prefer(named_.eager, set.eager);
  prefer(named_.annotations, set.annotations);
  prefer(named_.model_trees, set.model_trees);
  set.captures = CapturesOfRank(set.captures, rank);
  return set;
}

template <typename Content>
SideFiles::Slot<Content>& SideFiles::SlotOf(Slots<Content>& slots, const std::string& path) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<Slot<Content>>& slot = slots[path];
  if (slot == nullptr) slot = std::make_unique<Slot<Content>>();
  return *slot;
}

template <typename Content, typename Load>
base::Result<const Content*> SideFiles::Open(Slots<Content>& slots, const SideFilePath& file,
                                             Load load) {
  Slot<Content>& slot = SlotOf(slots, file.path);
  const std::lock_guard<std::mutex> lock(slot.mutex);
  if (!slot.tried) {
    slot.tried = true;
    base::Result<std::unique_ptr<Content>> content = load();
    if (content.ok()) {
      slot.content = *std::move(content);
    } else {
      slot.error = Named(file, std::move(content).error());
    }
  }
  if (slot.error) return *slot.error;
  return static_cast<const Content*>(slot.content.get());
}

base::Status SideFiles::TakeMemory(const SideFilePath& file) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!memory_left_) return {};
  const int64_t needed =
      EstimateMemory({{file.path, file.rank, file.bytes, false}}) - EstimateMemory({});
  if (needed > *memory_left_) {
    return base::Error{base::ErrorCode::kFailed,
                       fmt::format("reading {} would need about {}, more than the limit leaves",
                                   file.path, base::FormatBytes(needed)),
                       "raise --memory-limit"};
  }
  *memory_left_ -= needed;
  return {};
}

base::Result<std::unique_ptr<SideFiles::OpenedTrace>> SideFiles::LoadTrace(
    const SideFilePath& file) {
  if (base::Status enough = TakeMemory(file); !enough.ok()) return std::move(enough).error();
  base::Result<trace::Trace> trace = read_(file);
  if (!trace.ok()) return std::move(trace).error();
  if (trace->format != trace::TraceFormat::kKineto) {
    return base::Error{base::ErrorCode::kInvalidInput,
                       "this is an Nsight Systems export; a recording of graphs is a PyTorch "
                       "profiler trace",
                       {}};
  }
  auto opened = std::make_unique<OpenedTrace>();
  opened->trace = *std::move(trace);
  opened->attribution = attribution::Attribute(opened->trace, rules_);
  const std::optional<int64_t> of_content = opened->trace.metadata.rank;
  opened->side = {file.path, of_content ? of_content : file.rank, file.batch, &opened->trace,
                  &opened->attribution};
  return opened;
}

base::Result<const replay::SideTrace*> SideFiles::OpenTrace(const SideFilePath& file) {
  base::Result<const OpenedTrace*> opened = Open(traces_, file, [&] { return LoadTrace(file); });
  if (!opened.ok()) return std::move(opened).error();
  return &(*opened)->side;
}

base::Result<const model::GraphAnnotations*> SideFiles::OpenAnnotations(const SideFilePath& file) {
  return Open(annotations_, file, [&]() -> base::Result<std::unique_ptr<model::GraphAnnotations>> {
    base::Result<model::GraphAnnotations> read = model::LoadGraphAnnotations(file.path);
    if (!read.ok()) return std::move(read).error();
    return std::make_unique<model::GraphAnnotations>(*std::move(read));
  });
}

base::Result<const model::ModelTree*> SideFiles::OpenModelTree(const SideFilePath& file) {
  return Open(model_trees_, file, [&]() -> base::Result<std::unique_ptr<model::ModelTree>> {
    base::Result<model::ModelTree> read = model::LoadModelTree(file.path);
    if (!read.ok()) return std::move(read).error();
    return std::make_unique<model::ModelTree>(*std::move(read));
  });
}

}  // namespace layerscope::session
