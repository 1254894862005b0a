#pragma once

#include <string_view>

#include "src/base/result.h"

namespace layerscope::io {

/// A stream of bytes that are written once, from front to back.
class ByteSink {
 public:
  virtual ~ByteSink() = default;

  /// kFailed when the bytes cannot be written (a full disk); what was written is then worth
  /// nothing.
  virtual base::Status Write(std::string_view bytes) = 0;
  /// After the last byte: writes what is held back. Call once.
  virtual base::Status Finish() { return {}; }
};

}  // namespace layerscope::io
