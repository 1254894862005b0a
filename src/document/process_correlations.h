#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/trace/trace.h"

namespace layerscope::document {

/// Correlations of activities, each of one host process: other processes count the same numbers.
/// One whose host is not known is of every process.
class ProcessCorrelations {
 public:
  void Add(trace::ProcessId host, int64_t correlation) {
    if (correlation != trace::kNoCorrelation) keys_.emplace_back(host, correlation);
  }
  /// To be called once, before Has.
  void Freeze() {
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  }
  bool Has(trace::ProcessId process, int64_t correlation) const {
    return correlation != trace::kNoCorrelation &&
           (Holds(process, correlation) || Holds(trace::ProcessId(), correlation));
  }

 private:
  bool Holds(trace::ProcessId process, int64_t correlation) const {
    return std::binary_search(keys_.begin(), keys_.end(), std::pair(process, correlation));
  }

  std::vector<std::pair<trace::ProcessId, int64_t>> keys_;
};

}  // namespace layerscope::document
