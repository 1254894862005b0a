#pragma once

#include "src/workload/prometheus_text.h"

namespace layerscope::workload {

/// Makes unknown (NaN; no buckets) what an engine's metric cannot be: counts below zero or above
/// 2^53, beyond which a float no longer counts one by one; sums below zero; a part in use outside
/// of 0 to 1; buckets that are not cumulative, or do not hold as many as `_count` says. Each is
/// counted as `impossible_value` in the losses, which name the first metrics. Metrics of the
/// process, of Python and of HTTP are left alone.
void DropImpossible(Exposition& exposition);

}  // namespace layerscope::workload
