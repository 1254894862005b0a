#include "src/session/file_begin.h"

#include <filesystem>
#include <memory>
#include <system_error>

#include "src/io/byte_source.h"

namespace layerscope::session {

std::string FileBegin(const std::string& path, size_t n_bytes) {
  std::error_code problem;
  if (path == "-" || !std::filesystem::is_regular_file(path, problem)) return {};
  base::Result<std::unique_ptr<io::ByteSource>> source = io::OpenFile(path);
  if (!source.ok()) return {};
  std::string begin(n_bytes, '\0');
  const base::Result<size_t> read = (*source)->Read(begin);
  begin.resize(read.ok() ? *read : 0);
  return begin;
}

}  // namespace layerscope::session
