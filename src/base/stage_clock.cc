#include "src/base/stage_clock.h"

#include <algorithm>

namespace layerscope::base {

void StageClock::Start(std::string_view name) {
  Stop();
  const auto found = std::find_if(stages_.begin(), stages_.end(),
                                  [&](const Stage& stage) { return stage.name == name; });
  running_ = static_cast<size_t>(found - stages_.begin());
  if (found == stages_.end()) stages_.push_back({std::string(name), 0});
  is_running_ = true;
  since_ = std::chrono::steady_clock::now();
}

void StageClock::Stop() {
  if (!is_running_) return;
  is_running_ = false;
  const auto passed = std::chrono::steady_clock::now() - since_;
  stages_[running_].wall_ns += std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count();
}

}  // namespace layerscope::base
