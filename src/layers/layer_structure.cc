#include "src/layers/layer_structure.h"

namespace layerscope::layers {

std::string_view ToString(PassKind kind) {
  switch (kind) {
    case PassKind::kUnknown:
      return "unknown";
    case PassKind::kPrefill:
      return "prefill";
    case PassKind::kDecode:
      return "decode";
    case PassKind::kMixed:
      return "mixed";
    case PassKind::kDraft:
      return "draft";
    case PassKind::kTargetVerify:
      return "target_verify";
    case PassKind::kCapture:
      return "capture";
  }
  return {};
}

}  // namespace layerscope::layers
