#include "src/analysis/compiled_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/module_path.h"
#include "src/analysis/row_table.h"
#include "src/base/format_number.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

/// More distinct operators than any model has; a bound for hostile files.
constexpr size_t kMaxOps = 1000;

struct RegionRow {
  std::string region;
  std::string module;
  int64_t calls = 0;
  int64_t n = 0;
  int64_t sum_ns = 0;
  int64_t n_fused = 0;
  int64_t fused_ns = 0;
  std::set<std::string> ops;
  std::map<std::string, int64_t> by_module;
  std::set<uint32_t> regions;
  std::set<size_t> names;  ///< of which `ops` has the operators
};

void AddOps(const RankView& view, const InductorKernels& kernels, uint32_t row, RegionRow& region) {
  const trace::StringId name = view.activities().name[row];
  const attribution::Attribution& attribution = view.attribution();
  const trace::OpId op = attribution.op[row];
  const bool is_fused = kernels.IsFused(row);
  if (!is_fused && !op.valid()) return;
  const trace::StringId key = is_fused ? name : attribution.OpName(view.trace(), op);
  if (!region.names.insert(key.index()).second) return;
  std::vector<std::string> ops = {std::string(view.trace().strings[key])};
  if (std::optional<FusedFrom> from = is_fused ? kernels.Of(key) : std::nullopt) {
    ops = std::move(from->ops);
  }
  for (std::string& text : ops) {
    if (region.ops.size() < kMaxOps) region.ops.insert(std::move(text));
  }
}

std::vector<RegionRow> BuildRows(const RankView& view, const InductorKernels& kernels) {
  const std::vector<std::string> paths = ModulePaths(view);
  const attribution::Attribution& attribution = view.attribution();
  std::map<std::pair<size_t, uint32_t>, size_t> index;
  std::vector<RegionRow> rows;
  for (const uint32_t row : view.rows()) {
    const Start start = StartOf(view.trace(), attribution, row);
    const uint32_t at = kernels.regions().Find(start.thread, start.time_ns);
    if (at == CompiledRegions::kNone) continue;
    const trace::StringId name = kernels.regions().regions()[at].name;
    const attribution::ModuleId module = attribution.module[row];
    const auto key = std::make_pair(name.index(), static_cast<uint32_t>(module.index()));
    const auto [found, is_new] = index.emplace(key, rows.size());
    if (is_new) {
      rows.emplace_back();
      rows.back().region = view.trace().strings[name];
      if (module.valid()) rows.back().module = paths[module.index()];
    }
    RegionRow& region = rows[found->second];
    const int64_t dur_ns = view.activities().dur_ns[row];
    region.regions.insert(at);
    region.n += view.CountOf(row);
    region.sum_ns += dur_ns;
    if (kernels.IsFused(row)) {
      region.n_fused += view.CountOf(row);
      region.fused_ns += dur_ns;
    }
    AddOps(view, kernels, row, region);
    const std::vector<std::string> modules = kernels.ModulesOf(row);
    if (modules.size() == 1) region.by_module[modules.front()] += dur_ns;
  }
  for (RegionRow& row : rows) row.calls = static_cast<int64_t>(row.regions.size());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const RegionRow& a, const RegionRow& b) { return a.sum_ns > b.sum_ns; });
  return rows;
}

struct Extent {
  int64_t n_regions = 0;
  int64_t sum_ns = 0;
};

Extent Measure(const RankView& view, const CompiledRegions& regions) {
  Extent extent;
  std::vector<uint8_t> seen(regions.regions().size(), 0);
  for (const uint32_t row : view.rows()) {
    const Start start = StartOf(view.trace(), view.attribution(), row);
    const uint32_t at = regions.Find(start.thread, start.time_ns);
    if (at == CompiledRegions::kNone) continue;
    extent.sum_ns += view.activities().dur_ns[row];
    extent.n_regions += seen[at] == 0 ? 1 : 0;
    seen[at] = 1;
  }
  return extent;
}

}  // namespace

table::Table CompiledRegionRows(const RankView& view, const InductorKernels& kernels) {
  RowTable<RegionRow> table(BuildRows(view, kernels));
  table.AddText(Key("region"), &RegionRow::region)
      .Add(Key("module"), [](const RegionRow& row) { return table::TextCellOrNull(row.module); })
      .AddInt(Count("calls", "calls"), &RegionRow::calls)
      .AddInt(Count("n", "n"), &RegionRow::n)
      .AddInt(Nanoseconds("sum_ns", "sum"), &RegionRow::sum_ns)
      .AddInt(Count("n_fused", "fused"), &RegionRow::n_fused)
      .AddInt(Nanoseconds("fused_ns", "fused sum"), &RegionRow::fused_ns)
      .Add(ForMachines(Key("ops")),
           [](const RegionRow& row) {
             return table::Cell(table::CellList(row.ops.begin(), row.ops.end()));
           })
      .Add(ForMachines(Key("by_module")), [](const RegionRow& row) {
        return table::Cell(table::CellMap(row.by_module.begin(), row.by_module.end()));
      });
  return table.Take();
}

void NoteCompiledRegions(const RankView& view, const InductorKernels& kernels,
                         table::RankResult& result) {
  if (kernels.regions().empty()) return;
  const Extent extent = Measure(view, kernels.regions());
  if (extent.n_regions == 0) return;
  std::string message = fmt::format(
      "{} of the time ({}) ran in {} that torch.compile made; they keep no module scopes, so it is "
      "booked on the module around them.",
      base::FormatShare(extent.sum_ns, view.total_ns()), base::FormatDuration(extent.sum_ns),
      base::FormatCounted(extent.n_regions, "region"));
  if (!kernels.has_provenance()) {
    message +=
        " --inductor-debug DIR (recorded with TORCH_COMPILE_DEBUG=1 INDUCTOR_PROVENANCE=1) adds "
        "the source nodes of the fused kernels, and the modules that these name.";
  }
  result.warnings.push_back(
      {"compiled_regions", table::Severity::kInfo, extent.n_regions, std::move(message)});
  if (!kernels.has_provenance() || kernels.n_names() == 0) return;
  const std::vector<std::string>& skipped = view.input().inductor->skipped;
  if (!skipped.empty()) {
    result.warnings.push_back(
        {"inductor_file", table::Severity::kWarning, static_cast<int64_t>(skipped.size()),
         fmt::format("--inductor-debug: {} left out, the first: {}",
                     base::FormatCounted(skipped.size(), "file"), skipped.front())});
  }
  const bool is_other = kernels.n_known() == 0;
  result.warnings.push_back(
      {is_other ? "inductor_mismatch" : "inductor_provenance",
       is_other ? table::Severity::kWarning : table::Severity::kInfo, kernels.n_known(),
       fmt::format("--inductor-debug knows {} of the {} of Inductor in this file{}.",
                   kernels.n_known(), base::FormatCounted(kernels.n_names(), "kernel name"),
                   is_other ? ": it is of another model or run" : "")});
}

}  // namespace layerscope::analysis
