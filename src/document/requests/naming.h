#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/document/requests/tree.h"
#include "src/table/result.h"

namespace layerscope::document {

/// A warning where a request has hardly a module in common with any other, mostly because modules
/// are named by class in one trace and by path in another; with the ways to one naming. `names` by
/// request, for the message. Absent: they meet.
std::optional<table::HealthEntry> RequestsApart(const AlignedTree& tree,
                                                const std::vector<std::string>& names);

}  // namespace layerscope::document
