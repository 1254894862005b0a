#include "src/replay/lost_kernels.h"

#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "src/replay/piece_fit.h"

namespace layerscope::replay {
namespace {

using attribution::Evidence;

class LostKernels {
 public:
  explicit LostKernels(const Resolution& resolution) : resolution_(resolution) {}

  int64_t Count() {
    for (const GraphLaunches::Group& group : resolution_.graphs.groups) {
      if (!group.step.valid()) continue;
      for (uint32_t i = group.begin; i < group.end; ++i) Note(group, i);
    }
    int64_t n_lost = 0;
    for (const auto& [kind, launches] : launches_of_) n_lost += CountOf(launches);
    return n_lost;
  }

 private:
  /// Batch, query tokens, launches of the step, which of them it is.
  using Kind = std::tuple<std::optional<int64_t>, std::optional<int64_t>, uint32_t, uint32_t>;
  using Indices = std::vector<uint32_t>;

  void Note(const GraphLaunches::Group& group, uint32_t index) {
    const Evidence evidence = resolution_.outcomes[index].evidence;
    // These count what is missing; of captured nodes attribution does.
    const bool nodes =
        evidence == Evidence::kGraphNode && attribution::KnowsGraphNodes(resolution_.trace);
    const bool recorded =
        nodes || evidence == Evidence::kCaptureAlignment || evidence == Evidence::kEagerAlignment;
    if (recorded || resolution_.graphs.launches[index].burst) return;
    const Kind kind{group.batch, group.tokens, group.end - group.begin, index - group.begin};
    launches_of_[kind].push_back(index);
  }

  int64_t CountOf(const Indices& launches) const {
    std::map<uint32_t, std::pair<uint32_t, int64_t>> by_sequence;  // a launch, how many there are
    uint32_t fullest = launches.front();
    for (const uint32_t i : launches) {
      const GraphLaunch& launch = resolution_.graphs.launches[i];
      ++by_sequence.try_emplace(launch.sequence, i, 0).first->second.second;
      if (launch.rows.size() > resolution_.graphs.launches[fullest].rows.size()) fullest = i;
    }
    int64_t n_lost = 0;
    for (const auto& [sequence, launch] : by_sequence) {
      n_lost += Lost(launch.first, fullest) * launch.second;
    }
    return n_lost;
  }

  using Lanes = std::map<trace::StreamId, std::vector<trace::StringId>>;

  Lanes LanesOf(uint32_t index) const {
    const trace::Activities& all = resolution_.trace.activities;
    Lanes lanes;
    for (const uint32_t row : resolution_.graphs.launches[index].rows) {
      if (all.kind[row] != trace::ActivityKind::kKernel) continue;
      if (KindOfName(resolution_.trace.strings[all.name[row]]) != NodeKind::kKernel) continue;
      lanes[all.stream[row]].push_back(all.name[row]);
    }
    return lanes;
  }

  /// Kernels of `fullest` that `index` lacks; 0 where it is no part of it.
  int64_t Lost(uint32_t index, uint32_t fullest) const {
    const Lanes whole = LanesOf(fullest);
    const Lanes part = LanesOf(index);
    size_t n_whole = 0, n_part = 0;
    for (const auto& [stream, names] : whole) n_whole += names.size();
    for (const auto& [stream, names] : part) {
      const auto at = whole.find(stream);
      if (at == whole.end()) return 0;
      size_t taken = 0;
      for (const trace::StringId name : at->second) {
        if (taken < names.size() && names[taken] == name) ++taken;
      }
      if (taken < names.size()) return 0;
      n_part += names.size();
    }
    const auto n_lost = static_cast<int64_t>(n_whole - n_part);
    const bool few = static_cast<double>(n_lost) <= kMostMissing * static_cast<double>(n_whole);
    return few ? n_lost : 0;
  }

  const Resolution& resolution_;
  std::map<Kind, Indices> launches_of_;
};

}  // namespace

int64_t CountLostKernels(const Resolution& resolution) {
  return LostKernels(resolution).Count();
}

}  // namespace layerscope::replay
