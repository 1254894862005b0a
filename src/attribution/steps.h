#pragma once

#include <cstdint>
#include <vector>

#include "src/attribution/innermost_index.h"
#include "src/attribution/step.h"
#include "src/trace/trace.h"

namespace layerscope::attribution {

struct StepTable {
  std::vector<Step> steps;     ///< by (start, file order)
  int64_t n_out_of_range = 0;  ///< numbers in names of step annotations that were dropped
};

/// Makes steps of the host's annotations (formats/kineto.md, "Steps as the engines write them"):
///   two families nested on one thread  one step: the innermost engine annotation, fields merged
///   several engine steps in an outer   each is a step, the outer is none, nothing is merged
///   nested in one family, or crossing  each is a step
///   ProfilerStep                       a step unless an engine step of its process lies inside it,
///   or
///                                      captures do and it launches nothing outside of them
/// `is_launch` is by StringId index.
StepTable BuildSteps(const trace::Trace& trace, const std::vector<uint8_t>& is_launch);

/// Says which step something that happens on a thread belongs to: the innermost step of that
/// thread, else the latest started step of another thread of its process.
class StepLocator {
 public:
  StepLocator(const trace::Trace& trace, const std::vector<Step>& steps);
  /// Invalid outside of every step.
  StepId Find(trace::ThreadId thread, int64_t t_ns);

 private:
  const trace::Trace& trace_;
  bool empty_ = true;
  InnermostIndex by_thread_;
  InnermostIndex by_process_;
};

}  // namespace layerscope::attribution
