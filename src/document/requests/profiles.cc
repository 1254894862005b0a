#include "src/document/requests/profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/alignment_table.h"
#include "src/analysis/coverage.h"
#include "src/analysis/model_summary.h"
#include "src/analysis/module_nodes.h"
#include "src/analysis/process_ranks.h"
#include "src/analysis/row_table.h"
#include "src/analysis/workload_guess.h"
#include "src/base/format_number.h"
#include "src/document/map/values.h"
#include "src/document/requests/figures.h"
#include "src/document/requests/layers.h"
#include "src/document/requests/naming.h"
#include "src/document/requests/tree.h"
#include "src/table/limit.h"
#include "src/table/or_null.h"

namespace layerscope::document {
namespace {

using analysis::RankView;
using table::Array;
using table::Object;
using table::Value;

constexpr std::string_view kSchema = "layerscope/per_request_profiles/1";
constexpr std::string_view kUnattributed = "[unattributed]";
constexpr int64_t kRowsForPeople = 40;

/// Everything that is computed of the requests, in their order.
struct Profiles {
  std::vector<const Request*> requests;
  std::vector<RankView> views;
  std::vector<RequestFigures> figures;
  AlignedTree tree;
  AlignedLayers layers;
};

Object PhaseObject(const PhaseFigures& phase) {
  return {{"steps", phase.steps},
          {"tokens", table::OrNull(phase.tokens)},
          {"gpu_ns", phase.gpu_ns},
          {"kernels", phase.kernels},
          {"cpu_ns", table::OrNull(phase.cpu_ns)},
          {"wall_ns", phase.wall_ns}};
}

/// Prefill and decode are always there, null where nothing says a phase; the others where they
/// occur.
Object PhasesOf(const RequestFigures& figures) {
  Object phases;
  for (size_t i = 1; i < figures.phases.size(); ++i) {
    const auto phase = static_cast<attribution::Phase>(i);
    const bool always =
        phase == attribution::Phase::kPrefill || phase == attribution::Phase::kDecode;
    if (!always && figures.phases[i].steps == 0) continue;
    phases.emplace_back(ToString(phase), figures.phase_source.empty()
                                             ? Value()
                                             : Value(PhaseObject(figures.phases[i])));
  }
  return phases;
}

Value DoubleOrNull(const std::optional<double>& value) {
  return value ? Value(*value) : Value();
}

Object RequestObject(const Profiles& profiles, size_t index) {
  const Request& request = *profiles.requests[index];
  const RequestFigures& figures = profiles.figures[index];
  const RequestEntry entry = request.entry.value_or(RequestEntry{});
  const std::string& layers_from = profiles.layers.sources[index];
  return {{"index", index},
          {"file", request.name()},
          {"label", table::TextOrNull(entry.label.value_or(""))},
          {"percentile", DoubleOrNull(entry.percentile)},
          {"prompt_tokens", table::OrNull(entry.prompt_tokens)},
          {"output_tokens", table::OrNull(entry.output_tokens)},
          {"latency_ns", table::OrNull(entry.latency_ns)},
          {"source_index", table::OrNull(entry.source_index)},
          {"gpu_ns", figures.gpu_ns},
          {"kernel_ns", figures.kernel_ns},
          {"kernels", figures.kernels},
          {"cpu_ns", figures.cpu_ns},
          {"wall_ns", figures.wall_ns},
          {"cpu_only", profiles.views[index].cpu_only()},
          {"mode", table::TextOrNull(std::string(ModeOf(profiles.views[index])))},
          {"phases", PhasesOf(figures)},
          {"phases_from", table::TextOrNull(figures.phase_source)},
          {"outside_phases_ns", figures.outside_phases_ns},
          {"outside_phases_cpu_ns", table::OrNull(figures.outside_phases_cpu_ns)},
          {"layers_from", table::TextOrNull(layers_from)}};
}

/// One value a request: `value_of(request)`.
template <typename ValueOf>
Array PerRequest(const Profiles& profiles, ValueOf value_of) {
  Array values;
  values.reserve(profiles.views.size());
  for (size_t i = 0; i < profiles.views.size(); ++i) values.push_back(value_of(i));
  return values;
}

/// The arrays of one node; `figures_of(request)` is null where the request does not have it.
template <typename FiguresOf>
void AddArrays(const Profiles& profiles, FiguresOf figures_of, Object& node) {
  const auto add = [&](const char* key, int64_t ModuleFigures::*member) {
    node.emplace_back(key, PerRequest(profiles, [&](size_t request) {
                        const ModuleFigures* const figures = figures_of(request);
                        return figures == nullptr ? Value() : Value(figures->*member);
                      }));
  };
  add("calls", &ModuleFigures::calls);
  add("gpu_ns", &ModuleFigures::gpu_ns);
  add("gpu_self_ns", &ModuleFigures::gpu_self_ns);
  add("cpu_ns", &ModuleFigures::cpu_ns);
  add("kernels", &ModuleFigures::kernels);
  node.emplace_back("evidence", PerRequest(profiles, [&](size_t request) {
                      const ModuleFigures* const figures = figures_of(request);
                      return figures == nullptr ? Value()
                                                : Value(EvidenceValue(figures->evidence_ns));
                    }));
}

Array NodesOf(const Profiles& profiles) {
  const AlignedTree& tree = profiles.tree;
  Array nodes;
  for (size_t i = 0; i < tree.modules.size(); ++i) {
    const AlignedModule& module = tree.modules[i];
    Object node = {
        {"id", i},
        {"parent", module.parent == AlignedModule::kNone ? Value() : Value(size_t{module.parent})},
        {"path", module.path},
        {"class", module.class_name}};
    if (tree.n_processes > 1) node.emplace_back("process", size_t{module.process});
    const auto figures_of = [&](size_t request) {
      return module.Of(static_cast<uint32_t>(request));
    };
    AddArrays(profiles, figures_of, node);
    nodes.emplace_back(std::move(node));
  }
  Object rest = {{"id", tree.modules.size()},
                 {"parent", Value()},
                 {"path", kUnattributed},
                 {"class", Value()}};
  AddArrays(
      profiles, [&](size_t request) { return &tree.unattributed[request]; }, rest);
  nodes.emplace_back(std::move(rest));
  return nodes;
}

Array LayersOf(const Profiles& profiles) {
  Array layers;
  for (const AlignedLayer& layer : profiles.layers.layers) {
    layers.emplace_back(Object{
        {"index", layer.index},
        {"type", table::TextOrNull(layer.type)},
        {"path", table::TextOrNull(layer.path)},
        {"gpu_ns", PerRequest(profiles, [&](size_t i) { return table::OrNull(layer.gpu_ns[i]); })},
        {"cpu_ns",
         PerRequest(profiles, [&](size_t i) { return table::OrNull(layer.cpu_ns[i]); })}});
  }
  return layers;
}

/// The mode of all requests that show one; empty where they differ.
std::string_view ModeOfAll(const std::vector<RankView>& views) {
  std::string_view all;
  for (const RankView& view : views) {
    const std::string_view mode = ModeOf(view);
    if (!all.empty() && !mode.empty() && mode != all) return {};
    if (!mode.empty()) all = mode;
  }
  return all;
}

/// What the metadata says of the run, the first that says it; else what the options and traces say.
void AddRun(const analysis::AnalysisInput& input, const RequestList& list, const Profiles& profiles,
            Object& root) {
  std::string model, engine, mode;
  for (const RequestMetadata& metadata : list.metadata) {
    if (model.empty()) model = metadata.model;
    if (engine.empty()) engine = metadata.engine;
    if (mode.empty()) mode = metadata.mode;
  }
  if (model.empty() && input.config != nullptr) model = input.config->name;
  for (const RankView& view : profiles.views) {
    if (model.empty()) {
      const analysis::ModuleNodes nodes = analysis::BuildModuleNodes(view);
      model = analysis::GuessModel(nodes.nodes, nodes.total_ns).value;
    }
    if (engine.empty()) engine = analysis::GuessEngine(view).value;
  }
  if (mode.empty()) mode = ModeOfAll(profiles.views);
  root.emplace_back("model", table::TextOrNull(model));
  root.emplace_back("engine", table::TextOrNull(engine));
  root.emplace_back(
      "config", input.config == nullptr ? Value() : Value(analysis::ModelToObject(*input.config)));
  root.emplace_back("mode", table::TextOrNull(mode));
}

std::string LabelOf(const Request& request) {
  return request.entry ? request.entry->label.value_or("") : std::string();
}

int64_t CountLayers(const AlignedLayers& layers, size_t request) {
  return std::count_if(layers.layers.begin(), layers.layers.end(), [&](const AlignedLayer& layer) {
    return layer.gpu_ns[request] || layer.cpu_ns[request];
  });
}

/// The envelope's part of one request.
table::RankResult ResultOf(const Profiles& profiles, size_t index) {
  const Request& request = *profiles.requests[index];
  const RequestFigures& figures = profiles.figures[index];
  table::RankResult result = analysis::StartResult(profiles.views[index]);
  // Requests are told apart by their files: all of them are rank 0 of their runs.
  result.rank.reset();
  result.data = {{"request", index},
                 {"file", request.name()},
                 {"label", table::TextOrNull(LabelOf(request))},
                 {"gpu_ns", figures.gpu_ns},
                 {"cpu_ns", figures.cpu_ns},
                 {"wall_ns", figures.wall_ns},
                 {"modules", profiles.tree.modules_of[index]},
                 {"layers", CountLayers(profiles.layers, index)},
                 {"alignment", analysis::AlignmentForMachines(profiles.views[index])}};
  return result;
}

/// One row a request.
struct RequestRow {
  int64_t request = 0;
  std::string label;
  std::string file;
  int64_t gpu_ns = 0;
  int64_t cpu_ns = 0;
  int64_t wall_ns = 0;
  int64_t modules = 0;
  int64_t layers = 0;
  RequestEntry said;  ///< what the metadata says
};

/// A figure of the metadata, which the document has among those of the request: for people alone,
/// where a request has it.
void AddSaid(table::ColumnSpec spec, std::optional<int64_t> RequestEntry::*member,
             const std::vector<const Request*>& requests, analysis::RowTable<RequestRow>& table) {
  const bool any = std::any_of(requests.begin(), requests.end(), [&](const Request* request) {
    return request->entry && (*request->entry.*member).has_value();
  });
  if (!any) return;
  spec.audience = table::Audience::kPeople;
  table.Add(std::move(spec),
            [member](const RequestRow& row) { return table::CellOrNull(row.said.*member); });
}

/// Files of one name are told apart by their paths.
std::string ShownName(const Profiles& profiles, const Request& request) {
  const std::string name = request.name();
  const auto like = std::count_if(profiles.requests.begin(), profiles.requests.end(),
                                  [&name](const auto& other) { return other->name() == name; });
  return like > 1 ? request.trace->path : name;
}

table::Table RequestTable(const Profiles& profiles) {
  std::vector<RequestRow> rows;
  bool any_label = false;
  bool cpu_only = true;
  for (size_t i = 0; i < profiles.requests.size(); ++i) {
    const RequestFigures& figures = profiles.figures[i];
    rows.push_back({static_cast<int64_t>(i), LabelOf(*profiles.requests[i]),
                    ShownName(profiles, *profiles.requests[i]), figures.gpu_ns, figures.cpu_ns,
                    figures.wall_ns, profiles.tree.modules_of[i], CountLayers(profiles.layers, i),
                    profiles.requests[i]->entry.value_or(RequestEntry())});
    any_label = any_label || !rows.back().label.empty();
    cpu_only = cpu_only && profiles.views[i].cpu_only();
  }
  analysis::RowTable<RequestRow> table(std::move(rows));
  table.AddInt(analysis::Key("request"), &RequestRow::request);
  table::ColumnSpec label = analysis::Key("label");
  if (!any_label) label = analysis::ForMachines(std::move(label));
  table.Add(std::move(label),
            [](const RequestRow& row) { return table::TextCellOrNull(row.label); });
  table.AddText({.name = "file", .role = table::Role::kName}, &RequestRow::file);
  AddSaid(analysis::Count("prompt_tokens", "prompt", 1), &RequestEntry::prompt_tokens,
          profiles.requests, table);
  AddSaid(analysis::Count("output_tokens", "output", 1), &RequestEntry::output_tokens,
          profiles.requests, table);
  AddSaid(analysis::Nanoseconds("latency_ns", "latency", 1), &RequestEntry::latency_ns,
          profiles.requests, table);
  table
      .AddInt(analysis::Nanoseconds("gpu_ns", cpu_only ? "op time" : "GPU time"),
              &RequestRow::gpu_ns)
      .AddInt(analysis::Nanoseconds("cpu_ns", "CPU time"), &RequestRow::cpu_ns)
      .AddInt(analysis::Nanoseconds("wall_ns", "wall", 1), &RequestRow::wall_ns)
      .AddInt(analysis::Count("modules", "modules"), &RequestRow::modules)
      .AddInt(analysis::Count("layers", "layers"), &RequestRow::layers);
  return table.Take();
}

/// Every module has a value of each request, also where they have no module in common.
base::Status CheckSize(const Profiles& profiles) {
  constexpr size_t kMostValues = 4'000'000;
  const size_t n_modules = profiles.tree.modules.size() + 1;
  if (n_modules <= kMostValues / profiles.requests.size()) return {};
  return base::Error{
      base::ErrorCode::kFailed,
      fmt::format("{} modules of {} requests are more values than a document can hold ({})",
                  base::FormatCount(static_cast<int64_t>(n_modules)),
                  base::FormatCount(static_cast<int64_t>(profiles.requests.size())),
                  base::FormatCount(static_cast<int64_t>(kMostValues))),
      "name fewer requests, or requests of one model"};
}

/// A file of several ranks has layers of its own in each; none stands for the request.
std::optional<table::HealthEntry> WithoutLayers(const Request& request) {
  const std::optional<base::Error>& why = request.trace->no_layers;
  if (!why || !analysis::RanksOfProcesses(*request.trace).many()) return std::nullopt;
  return table::HealthEntry{
      "layers_of_ranks", table::Severity::kWarning, 1,
      fmt::format("{} is shown without layers: {}.", request.name(), why->message)};
}

}  // namespace

base::Result<JsonDocument> BuildRequestProfiles(const analysis::AnalysisInput& input,
                                                const RequestList& list) {
  JsonDocument document;
  document.name = "per_request_profiles";
  document.health = list.health;
  Profiles profiles;
  std::vector<table::RankResult> overflowed;
  for (const Request& request : list.requests) {
    RankView view(*request.trace, *input.rules);
    if (!view.times_fit()) {
      overflowed.push_back(analysis::AbstainOnOverflow(view));
      overflowed.back().rank.reset();
      continue;
    }
    profiles.requests.push_back(&request);
    profiles.figures.push_back(FiguresOf(view));
    profiles.views.push_back(std::move(view));
  }
  if (profiles.views.empty()) {
    return base::Error{base::ErrorCode::kInvalidInput,
                       "the times of every trace add up to more than 2^63 ns",
                       "re-record the traces"};
  }
  profiles.tree = AlignModules(profiles.views);
  for (size_t i = 0; i < profiles.figures.size(); ++i) {
    profiles.tree.unattributed[i].cpu_ns = profiles.figures[i].cpu_outside_modules_ns;
  }
  if (base::Status fits = CheckSize(profiles); !fits.ok()) return std::move(fits).error();
  profiles.layers = AlignLayers(profiles.views, profiles.tree);
  std::vector<std::string> names;
  for (const Request* const request : profiles.requests) names.push_back(request->name());
  if (std::optional<table::HealthEntry> apart = RequestsApart(profiles.tree, names)) {
    document.health.push_back(*std::move(apart));
  }
  for (const Request* const request : profiles.requests) {
    if (std::optional<table::HealthEntry> none = WithoutLayers(*request)) {
      document.health.push_back(*std::move(none));
    }
  }
  Object root = {{"schema", kSchema}};
  AddRun(input, list, profiles, root);
  root.emplace_back("requests",
                    PerRequest(profiles, [&](size_t i) { return RequestObject(profiles, i); }));
  root.emplace_back("nodes", NodesOf(profiles));
  root.emplace_back("layers", LayersOf(profiles));
  document.root = std::move(root);
  for (size_t i = 0; i < profiles.views.size(); ++i) {
    document.ranks.push_back(ResultOf(profiles, i));
  }
  for (table::RankResult& result : overflowed) document.ranks.push_back(std::move(result));
  table::Table table = RequestTable(profiles);
  table::Table shown = table;
  table::LimitRows(shown, kRowsForPeople);
  document.blocks.push_back(table::TableBlock(std::move(shown)));
  if (input.ranks.size() > 1) {
    document.reduced = Object{{"requests", std::move(table)},
                              {"modules", profiles.tree.modules.size()},
                              {"layers", profiles.layers.layers.size()}};
    for (table::RankResult& result : document.ranks) result.main_table = "requests";
  }
  return document;
}

}  // namespace layerscope::document
