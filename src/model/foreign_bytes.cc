#include "src/model/foreign_bytes.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

namespace layerscope::model {
namespace {

struct Magic {
  std::string_view bytes;
  std::string_view what;
};

constexpr std::array<Magic, 8> kMagics = {{
    {"SQLite format 3", "an SQLite database"},
    {"NVIDIA_NSYS", "an Nsight Systems report"},
    {"version https://git-lfs", "a pointer of Git LFS (git lfs pull fetches the file)"},
    {"\x1f\x8b", "gzip data that is packed twice"},
    {"\x28\xb5\x2f\xfd", "zstd data that is packed twice"},
    {"%PDF-", "a PDF document"},
    {"\x89PNG", "an image"},
    {"\x7f"
     "ELF",
     "an executable"},
}};
/// Texts have no zero byte; a binary file has one early.
constexpr size_t kLookedAt = 512;

/// Protocols 2 to 5 begin with PROTO and their number (pickletools), protocol 0 with an empty
/// dictionary or list on the stack.
bool IsPickle(std::string_view bytes) {
  const bool binary = bytes.size() > 1 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
  return binary || bytes.starts_with("(dp") || bytes.starts_with("(lp") || bytes.starts_with("}q");
}

/// Empty: a text that may be what is wanted.
std::string_view KindOf(std::string_view bytes) {
  for (const Magic& magic : kMagics) {
    if (bytes.starts_with(magic.bytes)) return magic.what;
  }
  const size_t first = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first != std::string_view::npos && bytes[first] == '<') return "an HTML or XML page";
  if (bytes.substr(0, kLookedAt).find('\0') != std::string_view::npos) {
    return "a binary file of unknown kind";
  }
  return {};
}

}  // namespace

base::Status RefuseForeignBytes(std::string_view bytes, std::string_view what,
                                std::string_view instead) {
  const auto refuse = [instead](std::string message) {
    return base::Error{base::ErrorCode::kInvalidInput, std::move(message), std::string(instead)};
  };
  const bool is_archive = bytes.starts_with("PK\x03\x04");
  if (is_archive || IsPickle(bytes)) {
    return refuse(fmt::format("this is {}; reading one can run any code, so it is never read",
                              is_archive ? "an archive of torch.save" : "a Python pickle"));
  }
  const std::string_view kind = KindOf(bytes);
  return kind.empty() ? base::Status() : refuse(fmt::format("this is {}, not {}", kind, what));
}

}  // namespace layerscope::model
