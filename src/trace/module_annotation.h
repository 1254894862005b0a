#pragma once

#include <optional>
#include <string_view>

namespace layerscope::trace {

/// The module path in the name of an annotation that stands for a module's call: `Module:path`, or
/// a Python dictionary that begins with it, `{'Module': 'path', …}` (vLLM's and PyTorch's NVTX
/// hooks; formats/kineto.md). The root's path is empty. Nullopt: the name is none of these.
std::optional<std::string_view> ModulePathOf(std::string_view name);

}  // namespace layerscope::trace
