#include "src/analysis/report_trace.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "src/analysis/device_rows.h"
#include "src/analysis/interval_union.h"
#include "src/analysis/run_ranks.h"
#include "src/analysis/workload_guess.h"
#include "src/base/format_number.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

using model::ParallelDegree;
using model::ParallelLayout;

std::vector<std::pair<std::string, const ParallelDegree*>> Degrees(const ParallelLayout& layout) {
  return {{"tp", &layout.tp}, {"pp", &layout.pp}, {"dp", &layout.dp}, {"ep", &layout.ep}};
}

std::string RanksText(const AnalysisInput& input, const RankView& view) {
  const RunRanks ranks = FindRanks(input);
  std::string rank =
      view.input().rank ? fmt::format("{}", *view.input().rank) : std::string("unknown");
  if (ranks.present.empty() && !ranks.world_size) return rank;
  return fmt::format("{}; ranks of the run: {}", rank, ToText(ranks));
}

int64_t SpanNs(const RankView& view) {
  TimeSpan span;
  for (const uint32_t row : view.rows()) {
    span.Add(view.activities().start_ns[row], view.activities().dur_ns[row]);
  }
  return span.wall_ns();
}

}  // namespace

ParallelLayout LayoutOf(const AnalysisInput& input, const RankView& view) {
  ParallelLayout layout = input.parallel;
  model::FillFromWorldSize(view.trace().metadata.world_size, layout);
  return layout;
}

table::Object LayoutObject(const ParallelLayout& layout) {
  table::Object object;
  for (const auto& [name, degree] : Degrees(layout)) {
    table::Object entry = {
        {"size", degree->size ? table::Value(*degree->size) : table::Value(table::Null())},
        {"source", table::TextOrNull(degree->source)}};
    object.emplace_back(name, std::move(entry));
  }
  return object;
}

std::string LayoutText(const ParallelLayout& layout) {
  std::vector<std::string> parts;
  std::vector<std::string> unknown;
  for (const auto& [name, degree] : Degrees(layout)) {
    std::string label = name;
    for (char& c : label) c = static_cast<char>(c - 'a' + 'A');
    if (degree->size) {
      parts.push_back(fmt::format("{} {} ({})", label, *degree->size, degree->source));
    } else {
      unknown.push_back(std::move(label));
    }
  }
  if (parts.empty()) return "unknown (--tp, --pp, --dp, --ep or --server-args say it)";
  if (!unknown.empty()) parts.push_back(fmt::format("{} unknown", fmt::join(unknown, "/")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

table::Object TraceObject(const AnalysisInput& input, const RankView& view) {
  const Guess engine = GuessEngine(view);
  const std::string config = input.config == nullptr ? std::string() : input.config->path;
  return {{"file", view.input().path},
          {"engine", table::TextOrNull(engine.value)},
          {"engine_source", table::TextOrNull(engine.source)},
          {"config", table::TextOrNull(config)},
          {"gpu", table::TextOrNull(DeviceNames(view.trace()))},
          {"ranks", ToObject(FindRanks(input))},
          {"parallel", LayoutObject(LayoutOf(input, view))},
          {"span_ns", SpanNs(view)},
          {"gpu_ns", view.total_ns()}};
}

table::Block TraceBlock(const AnalysisInput& input, const RankView& view) {
  const Guess engine = GuessEngine(view);
  const std::string gpu = DeviceNames(view.trace());
  table::Block block;
  block.kind = table::Block::Kind::kFacts;
  block.facts = {
      {"file", view.input().path},
      {"config", input.config == nullptr ? "none given (--config FILE)" : input.config->path},
      {"engine",
       engine.value.empty() ? "unknown" : fmt::format("{} (by {})", engine.value, engine.source)},
      {"GPU", gpu.empty() ? "unknown" : gpu},
      {"rank", RanksText(input, view)},
      {"parallel", LayoutText(LayoutOf(input, view))},
      {"time",
       fmt::format("{} of {} time within {}", base::FormatDuration(view.total_ns()),
                   view.cpu_only() ? "CPU self" : "GPU", base::FormatDuration(SpanNs(view)))}};
  return block;
}

}  // namespace layerscope::analysis
