#include "src/cli/interrupt.h"

#include <csignal>

namespace layerscope::cli {
namespace {

// A signal handler reaches nothing but statics.
base::StopFlag interrupted;  // NOLINT(*-avoid-non-const-global-variables)

void Handle(int signal) {
  interrupted.Request();
  std::signal(signal, SIG_DFL);
}

}  // namespace

const base::StopFlag& CatchSignals() {
  std::signal(SIGINT, Handle);
  std::signal(SIGTERM, Handle);
  std::signal(SIGPIPE, SIG_IGN);
  return interrupted;
}

}  // namespace layerscope::cli
