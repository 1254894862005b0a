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
  std::set<size_t> names;    ///< of which `ops` has the operators
  std::string modules_text;  ///< for people: the longest of `by_module`
};

/// Of kernels that Inductor fused alone: what else ran has names of another kind.
void AddOps(const RankView& view, const InductorKernels& kernels, uint32_t row, RegionRow& region) {
  const trace::StringId name = view.activities().name[row];
  if (!region.names.insert(name.index()).second) return;
  std::optional<FusedFrom> from = kernels.Of(name);
  if (!from) return;
  for (std::string& text : from->ops) {
    if (region.ops.size() < kMaxOps) region.ops.insert(std::move(text));
  }
}

std::vector<RegionRow> BuildRows(const RankView& view, const InductorKernels& kernels) {
  const std::vector<std::string> paths = ModulePaths(view);
  const attribution::Attribution& attribution = view.attribution();
  std::map<std::pair<size_t, uint32_t>, size_t> index;
  std::vector<RegionRow> rows;
  for (const uint32_t row : view.rows()) {
    const HostStart start = HostStartOf(view.trace(), attribution, row);
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
      AddOps(view, kernels, row, region);
    }
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
    const HostStart start = HostStartOf(view.trace(), view.attribution(), row);
    const uint32_t at = regions.Find(start.thread, start.time_ns);
    if (at == CompiledRegions::kNone) continue;
    extent.sum_ns += view.activities().dur_ns[row];
    extent.n_regions += seen[at] == 0 ? 1 : 0;
    seen[at] = 1;
  }
  return extent;
}

std::string TextOf(const RankView& view, const Extent& extent) {
  if (extent.n_regions == 0) return {};
  return fmt::format(
      "{} of the time ({}) ran in {} that torch.compile made; they keep no module scopes, so it is "
      "booked on the module around them",
      base::FormatShare(extent.sum_ns, view.total_ns()), base::FormatDuration(extent.sum_ns),
      base::FormatCounted(extent.n_regions, "region"));
}

/// What --inductor-debug gave, or why it gave nothing.
void NoteProvenance(const InductorKernels& kernels, table::RankResult& result) {
  const model::InductorProvenance& provenance = *kernels.provenance();
  if (!provenance.skipped.empty()) {
    const auto n_skipped = static_cast<int64_t>(provenance.skipped.size());
    result.warnings.push_back(
        {"inductor_file", table::Severity::kWarning, n_skipped,
         fmt::format("--inductor-debug: {} left out, the first: {}",
                     base::FormatCounted(n_skipped, "file"), provenance.skipped.front())});
  }
  const ProvenanceUse use = kernels.use();
  if (use.n_known == 0) {
    const std::string why =
        kernels.n_names() == 0 ? "none of them has a name that Inductor gives"
                               : fmt::format("its {} of Inductor are of another model or run",
                                             base::FormatCounted(kernels.n_names(), "kernel name"));
    result.warnings.push_back(
        {"inductor_mismatch", table::Severity::kWarning, 0,
         fmt::format("--inductor-debug: no kernel of this trace is in {}: {}.", provenance.path,
                     why)});
    return;
  }
  if (!use.has_nodes) {
    result.warnings.push_back(
        {"inductor_no_nodes", table::Severity::kWarning, use.n_known,
         fmt::format(
             "--inductor-debug: no source nodes in {}: it names the calls of kernels alone. "
             "The torch_compile_debug folder of a run with INDUCTOR_PROVENANCE=1 has them.",
             provenance.path)});
    return;
  }
  result.warnings.push_back(
      {"inductor_provenance", table::Severity::kInfo, use.n_known,
       fmt::format("--inductor-debug knows {} of the {} of Inductor in this "
                   "file.",
                   use.n_known, base::FormatCounted(kernels.n_names(), "kernel name"))});
}

std::string ByModuleText(const RegionRow& row) {
  constexpr size_t kShown = 3;
  std::vector<std::pair<std::string, int64_t>> modules(row.by_module.begin(), row.by_module.end());
  std::stable_sort(modules.begin(), modules.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(kShown, modules.size()); ++i) {
    texts.push_back(
        fmt::format("{} {}", modules[i].first, base::FormatShare(modules[i].second, row.sum_ns)));
  }
  if (modules.size() > kShown) texts.push_back(fmt::format("{} more", modules.size() - kShown));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// "source nodes of 12 of 15 fused kernel names; modules of 3 % of the time", by --inductor-debug.
std::string NoteForPeople(const InductorKernels& kernels, const std::vector<RegionRow>& rows) {
  int64_t sum_ns = 0;
  int64_t module_ns = 0;
  for (const RegionRow& row : rows) {
    sum_ns += row.sum_ns;
    for (const auto& [module, dur_ns] : row.by_module) module_ns += dur_ns;
  }
  const std::string told = fmt::format("--inductor-debug: tells of {} of {}", kernels.use().n_told,
                                       base::FormatCounted(kernels.n_names(), "fused kernel name"));
  if (module_ns > 0) {
    return fmt::format("{}; their nodes name a module for {} of the time", told,
                       base::FormatShare(module_ns, sum_ns));
  }
  return told +
         "; their nodes name no module: only those that read a parameter could, by the log of a "
         "whole torch_compile_debug folder; `kernels --inductor-debug` lists the nodes";
}

}  // namespace

table::Table CompiledRegionRows(const RankView& view, const InductorKernels& kernels) {
  std::vector<RegionRow> rows = BuildRows(view, kernels);
  const bool has_modules = std::any_of(rows.begin(), rows.end(),
                                       [](const RegionRow& row) { return !row.by_module.empty(); });
  std::string note = kernels.has_provenance() ? NoteForPeople(kernels, rows) : std::string();
  for (RegionRow& row : rows) row.modules_text = ByModuleText(row);
  RowTable<RegionRow> table(std::move(rows));
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
  if (has_modules) {
    table::ColumnSpec modules = Key("modules", "by module");
    modules.audience = table::Audience::kPeople;
    table.Add(modules,
              [](const RegionRow& row) { return table::TextCellOrNull(row.modules_text); });
  }
  table::Table built = table.Take();
  if (!note.empty()) built.notes.push_back(std::move(note));
  return built;
}

std::string CompiledText(const RankView& view, const CompiledRegions& regions) {
  return TextOf(view, regions.empty() ? Extent() : Measure(view, regions));
}

void NoteCompiledRegions(const RankView& view, const InductorKernels& kernels,
                         table::RankResult& result) {
  const Extent extent = kernels.regions().empty() ? Extent() : Measure(view, kernels.regions());
  if (extent.n_regions > 0) {
    std::string message = TextOf(view, extent) + ".";
    if (!kernels.has_provenance()) {
      message +=
          " --inductor-debug DIR (recorded with TORCH_COMPILE_DEBUG=1 INDUCTOR_PROVENANCE=1) adds "
          "the source nodes of the fused kernels, and the modules that these name; a run without "
          "compilation (vLLM: --enforce-eager) records every module.";
    }
    result.warnings.push_back(
        {"compiled_regions", table::Severity::kInfo, extent.n_regions, std::move(message)});
  }
  if (kernels.has_provenance()) NoteProvenance(kernels, result);
}

}  // namespace layerscope::analysis
