#include "src/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace layerscope::cli {
namespace {

constexpr int kUsualWidth = 80;

std::string_view Environment(const char* name) {
  // Read before any thread is started.
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string_view() : std::string_view(value);
}

int TerminalWidth() {
  int columns = 0;
  const std::string_view text = Environment("COLUMNS");
  std::from_chars(text.data(), text.data() + text.size(), columns);
  if (columns > 0) return columns;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kUsualWidth;
}

}  // namespace

TerminalStyle StyleOf(const session::OptionValues& options, bool to_file) {
  TerminalStyle style;
  const bool terminal = !to_file && isatty(STDOUT_FILENO) == 1;
  if (const std::optional<int64_t> width = options.Number("width")) {
    style.width = static_cast<int>(std::min<int64_t>(*width, 10000));
  } else if (terminal) {
    style.width = TerminalWidth();
  }
  const std::string when = options.TextOr("color", "auto");
  style.color =
      when == "always" || (when == "auto" && terminal && Environment("NO_COLOR").empty() &&
                           Environment("TERM") != "dumb");
  return style;
}

bool StdoutIsTerminal() {
  return isatty(STDOUT_FILENO) == 1;
}

bool StderrIsTerminal() {
  return isatty(STDERR_FILENO) == 1;
}

}  // namespace layerscope::cli
