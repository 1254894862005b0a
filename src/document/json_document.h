#pragma once

#include <optional>
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
  /// What people see of all inputs together, beside path and bytes.
  std::vector<table::Block> blocks{};
  /// What it says of all inputs together, where there are several.
  std::optional<table::Object> reduced{};
  /// What it was made of beside the traces of the run.
  std::vector<table::InputInfo> inputs{};
  /// Health of the run as a whole, beside that of each input.
  std::vector<table::HealthEntry> health{};
};

}  // namespace layerscope::document
