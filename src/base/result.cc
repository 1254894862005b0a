#include "src/base/result.h"

#include <string>

namespace layerscope::base {

std::string_view ToString(ErrorCode code) {
  switch (code) {
    case ErrorCode::kFailed:
      return "failed";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kUsage:
      return "usage";
    case ErrorCode::kInvalidInput:
      return "invalid_input";
    case ErrorCode::kStrictViolated:
      return "strict_violated";
    case ErrorCode::kCancelled:
      return "cancelled";
  }
  return "failed";
}

int ExitStatus(ErrorCode code) {
  switch (code) {
    case ErrorCode::kFailed:
    case ErrorCode::kNotFound:
      return 1;
    case ErrorCode::kUsage:
      return 2;
    case ErrorCode::kInvalidInput:
    case ErrorCode::kStrictViolated:
      return 3;
    case ErrorCode::kCancelled:
      return 130;
  }
  return 1;
}

Error Error::WithContext(std::string_view context) && {
  message = std::string(context) + ": " + message;
  return std::move(*this);
}

Error UsageError(std::string message, std::string hint) {
  return {ErrorCode::kUsage, std::move(message), std::move(hint)};
}

Error Interrupted() {
  return {ErrorCode::kCancelled, "interrupted", {}};
}

}  // namespace layerscope::base
