#include "src/analysis/coverage.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>

#include "src/analysis/group_by.h"
#include "src/attribution/activity_warnings.h"
#include "src/base/format_number.h"

namespace layerscope::analysis {
namespace {

/// Below a tenth the table is still about what it seems to be about.
constexpr int64_t kBannerShare = 10;

}  // namespace

table::Coverage CoverageOf(const RankView& view) {
  EvidenceSums module{};
  EvidenceSums layer{};
  const layers::LayerStructure* const layers = view.input().layers;
  const attribution::Attribution& attr = view.attribution();
  for (const uint32_t row : view.rows()) {
    const int64_t dur_ns = view.activities().dur_ns[row];
    module[static_cast<size_t>(attr.module_evidence[row])] += dur_ns;
    const attribution::Evidence of_layer =
        layers == nullptr ? attribution::Evidence::kUnresolved : layers->evidence[row];
    layer[static_cast<size_t>(of_layer)] += dur_ns;
  }
  return {view.total_ns(), ToCellMap(module), ToCellMap(layer)};
}

GraphShare GraphShareOf(const RankView& view) {
  const attribution::Attribution& attr = view.attribution();
  GraphShare share;
  tsl::robin_map<size_t, int64_t> activities_of;
  for (const uint32_t row : view.rows()) {
    if (attr.under_graph[row] == 0) continue;
    const int64_t dur_ns = view.activities().dur_ns[row];
    share.gpu_ns += dur_ns;
    if (attribution::IsHiddenByGraph(attr, row)) {
      (attr.module[row].valid() ? share.in_scope_ns : share.unresolved_ns) += dur_ns;
    }
    const int64_t n = ++activities_of[attr.launch[row].index()];
    share.most_activities = std::max(share.most_activities, n);
  }
  share.n_launches = static_cast<int64_t>(activities_of.size());
  return share;
}

std::string GraphBanner(const RankView& view) {
  const GraphShare share = GraphShareOf(view);
  if (share.hidden_ns() <= 0 || share.hidden_ns() < view.total_ns() / kBannerShare) return {};
  const std::string share_text = base::FormatShare(share.gpu_ns, view.total_ns());
  const std::string most = base::FormatCount(share.most_activities);
  const std::string who = share.n_launches == 1
                              ? fmt::format("one graph launch of {} activities", most)
                              : fmt::format("{} graph launches (the largest of {} activities)",
                                            base::FormatCount(share.n_launches), most);
  if (share.hidden_ns() < share.gpu_ns) {
    return fmt::format("{} of GPU time is {}: of {} the modules are not resolved", share_text, who,
                       base::FormatShare(share.hidden_ns(), view.total_ns()));
  }
  return fmt::format("{} of GPU time is {}: {}", share_text, who,
                     share.in_scope_ns > share.unresolved_ns
                         ? "it is booked on the module around the launch, what lies below is not "
                           "resolved"
                         : "modules below it are not resolved");
}

table::RankResult StartResult(const RankView& view) {
  table::RankResult result;
  result.rank = view.input().rank;
  result.input = view.input().path;
  if (view.times_fit()) result.coverage = CoverageOf(view);
  return result;
}

table::RankResult AbstainOnOverflow(const RankView& view) {
  table::RankResult result = StartResult(view);
  const std::string why = "the times of this trace add up to more than 2^63 ns";
  result.abstained = table::Abstention{
      "time_overflow", why, "re-record the trace, or select a part of it that was written whole"};
  result.warnings.push_back(
      {"time_overflow", table::Severity::kError, 1, "No sum is shown: " + why});
  return result;
}

}  // namespace layerscope::analysis
