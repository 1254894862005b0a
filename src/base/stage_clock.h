#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::base {

/// Wall time of the program's own stages, for --stats. Not thread safe: one clock a pipeline.
class StageClock {
 public:
  struct Stage {
    std::string name;
    int64_t wall_ns = 0;
  };

  /// Ends the stage that runs, if any, and starts `name`. Stages of one name add up.
  void Start(std::string_view name);
  /// Ends the stage that runs.
  void Stop();
  const std::vector<Stage>& stages() const { return stages_; }

 private:
  std::vector<Stage> stages_;
  size_t running_ = 0;
  bool is_running_ = false;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace layerscope::base
