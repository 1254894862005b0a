#pragma once

#include <string_view>

namespace layerscope::model {

/// True for operators that TorchInductor fuses and so writes into the names of its kernels, without
/// their namespace: "add", "_unsafe_view", "native_layer_norm". Names that operators of extensions
/// have are not known.
bool IsInductorOpName(std::string_view name);

/// No operator's name has more words between underscores than this.
inline constexpr int kMaxInductorOpWords = 12;

}  // namespace layerscope::model
