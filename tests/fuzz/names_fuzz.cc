// Names from a hostile file: kernel names and step names of any bytes.
#include <string>
#include <string_view>

#include "src/attribution/step.h"
#include "src/kernel_names/kernel_name.h"
#include "src/kernel_names/short_name.h"

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view name(reinterpret_cast<const char*>(data), size);
  (void)layerscope::kernel_names::Demangle(name);
  (void)layerscope::kernel_names::OwnName(name);
  (void)layerscope::kernel_names::ShortName(name);
  (void)layerscope::attribution::ParseStepName(name);
  return 0;
}
