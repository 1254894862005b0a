#include "src/analysis/all_reduce.h"

#include <algorithm>
#include <array>

#include "src/kernel_names/kernel_name.h"
#include "src/kernel_names/pattern.h"

namespace layerscope::analysis {
namespace {

template <size_t kCount>
bool ContainsAny(std::string_view text, const std::array<std::string_view, kCount>& words) {
  return std::any_of(words.begin(), words.end(), [text](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

constexpr std::array<std::string_view, 5> kSure = {"allreduce", "all_reduce", "all-reduce",
                                                   "cross_device_reduce", "quickreduce"};
/// Words of all-reduce kernels that other collectives use too.
constexpr std::array<std::string_view, 6> kLikely = {"lamport", "oneshot",  "one_shot",
                                                     "twoshot", "two_shot", "quick_reduce"};
constexpr std::array<std::string_view, 9> kOtherCollectives = {
    "reduce_scatter", "reducescatter", "all_gather", "allgather", "alltoall",
    "all_to_all",     "broadcast",     "dispatch",   "combine"};

}  // namespace

bool IsAllReduce(std::string_view kernel_name) {
  const std::string name = kernel_names::ToLower(kernel_names::MatchName(kernel_name));
  if (ContainsAny(name, kSure)) return true;
  return ContainsAny(name, kLikely) && !ContainsAny(name, kOtherCollectives);
}

}  // namespace layerscope::analysis
