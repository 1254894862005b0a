#pragma once

#include <string>
#include <vector>

#include "src/base/result.h"

namespace layerscope::session {

/// What a reader of traces refused, by what the file is where other verbs read it: a benchmark's
/// result or metrics (`workload`), a finished document (`view`). Any other error, and one of a file
/// that can be read only once, comes back as it is.
base::Error NamedByKind(const std::string& path, base::Error error);

/// The same error for `workload`, to which traces are one kind among others: a file among `inputs`
/// that is none of all is refused by what it is, with the list of what is read.
base::Error ForeignToWorkload(const std::vector<std::string>& inputs, base::Error error);

}  // namespace layerscope::session
