#include "src/model/pickle.h"

#include <fmt/format.h>

#include <string>

namespace layerscope::model {
namespace {

/// Protocols 2 to 5 begin with PROTO and their number (pickletools), protocol 0 with an empty
/// dictionary or list on the stack.
bool IsPickle(std::string_view bytes) {
  const bool binary = bytes.size() > 1 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
  return binary || bytes.starts_with("(dp") || bytes.starts_with("(lp") || bytes.starts_with("}q");
}

}  // namespace

base::Status RefusePickle(std::string_view bytes, std::string_view instead) {
  const bool is_archive = bytes.starts_with("PK\x03\x04");
  if (!is_archive && !IsPickle(bytes)) return {};
  return base::Error{base::ErrorCode::kInvalidInput,
                     fmt::format("this is {}; reading one can run any code, so it is never read",
                                 is_archive ? "an archive of torch.save" : "a Python pickle"),
                     std::string(instead)};
}

}  // namespace layerscope::model
