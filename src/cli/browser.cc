#include "src/cli/browser.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "src/cli/terminal.h"
#include "src/session/child_process.h"
#include "src/session/temporary_folder.h"

namespace layerscope::cli {
namespace {

/// How long a browser may take to read the page that leads to ours.
constexpr std::chrono::seconds kStartTime{20};
constexpr std::chrono::milliseconds kBetweenLooks{100};

bool IsSet(const char* name) {
  // Read before any thread is started.
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr && *value != '\0';
}

}  // namespace

bool HasBrowser() {
  return StderrIsTerminal() && (IsSet("DISPLAY") || IsSet("WAYLAND_DISPLAY"));
}

void OpenBrowser(const std::string& url, const base::StopFlag& stop) {
  base::Result<session::TemporaryFolder> folder = session::TemporaryFolder::Create();
  if (!folder.ok()) return;
  const std::string page = folder->path() + "/open.html";
  {
    std::ofstream file(page);
    file << fmt::format(
        "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={0}\">"
        "<a href=\"{0}\">layerscope</a>\n",
        url);
  }
  ::chmod(page.c_str(), S_IRUSR | S_IWUSR);
  base::Result<session::ChildExit> opened =
      session::RunChild({"xdg-open", page}, folder->path() + "/log", &stop);
  if (!opened.ok() || !opened->found || opened->status != 0) return;
  const auto until = std::chrono::steady_clock::now() + kStartTime;
  while (!stop.requested() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace layerscope::cli
