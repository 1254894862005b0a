#include "src/cli/progress_bar.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "src/base/format_number.h"

namespace layerscope::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kQuiet{500};
constexpr milliseconds kBetweenDraws{100};
constexpr int kCells = 30;

std::string BarText(int64_t done, int64_t total) {
  if (total <= 0) return fmt::format("reading {}", base::FormatBytes(done));
  const double share = static_cast<double>(done) / static_cast<double>(total);
  const int full = std::min(kCells, static_cast<int>(share * kCells));
  return fmt::format("reading [{}{}] {} of {}", std::string(static_cast<size_t>(full), '#'),
                     std::string(static_cast<size_t>(kCells - full), '.'), base::FormatBytes(done),
                     base::FormatBytes(total));
}

}  // namespace

ProgressBar::~ProgressBar() {
  if (visible_) std::fputs("\r\033[K", stderr);
}

void ProgressBar::Update(int64_t done, int64_t total) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - started_ < kQuiet || now - drawn_ < kBetweenDraws) return;
  drawn_ = now;
  visible_ = true;
  std::fputs(("\r" + BarText(done, total) + "\033[K").c_str(), stderr);
}

}  // namespace layerscope::cli
