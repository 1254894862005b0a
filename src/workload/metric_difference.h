#pragma once

#include "src/workload/prometheus_text.h"

namespace layerscope::workload {

/// What a server did between two dumps: counters and histograms of `after` less those of `before`,
/// series by series; gauges are those of `after`. A series that counts less after than before was
/// reset in between (the server was started anew): then it stands as it is in `after`, and
/// `counter_reset` says so. What `before` lacks counts whole.
Exposition MetricDifference(const Exposition& before, Exposition after);

/// Whether `a` was taken before `b`, by the counters that both have: more of them are smaller.
bool IsEarlier(const Exposition& a, const Exposition& b);

}  // namespace layerscope::workload
