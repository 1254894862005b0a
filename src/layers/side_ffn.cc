#include "src/layers/side_ffn.h"

#include <algorithm>
#include <map>
#include <vector>

#include "src/base/checked_sum.h"

namespace layerscope::layers {
namespace {

struct Chain {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

/// The FFN chains of each side stream, in time order.
std::map<trace::StreamId, std::vector<Chain>> FindChains(const trace::Trace& trace,
                                                         const PassGroup& group,
                                                         NameTraits& traits) {
  const trace::Activities& rows = trace.activities;
  std::map<trace::StreamId, std::vector<Chain>> chains;
  std::map<trace::StreamId, trace::StringId> first_name;
  for (const uint32_t row : group.others) {
    if (traits.Of(rows.name[row]).kind != KernelClass::kFfn) continue;
    std::vector<Chain>& of_stream = chains[rows.stream[row]];
    trace::StringId& first = first_name[rows.stream[row]];
    if (!first.valid()) first = rows.name[row];
    if (rows.name[row] == first) of_stream.push_back({rows.start_ns[row], rows.start_ns[row]});
    of_stream.back().end_ns = base::AddClamped(rows.start_ns[row], rows.dur_ns[row]);
  }
  return chains;
}

}  // namespace

bool RunsFfnAcrossMixers(const trace::Trace& trace, const PassGroup& group, NameTraits& traits) {
  if (group.others.empty() || group.is_capture()) return false;
  std::vector<int64_t> mixers;
  MixerRuns runs;
  for (const Token& token : group.tokens) {
    if (runs.Begins(token)) mixers.push_back(trace.activities.start_ns[token.row]);
  }
  for (const auto& [stream, chains] : FindChains(trace, group, traits)) {
    const auto crosses = [&](const Chain& chain) {
      const auto next = std::upper_bound(mixers.begin(), mixers.end(), chain.begin_ns);
      return next != mixers.end() && *next < chain.end_ns;
    };
    const auto n = std::count_if(chains.begin(), chains.end(), crosses);
    if (n > 0 && n * 2 >= static_cast<std::ptrdiff_t>(chains.size())) return true;
  }
  return false;
}

}  // namespace layerscope::layers
