#pragma once

#include <string>
#include <vector>

#include "src/document/workload/input.h"
#include "src/document/workload/server_values.h"
#include "src/table/result.h"

namespace layerscope::document {

/// A time of the server as people see it: "19.2 ms", and "≈ 19.2 ms", "≤ 20 ms" or "≥ 20 ms" where
/// it is a quantile of a histogram. "-" where it is unknown.
std::string ServerTimeText(const std::optional<int64_t>& ns,
                           const std::optional<workload::QuantileIs>& is);
/// What the signs of ServerTimeText mean, for below a table.
inline constexpr const char* kServerSigns =
    "≈ is estimated from a histogram's buckets; ≤ and ≥ are limits that its mean or its buckets "
    "set";

/// What the server says by itself: whose it is and of which time it speaks, KV cache, preemptions,
/// load, tokens; then its own times. Empty without metrics.
std::vector<table::Block> ServerBlocks(const WorkloadInput& input);

}  // namespace layerscope::document
