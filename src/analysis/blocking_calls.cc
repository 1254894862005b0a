#include "src/analysis/blocking_calls.h"

#include <algorithm>
#include <array>

namespace layerscope::analysis {
namespace {

constexpr std::string_view kSynchronize = "Synchronize";
constexpr std::string_view kMemcpy = "Memcpy";

bool Says(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

}  // namespace

bool IsSynchronisingCall(std::string_view name) {
  // "cuda" before "cu", which is its beginning.
  constexpr std::array<std::string_view, 3> kApis = {"cuda", "cu", "hip"};
  const auto* const api = std::find_if(kApis.begin(), kApis.end(), [name](std::string_view prefix) {
    return name.starts_with(prefix);
  });
  if (api == kApis.end()) return false;
  if (Says(name, kSynchronize)) return true;
  return name.substr(api->size()).starts_with(kMemcpy) && !Says(name, "Async");
}

bool MayBlock(std::string_view name) {
  return Says(name, kSynchronize) || Says(name, kMemcpy) || Says(name, "Wait");
}

}  // namespace layerscope::analysis
