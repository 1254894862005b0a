#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace layerscope::document {

inline constexpr uint32_t kNoRun = static_cast<uint32_t>(-1);

/// One unbroken stretch of activities of a stream that belong together: a pass, a layer in it, a
/// block in that; or a module and those below it.
struct Run {
  uint32_t level = 0;    ///< 0 = outermost
  uint32_t key = 0;      ///< what it is, as the caller numbers it
  uint32_t up = kNoRun;  ///< the run around it, by index
  uint32_t first_row = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t sum_ns = 0;  ///< of its kernels, clamped when it does not fit
  int64_t n_kernels = 0;
};

/// One activity.
struct Member {
  uint32_t row = 0;
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  bool is_kernel = true;  ///< copies and sets are covered but not counted
};

/// Turns the activities of one stream, in order of their starts, into runs that nest strictly: a
/// run of level n lies inside one run of level n - 1, and two runs of a level never overlap. Where
/// an activity starts before the one before it has ended (dependent launch), the earlier run is cut
/// short at that start; where two passes or layers alternate (micro-batches), each stretch is a run
/// of its own.
class NestedRuns {
 public:
  /// `path`: keys from the outermost level on. What stays open at every level of it goes on.
  void Add(const Member& member, std::span<const uint32_t> path);
  /// An activity that belongs to none of them starts: runs of `level` and below end here, those
  /// above go on.
  void Interrupt(int64_t start_ns, size_t level);
  /// Closes what is open. By start, a run before those inside it.
  std::vector<Run> Finish() &&;

 private:
  void CloseFrom(size_t level, int64_t limit_ns);

  std::vector<Run> runs_;
  std::vector<size_t> open_;  ///< by level: index into runs_
};

}  // namespace layerscope::document
