#include "src/document/copied_modules.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "src/base/format_number.h"

namespace layerscope::document {
namespace {

using attribution::Evidence;

/// What gives modules by this evidence to a trace that has none of its own.
constexpr std::pair<Evidence, const char*> kSources[] = {
    {Evidence::kGraphNode, "--graph-annotations"},
    {Evidence::kCaptureAlignment, "--capture-trace"},
    {Evidence::kEagerAlignment, "--eager-trace"},
    {Evidence::kTemplate, "--config"},
};

struct Sums {
  std::array<int64_t, attribution::kEvidenceCount> replayed_ns{};
  int64_t whole_graphs = 0;
  int64_t whole_ns = 0;
};

Sums SumReplays(const analysis::RankView& view) {
  Sums sums;
  const attribution::Attribution& attr = view.attribution();
  for (const uint32_t row : view.rows()) {
    const int64_t dur_ns = view.activities().dur_ns[row];
    if (view.activities().kind[row] == trace::ActivityKind::kGraph) {
      ++sums.whole_graphs;
      sums.whole_ns += dur_ns;
    } else if (attr.under_graph[row] != 0) {
      sums.replayed_ns[static_cast<size_t>(attr.module_evidence[row])] += dur_ns;
    }
  }
  return sums;
}

/// Eager runs gave modules, and all of these are the trace itself.
bool FromOwnSteps(const analysis::RankView& view) {
  bool any = false;
  for (const attribution::GraphAlignment& graph : view.attribution().alignments) {
    if (graph.evidence != Evidence::kEagerAlignment) continue;
    if (!graph.own_steps) return false;
    any = true;
  }
  return any;
}

/// The eager steps that others got their modules from may not be selected.
void NoteOwnSteps(const analysis::RankView& view, const Sums& sums, table::RankResult& result) {
  const int64_t ns = sums.replayed_ns[static_cast<size_t>(Evidence::kEagerAlignment)];
  if (ns == 0 || view.selects_all()) return;
  result.warnings.push_back(
      {"copy_without_recordings", table::Severity::kInfo, 1,
       fmt::format("The modules of {} of GPU time came from the trace's own eager steps, which the "
                   "copy holds as far as they are selected.",
                   base::FormatShare(ns, view.total_ns()))});
}

void NoteRecordings(const analysis::RankView& view, const Sums& sums, table::RankResult& result) {
  const bool own_steps = FromOwnSteps(view);
  if (own_steps) NoteOwnSteps(view, sums, result);
  std::vector<std::string> options;
  int64_t from_beside_ns = 0;
  for (const auto& [evidence, option] : kSources) {
    const int64_t ns = sums.replayed_ns[static_cast<size_t>(evidence)];
    const bool own = evidence == Evidence::kGraphNode
                         ? attribution::KnowsGraphNodes(view.trace())
                         : evidence == Evidence::kEagerAlignment && own_steps;
    if (ns == 0 || own) continue;
    from_beside_ns += ns;
    options.emplace_back(option);
  }
  if (options.empty()) return;
  result.warnings.push_back(
      {"copy_without_recordings", table::Severity::kInfo, 1,
       fmt::format("The modules of {} of GPU time came from beside the trace and are not in the "
                   "copy: read it with {} again.",
                   base::FormatShare(from_beside_ns, view.total_ns()),
                   fmt::join(options, " and "))});
}

}  // namespace

void NoteCopiedModules(const analysis::RankView& view, table::RankResult& result) {
  if (view.cpu_only() || !view.times_fit()) return;
  const Sums sums = SumReplays(view);
  NoteRecordings(view, sums, result);
  if (view.trace().format != trace::TraceFormat::kNsys) return;
  if (sums.whole_graphs > 0) {
    result.warnings.push_back(
        {"copy_whole_graphs", table::Severity::kWarning, sums.whole_graphs,
         fmt::format("{} of {}, recorded without kernels, {} in the copy for the eye alone: a "
                     "trace has no word for them, and no verb counts them there.",
                     base::FormatCounted(sums.whole_graphs, "graph launch", "graph launches"),
                     base::FormatDuration(sums.whole_ns), sums.whole_graphs == 1 ? "is" : "are")});
  }
  const int64_t nodes_ns = sums.replayed_ns[static_cast<size_t>(Evidence::kGraphNode)];
  if (nodes_ns == 0) return;
  table::Block& block = result.blocks.emplace_back();
  block.text = fmt::format(
      "replayed kernels ({} of GPU time) keep their modules: where their nodes were captured is "
      "written too",
      base::FormatShare(nodes_ns, view.total_ns()));
}

}  // namespace layerscope::document
