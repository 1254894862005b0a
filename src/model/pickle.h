#pragma once

#include <string_view>

#include "src/base/result.h"

namespace layerscope::model {

/// kInvalidInput when the bytes are a Python pickle or an archive of torch.save: reading one can
/// run any code, so it is named and never read. `instead` says what to give. Everything else
/// passes.
base::Status RefusePickle(std::string_view bytes, std::string_view instead);

}  // namespace layerscope::model
