#pragma once

#include <vector>

#include "src/table/result.h"

namespace layerscope::render {

/// What people see of data that no analysis has laid out for them: its scalars as facts, then its
/// tables.
std::vector<table::Block> BlocksOf(const table::Object& data);

}  // namespace layerscope::render
