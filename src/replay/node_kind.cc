#include "src/replay/node_kind.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace layerscope::replay {

NodeKind KindOfName(std::string_view kernel_name) {
  std::string name(kernel_name.substr(0, 32));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.starts_with("memcpy") || name.starts_with("__amd_rocclr_copybuffer")) {
    return NodeKind::kCopy;
  }
  if (name.starts_with("memset") || name.starts_with("__amd_rocclr_fillbuffer")) {
    return NodeKind::kSet;
  }
  return NodeKind::kKernel;
}

}  // namespace layerscope::replay
