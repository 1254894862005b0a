#include "src/table/result.h"

#include "src/base/check.h"

namespace layerscope::table {

std::string_view ToString(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kDataLoss:
      return "data_loss";
    case Severity::kError:
      return "error";
  }
  LS_CHECK(false, "unknown severity");
}

}  // namespace layerscope::table
