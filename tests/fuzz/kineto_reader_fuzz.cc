// The reader over any bytes: the store (or the refusal) must be the same for a whole buffer on one
// thread and for slices of any size on several.
#include <string>
#include <string_view>

#include "src/base/check.h"
#include "src/ingest/kineto/reader.h"
#include "src/io/byte_source.h"

#include "tests/fuzz/target.h"
#include "tests/support/store_text.h"

namespace {

std::string Read(std::string_view input, int threads, size_t chunk_bytes) {
  layerscope::ingest::kineto::ReadOptions options;
  options.threads = threads;
  options.chunk_bytes = chunk_bytes;
  const auto source = layerscope::io::OpenMemory(input);
  const auto trace = layerscope::ingest::kineto::ReadTrace(*source, options);
  if (!trace.ok()) return "refused: " + trace.error().message;
  return layerscope::tests::StoreText(*trace);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string whole = Read(input, 1, size_t{1} << 20);
  // Sizes taken from the input itself, so that a finding reproduces.
  const size_t odd = 1 + (size > 7 ? data[size / 2] * 4U : size);
  LS_CHECK(Read(input, 1, odd) == whole, "slices of another size give another store");
  LS_CHECK(Read(input, 3, 17 + odd / 4) == whole, "three threads give another store");
  return 0;
}
