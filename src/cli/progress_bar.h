#pragma once

#include <chrono>
#include <cstdint>

namespace layerscope::cli {

/// A line on stderr that says how far reading is, for work over half a second. It is erased when
/// the bar goes out of scope.
class ProgressBar {
 public:
  explicit ProgressBar(bool enabled)
      : enabled_(enabled), started_(std::chrono::steady_clock::now()), drawn_(started_) {}
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `total` < 0: unknown. Any thread, one at a time.
  void Update(int64_t done, int64_t total);

 private:
  bool enabled_;
  bool visible_ = false;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace layerscope::cli
