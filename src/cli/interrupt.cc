#include "src/cli/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "src/base/result.h"

namespace layerscope::cli {
namespace {

// A signal handler reaches nothing but statics.
base::StopFlag interrupted;  // NOLINT(*-avoid-non-const-global-variables)

/// How long the program may take to notice the flag and leave in good order.
constexpr unsigned kGraceSeconds = 2;

/// The program did not notice: it waits for a pipe, or computes. Nothing half-written is left,
/// since output is written aside and renamed.
void LeaveAtOnce(int) {
  constexpr std::string_view kText = "layerscope: interrupted\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText.data(), kText.size());
  ::_exit(base::ExitStatus(base::ErrorCode::kCancelled));
}

void Handle(int signal) {
  interrupted.Request();
  std::signal(signal, SIG_DFL);
  ::alarm(kGraceSeconds);
}

}  // namespace

const base::StopFlag& CatchSignals() {
  std::signal(SIGINT, Handle);
  std::signal(SIGTERM, Handle);
  std::signal(SIGALRM, LeaveAtOnce);
  std::signal(SIGPIPE, SIG_IGN);
  return interrupted;
}

}  // namespace layerscope::cli
