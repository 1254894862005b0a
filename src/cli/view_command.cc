#include "src/cli/view_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "src/base/stage_clock.h"
#include "src/cli/browser.h"
#include "src/cli/progress_bar.h"
#include "src/cli/terminal.h"
#include "src/server/page.h"
#include "src/server/view_server.h"
#include "src/session/view_source.h"

namespace layerscope::cli {
namespace {

constexpr int64_t kLastPort = 65535;

base::Result<std::optional<uint16_t>> PortOf(const session::OptionValues& options) {
  const std::optional<int64_t> port = options.Number("port");
  if (!port) return std::optional<uint16_t>();
  if (*port > kLastPort) {
    return base::UsageError(fmt::format("--port {} is no port", *port),
                            fmt::format("ports are 0 to {}", kLastPort));
  }
  return std::optional<uint16_t>(static_cast<uint16_t>(*port));
}

base::Result<std::unique_ptr<session::ViewSource>> OpenSource(
    const std::vector<std::string>& inputs, const session::RawOptions& raw,
    const session::OptionValues& options, const base::StopFlag& stop) {
  const bool quiet = options.Flag("quiet") || options.Flag("no-progress");
  ProgressBar bar(!quiet && StderrIsTerminal());
  session::Hooks hooks;
  hooks.stop = &stop;
  hooks.progress = [&bar](int64_t done, int64_t total) { bar.Update(done, total); };
  base::StageClock clock;
  return session::ViewSource::Open(session::ViewRequestOf(inputs, raw), hooks, clock);
}

/// The address was printed: what fails here (memory, threads) is no reason to end.
std::thread BrowserThread(const std::string& url, const base::StopFlag& stop) {
  try {
    return std::thread([url, &stop] {
      try {
        OpenBrowser(url, stop);
      } catch (const std::exception&) {
      }
    });
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

base::Result<int> RunView(const std::vector<std::string>& inputs, const session::RawOptions& raw,
                          const session::OptionValues& options, const base::StopFlag& stop) {
  base::Result<std::optional<uint16_t>> port = PortOf(options);
  if (!port.ok()) return std::move(port).error();
  base::Result<std::unique_ptr<session::ViewSource>> source =
      OpenSource(inputs, raw, options, stop);
  if (!source.ok()) return std::move(source).error();
  if (server::ViewerBundle().empty()) {
    std::fputs(fmt::format("layerscope: warning: {}; {}. Only /api/… is answered.\n",
                           server::kNoBundle, server::kNoBundleHint)
                   .c_str(),
               stderr);
  }
  std::thread browser;
  server::ServeOptions serve;
  serve.port = *port;
  serve.n_threads = options.Number("threads")
                        ? static_cast<size_t>(*options.Number("threads"))
                        : static_cast<size_t>(std::thread::hardware_concurrency());
  serve.stop = &stop;
  serve.ready = [&](const std::string& url) {
    if (!options.Flag("quiet")) {
      std::fputs("layerscope: the viewer is at this address, until Ctrl-C:\n", stderr);
    }
    std::puts(url.c_str());
    std::fflush(stdout);
    if (options.Flag("no-open") || server::ViewerBundle().empty() || !HasBrowser()) return;
    browser = BrowserThread(url, stop);
  };
  base::Status served = server::ServeView(**source, serve);
  if (browser.joinable()) browser.join();
  if (!served.ok()) return std::move(served).error();
  return 0;
}

}  // namespace layerscope::cli
