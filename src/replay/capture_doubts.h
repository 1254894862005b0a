#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "src/replay/capture_finding.h"
#include "src/replay/capture_library.h"

namespace layerscope::replay {

/// What fits alone, but not in its company, is of another model: pieces of a forward that is
/// nowhere whole (what a window leaves of nine layers ends like a forward of eight), a small graph
/// beside larger ones for which the same file has other captures.
class CaptureDoubts {
 public:
  explicit CaptureDoubts(const CaptureLibrary& library) : library_(library) {}

  /// Every group of launches is noted before one is doubted. `n_kernels` as below.
  void Note(std::span<const int64_t> n_kernels, std::span<const Finding> found);
  /// Takes back what is doubtful. `n_kernels` beside `found`: of launches that may be resolved by a
  /// capture, else -1.
  void Doubt(std::span<const int64_t> n_kernels, std::span<Finding> found) const;

 private:
  const LibraryCapture& CaptureOf(const Finding& finding) const {
    return library_.captures()[static_cast<size_t>(finding.capture)];
  }
  void DoubtPieces(std::span<Finding> found) const;
  void DoubtFiles(std::span<const int64_t> n_kernels, std::span<Finding> found) const;
  bool HasLargerUnused(const LibraryCapture& capture) const;

  const CaptureLibrary& library_;
  std::set<uint64_t> used_;             // contents of captures that were laid over something
  int64_t unresolved_ = 0;              // kernels of the whole trace
  std::map<size_t, int64_t> resolved_;  // by file
  std::set<uint64_t> whole_;            // of them, over a whole forward
};

}  // namespace layerscope::replay
