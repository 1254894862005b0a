// The small-document reader over any bytes.
#include <string_view>

#include "src/json/document.h"

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)layerscope::json::ParseDocument(text);
  return 0;
}
