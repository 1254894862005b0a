// The reader over any bytes as a database file: the store (or the refusal) must be the same on one
// thread and on several.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "src/base/check.h"
#include "src/ingest/nsys/reader.h"

#include "tests/fuzz/target.h"
#include "tests/support/store_text.h"

namespace {

/// SQLite opens files by name: one a process, in memory where the system has such a folder.
class InputFile {
 public:
  InputFile() {
    std::error_code missing;
    const std::filesystem::path memory("/dev/shm");
    const auto folder = std::filesystem::is_directory(memory, missing)
                            ? memory
                            : std::filesystem::temp_directory_path();
    path_ = (folder / ("layerscope_fuzz_" + std::to_string(getpid()) + ".sqlite")).string();
  }
  ~InputFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  void Write(const uint8_t* data, size_t size) const {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string Read(const std::string& path, int threads) {
  layerscope::ingest::nsys::ReadOptions options;
  options.threads = threads;
  const auto trace = layerscope::ingest::nsys::ReadTrace(path, options);
  if (!trace.ok()) return "refused: " + trace.error().message;
  return layerscope::tests::StoreText(*trace);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const InputFile file;
  file.Write(data, size);
  const std::string one = Read(file.path(), 1);
  LS_CHECK(Read(file.path(), 3) == one, "three threads give another store");
  return 0;
}
