#pragma once

#include <string_view>

#include "src/base/result.h"
#include "src/json/document.h"

namespace layerscope::model {

/// kInvalidInput when `root` is a file that people take for a model's config.json: it says what it
/// is and what to give. Everything else passes.
base::Status RefuseOtherKinds(const json::Node& root);

}  // namespace layerscope::model
