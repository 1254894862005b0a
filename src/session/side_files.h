#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/base/result.h"
#include "src/kernel_names/rule_set.h"
#include "src/model/graph_annotations.h"
#include "src/model/model_tree.h"
#include "src/replay/recording.h"
#include "src/session/side_file_search.h"
#include "src/table/result.h"
#include "src/trace/trace.h"

namespace layerscope::session {

/// Opens what lies beside a run, each file once and only when somebody asks for it; all of it lives
/// as long as this. Safe to use from several threads.
class SideFiles {
 public:
  using ReadTrace = std::function<base::Result<trace::Trace>(const SideFilePath&)>;

  /// `read` and `rules` outlive this. `memory_left`: what side traces may take, in bytes; absent =
  /// no limit.
  SideFiles(ReadTrace read, const kernel_names::RuleSet& rules, std::optional<int64_t> memory_left)
      : read_(std::move(read)), rules_(rules), memory_left_(memory_left) {}

  /// Looks up what the options name and reads the model tree and annotations that they name by
  /// file. kInvalidInput with the option in front.
  base::Status Name(const SideFileOptions& options);

  /// What one trace may use: of each kind what the options name, else what lies beside it.
  SideFileSet Of(const std::string& trace_path, std::optional<int64_t> rank) const;

  /// A side trace, read and attributed. Errors are kept: the same file fails the same way again.
  base::Result<const replay::SideTrace*> OpenTrace(const SideFilePath& file);
  base::Result<const model::GraphAnnotations*> OpenAnnotations(const SideFilePath& file);
  base::Result<const model::ModelTree*> OpenModelTree(const SideFilePath& file);

 private:
  /// What a file held, or why it could not be read.
  template <typename Content>
  struct Slot {
    std::mutex mutex;
    bool tried = false;
    std::unique_ptr<Content> content;
    std::optional<base::Error> error;
  };
  template <typename Content>
  using Slots = std::map<std::string, std::unique_ptr<Slot<Content>>>;

  struct OpenedTrace {
    trace::Trace trace;
    attribution::Attribution attribution;
    replay::SideTrace side;
  };

  template <typename Content>
  Slot<Content>& SlotOf(Slots<Content>& slots, const std::string& path);
  template <typename Content, typename Load>
  base::Result<const Content*> Open(Slots<Content>& slots, const SideFilePath& file, Load load);
  base::Status TakeMemory(const SideFilePath& file);
  base::Result<std::unique_ptr<OpenedTrace>> LoadTrace(const SideFilePath& file);

  ReadTrace read_;
  const kernel_names::RuleSet& rules_;
  std::mutex mutex_;  ///< of the maps and of memory_left_
  std::optional<int64_t> memory_left_;
  SideFileOptions options_;
  SideFileSet named_;
  Slots<OpenedTrace> traces_;
  Slots<model::GraphAnnotations> annotations_;
  Slots<model::ModelTree> model_trees_;
};

}  // namespace layerscope::session
