#include "src/kernel_names/kernel_name.h"

#include "src/kernel_names/launcher.h"
#include "src/kernel_names/signature.h"

namespace layerscope::kernel_names {

std::string OwnName(std::string_view name) {
  const std::string text = Demangle(name);
  return std::string(ParseSignature(text, name.starts_with("_Z")).own());
}

std::string MatchName(std::string_view name) {
  const std::string text = Demangle(name);
  Signature signature = ParseSignature(text, name.starts_with("_Z"));
  if (signature.is_signature && IsLauncher(signature.own())) {
    const Payload payload = FindPayload(signature.own(), signature.arguments);
    if (!payload.name.empty()) {
      std::string inside(payload.name);
      for (const std::string_view detail : {std::string_view(payload.tile), payload.dtype}) {
        if (!detail.empty()) inside.append(" ").append(detail);
      }
      signature.qualified.append("<").append(inside).append(">");
    }
  }
  if (signature.qualified.size() > kMaxMatchBytes) signature.qualified.resize(kMaxMatchBytes);
  return std::move(signature.qualified);
}

}  // namespace layerscope::kernel_names
