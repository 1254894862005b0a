#include "src/analysis/overhead_lines.h"

namespace layerscope::analysis {

std::string_view ToString(OverheadLine line) {
  constexpr std::array<std::string_view, kOverheadLines> kNames = {
      "compute",    "exposed_comm", "comm_wait",     "memcpy",     "queued_gap",
      "launch_gap", "host_wait",    "between_steps", "unexplained"};
  return kNames[static_cast<size_t>(line)];
}

std::string_view TitleOf(OverheadLine line) {
  constexpr std::array<std::string_view, kOverheadLines> kTitles = {
      "compute", "comm", "comm wait", "memcpy", "queued", "launch", "host", "between", "unexpl"};
  return kTitles[static_cast<size_t>(line)];
}

std::string_view MeaningOf(OverheadLine line) {
  constexpr std::array<std::string_view, kOverheadLines> kMeanings = {
      "kernels that compute",
      "communication alone",
      "waiting for other ranks",
      "copies, sets alone",
      "idle, next work launched already",
      "idle, host has not launched yet",
      "idle, host synchronises",
      "idle, between steps",
      "idle, next work has no launch"};
  return kMeanings[static_cast<size_t>(line)];
}

}  // namespace layerscope::analysis
