#pragma once

#include <string_view>

#include "src/base/result.h"

namespace layerscope::model {

/// kInvalidInput when the first bytes are those of another kind of file than the text that `what`
/// names ("a model tree"): a web page, a database, an archive, … `instead` says what to give.
/// A Python pickle, or an archive of torch.save, is named and never read: reading one can run any
/// code. Everything else passes.
base::Status RefuseForeignBytes(std::string_view bytes, std::string_view what,
                                std::string_view instead);

}  // namespace layerscope::model
