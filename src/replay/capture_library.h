#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/attribution/module_graft.h"
#include "src/replay/capture_choice.h"
#include "src/replay/label_reader.h"
#include "src/replay/piece_fit.h"
#include "src/replay/recorded_names.h"
#include "src/replay/recording.h"
#include "src/replay/resolve.h"
#include "src/replay/row_placer.h"

namespace layerscope::replay {

/// A captured forward as the resolver needs it.
struct LibraryCapture {
  Recording recording;
  std::vector<RecordedSequence> pieces;
  std::vector<RecordedLabels> labels;  ///< by piece; empty where the piece names its kernels
  /// By piece and node: what its modules and op are called. Equal: nobody could tell them apart.
  std::vector<std::vector<uint64_t>> naming;
  uint64_t content = 0;  ///< hash of kernels and naming: equal captures are as good as one
  int64_t n_kernels = 0;
  size_t file = 0;
};

/// The captures of all side files; a file is opened when it is first asked for.
class CaptureLibrary {
 public:
  CaptureLibrary(const trace::Trace& trace, attribution::ModuleGraft& graft,
                 const std::vector<SideFile>& files);

  /// The distances from `wanted` at which there may be captures, nearest first.
  std::vector<int64_t> Distances(const WantedCapture& wanted) const;
  /// Opens the files up to that distance.
  void Open(const WantedCapture& wanted, int64_t distance);
  int64_t DistanceOf(const WantedCapture& wanted, const LibraryCapture& capture) const;

  const std::vector<LibraryCapture>& captures() const { return captures_; }
  /// Could any file that was opened be read?
  bool AnyRead() const;
  RowPlacer& placer(const LibraryCapture& capture) { return *files_[capture.file].placer; }
  /// The sizes that captures are known for, ascending.
  const std::vector<int64_t>& sizes() const { return sizes_; }

 private:
  struct File {
    const SideFile* side = nullptr;
    bool is_open = false;
    const SideTrace* trace = nullptr;  // null: cannot be read
    std::unique_ptr<RowPlacer> placer;
  };

  void OpenFile(size_t index);
  void AddSize(std::optional<int64_t> size);

  const trace::Trace& trace_;
  attribution::ModuleGraft& graft_;
  std::vector<File> files_;
  std::vector<LibraryCapture> captures_;
  std::vector<int64_t> sizes_;
};

}  // namespace layerscope::replay
