#pragma once

#include <string>
#include <vector>

#include "src/table/result.h"

namespace layerscope::document {

/// A document that is one JSON value (formats/outputs.md): model_execution, per_request_profiles.
/// What it was made of must outlive it.
struct JsonDocument {
  std::string name;  ///< "model_execution"
  table::Value root;
  /// What the envelope says of each input beside path and bytes: counts, coverage, warnings.
  std::vector<table::RankResult> ranks;
};

}  // namespace layerscope::document
