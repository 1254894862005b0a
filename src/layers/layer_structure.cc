#include "src/layers/layer_structure.h"

namespace layerscope::layers {

using attribution::Phase;

std::string_view ToString(PassKind kind) {
  if (kind == PassKind::kUnknown) return "unknown";
  return kind == PassKind::kCapture ? "capture" : attribution::ToString(PhaseOf(kind));
}

PassKind KindOf(Phase phase) {
  switch (phase) {
    case Phase::kUnknown:
      return PassKind::kUnknown;
    case Phase::kPrefill:
      return PassKind::kPrefill;
    case Phase::kDecode:
      return PassKind::kDecode;
    case Phase::kMixed:
      return PassKind::kMixed;
    case Phase::kDraft:
      return PassKind::kDraft;
    case Phase::kTargetVerify:
      return PassKind::kTargetVerify;
  }
  return PassKind::kUnknown;
}

Phase PhaseOf(PassKind kind) {
  for (const Phase phase :
       {Phase::kPrefill, Phase::kDecode, Phase::kMixed, Phase::kDraft, Phase::kTargetVerify}) {
    if (KindOf(phase) == kind) return phase;
  }
  return Phase::kUnknown;
}

}  // namespace layerscope::layers
