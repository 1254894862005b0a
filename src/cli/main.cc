#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "src/cli/app.h"
#include "src/cli/interrupt.h"

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return layerscope::cli::RunApp(arguments, layerscope::cli::CatchSignals());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "layerscope: error: %s\n", error.what());
  } catch (...) {
    std::fputs("layerscope: error: unknown failure\n", stderr);
  }
  return 1;
}
