#include "src/io/small_file.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

#include "src/io/byte_source.h"

namespace layerscope::io {

base::Result<std::string> ReadSmallFile(const std::string& path, size_t max_bytes,
                                        std::string_view what, std::string_view hint) {
  base::Result<std::unique_ptr<ByteSource>> source = OpenFile(path);
  if (!source.ok()) return std::move(source).error();
  std::string text;
  std::array<char, 16384> block;
  for (;;) {
    base::Result<size_t> read = (*source)->Read(block);
    if (!read.ok()) return std::move(read).error();
    if (*read == 0) break;
    text.append(block.data(), *read);
    if (text.size() > max_bytes) {
      return base::Error{base::ErrorCode::kInvalidInput,
                         fmt::format("{}: too large for {}", path, what), std::string(hint)};
    }
  }
  if (!(*source)->damage().empty()) {
    return base::Error{base::ErrorCode::kInvalidInput,
                       fmt::format("{}: {}", path, (*source)->damage()),
                       "the file is cut or damaged: copy it again"};
  }
  return text;
}

}  // namespace layerscope::io
