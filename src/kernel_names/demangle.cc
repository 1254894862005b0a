#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "src/kernel_names/kernel_name.h"
#include "src/kernel_names/mangled_outline.h"

namespace layerscope::kernel_names {
namespace {

// The runtime's demangler writes each back reference out in full, so r references can make text of
// 3^(r/3) times the name's length (a name built for it fills memory), and each pack expansion may
// multiply by the number of arguments. Names beyond these bounds get an outline.
constexpr size_t kMaxMangledBytes = 4096;
constexpr size_t kMaxReferences = 18;
constexpr size_t kMaxPackExpansions = 1;

bool IsDigitOrUpper(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

/// True when the first substitution is a bare namespace ("_ZN7ck_tile6kentry…"): then `S_` stands
/// for one identifier and multiplies nothing.
bool FirstSubstitutionIsNamespace(std::string_view mangled) {
  if (!mangled.starts_with("_ZN")) return false;
  size_t at = 3;
  size_t length = 0;
  while (at < mangled.size() && mangled[at] >= '0' && mangled[at] <= '9' && length < 1000) {
    length = length * 10 + static_cast<size_t>(mangled[at++] - '0');
  }
  at += length;
  return length > 0 && at < mangled.size() && mangled[at] >= '0' && mangled[at] <= '9';
}

/// Back references to substitutions and template parameters; letters inside identifiers that look
/// like one are counted too, which errs on the safe side.
size_t CountReferences(std::string_view mangled) {
  const bool first_is_free = FirstSubstitutionIsNamespace(mangled);
  size_t count = 0;
  for (size_t i = 2; i + 1 < mangled.size(); ++i) {
    if (mangled[i] != 'S' && mangled[i] != 'T') continue;
    size_t end = i + 1;
    while (end < mangled.size() && end < i + 8 && IsDigitOrUpper(mangled[end])) ++end;
    if (end >= mangled.size() || mangled[end] != '_') continue;
    if (mangled[i] == 'S' && end == i + 1 && first_is_free) continue;
    ++count;
  }
  return count;
}

size_t CountOccurrences(std::string_view text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

bool IsBounded(std::string_view mangled) {
  return mangled.size() <= kMaxMangledBytes && CountReferences(mangled) <= kMaxReferences &&
         CountOccurrences(mangled, "Dp") <= kMaxPackExpansions;
}

/// Empty when the runtime cannot read the name.
std::string RunDemangler(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : std::string();
}

std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (;;) {
    const size_t at = text.find(from);
    result += text.substr(0, at);
    if (at == std::string_view::npos) return result;
    result += to;
    text.remove_prefix(at + from.size());
  }
}

/// Runtimes before GCC 13 do not know DF16b (bfloat16). It is lent the code of another builtin type
/// that no kernel uses: Dd, printed "decimal64". Builtins are no substitutions, so the numbering of
/// back references stays right.
std::string DemangleWithBfloat(std::string_view mangled) {
  if (mangled.find("DF16b") == std::string_view::npos) return {};
  const std::string text = RunDemangler(ReplaceAll(mangled, "DF16b", "Dd"));
  return ReplaceAll(text, "decimal64", "__bf16");
}

std::string_view WithoutSuffix(std::string_view name) {
  constexpr std::string_view kKernelDescriptor = ".kd";  // ROCm's symbol of a kernel's descriptor
  if (name.ends_with(kKernelDescriptor)) name.remove_suffix(kKernelDescriptor.size());
  return name;
}

}  // namespace

std::string Demangle(std::string_view name) {
  name = WithoutSuffix(name.substr(0, kMaxNameBytes));
  if (!name.starts_with("_Z")) return std::string(name);
  std::string text;
  if (IsBounded(name)) {
    text = RunDemangler(std::string(name));
    if (text.empty()) text = DemangleWithBfloat(name);
  }
  if (text.empty()) text = OutlineMangledName(name);
  if (text.empty()) return std::string(name);
  text.resize(std::min(text.size(), kMaxNameBytes));
  return text;
}

}  // namespace layerscope::kernel_names
