#include "src/base/check.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace layerscope::base {

void CheckFailed(const char* file, int line, const char* condition, const char* message) noexcept {
  const std::string text = std::string(file) + ":" + std::to_string(line) +
                           ": check failed: " + condition + ": " + message + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  std::abort();
}

}  // namespace layerscope::base
