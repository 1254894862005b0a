#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/base/checked_sum.h"

namespace layerscope::analysis {

/// What an instant of a step's wall goes to, in the order of output (CLI.md). Which of them it goes
/// to where several hold: the table of docs/overhead.md.
enum class OverheadLine : uint8_t {
  kCompute,       ///< a kernel that computes runs, or a whole graph
  kExposedComm,   ///< communication runs, and nothing that computes
  kCommWait,      ///< of communication, waiting for other ranks: 0 until ranks are compared
  kMemcpy,        ///< only copies or sets run
  kQueuedGap,     ///< idle, though the next activity's launch had returned when the idle time began
  kLaunchGap,     ///< idle inside a step's annotation: the host has not launched yet
  kHostWait,      ///< idle while the launching thread is in a synchronising call
  kBetweenSteps,  ///< idle outside of every step's annotation
  kUnexplained,   ///< idle, and the next activity has no launch
};
inline constexpr size_t kOverheadLines = 9;

/// The key in JSON: "compute", "exposed_comm", …
std::string_view ToString(OverheadLine line);
/// The heading of a narrow column for people, the telling word of the key: "compute", "comm", …
std::string_view TitleOf(OverheadLine line);
/// For people, what the step does in that time: "the GPU computes", …
std::string_view MeaningOf(OverheadLine line);

/// Nanoseconds by line.
class LineSums {
 public:
  int64_t& operator[](OverheadLine line) { return ns_[static_cast<size_t>(line)]; }
  int64_t operator[](OverheadLine line) const { return ns_[static_cast<size_t>(line)]; }
  int64_t total_ns() const {
    int64_t sum = 0;
    for (const int64_t ns : ns_) sum = base::AddClamped(sum, ns);
    return sum;
  }

 private:
  std::array<int64_t, kOverheadLines> ns_{};
};

inline constexpr std::array<OverheadLine, kOverheadLines> kAllOverheadLines = {
    OverheadLine::kCompute,  OverheadLine::kExposedComm,  OverheadLine::kCommWait,
    OverheadLine::kMemcpy,   OverheadLine::kQueuedGap,    OverheadLine::kLaunchGap,
    OverheadLine::kHostWait, OverheadLine::kBetweenSteps, OverheadLine::kUnexplained};

}  // namespace layerscope::analysis
