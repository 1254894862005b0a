#pragma once

#include "src/base/result.h"
#include "src/workload/prometheus_text.h"

namespace layerscope::workload {

/// What a server did between two dumps: counters and histograms of `after` less those of `before`,
/// series by series; gauges are those of `after`. A counter is one with and without `_total`, and
/// where only one dump says the type of a metric the other has it too. A series that counts less
/// after than before was reset in between (the server was started anew): then it stands as it is in
/// `after`, and `counter_reset` says so. What `before` lacks counts whole, and `no_earlier_value`
/// names it. kInvalidInput where the dumps name different models, or both count and nothing in
/// common: they are not of one server.
base::Result<Exposition> MetricDifference(const Exposition& before, Exposition after);

/// Whether `a` was taken before `b`, by the counters that both have: more of them are smaller.
bool IsEarlier(const Exposition& a, const Exposition& b);

}  // namespace layerscope::workload
