#include "src/analysis/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>

#include "src/analysis/abstentions.h"
#include "src/analysis/alignment_table.h"
#include "src/analysis/coverage.h"
#include "src/analysis/rank_loop.h"
#include "src/analysis/row_table.h"
#include "src/analysis/run_ranks.h"
#include "src/analysis/step_blocks.h"
#include "src/analysis/step_modules.h"
#include "src/analysis/step_rows.h"
#include "src/analysis/step_sweep.h"
#include "src/attribution/lost_tables.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"
#include "src/table/or_null.h"
#include "src/table/sort.h"

namespace layerscope::analysis {
namespace {

using attribution::StepFields;
using table::Cell;

auto Field(std::optional<int64_t> StepFields::*member) {
  return [member](const StepRow& row) { return table::CellOrNull(row.fields.*member); };
}

Cell PhaseOf(const StepRow& row) {
  if (row.phase.empty()) return table::Null();
  return std::string_view(row.phase);
}

Cell ModeOf(const StepRow& row) {
  const std::string_view mode = ToString(row.launch_mode());
  if (mode.empty()) return table::Null();
  return mode;
}

/// Unknown for a step that launched nothing.
template <typename Number>
auto IfActive(Number number) {
  return [number](const StepRow& row) -> Cell {
    if (!row.has_activities) return table::Null();
    return number(row);
  };
}

/// Unknown on a CPU-only trace.
template <typename Number>
auto OnDevice(const RankView& view, Number number) {
  return IfActive([number, gpu = !view.cpu_only()](const StepRow& row) -> Cell {
    return gpu ? number(row) : Cell(table::Null());
  });
}

Cell IdleShare(const StepRow& row) {
  if (row.wall_ns() <= 0) return table::Null();
  return base::PartsPerMillion(row.gpu_idle_ns, row.wall_ns());
}

/// Idle is what the device shows in the step's window, not what the step's own activities leave:
/// another step may fill it.
void AddTimes(const RankView& view, StepScope scope, RowTable<StepRow>& table) {
  table.AddInt(Nanoseconds("cpu_ns", "host", 2), &StepRow::cpu_ns)
      .Add(Nanoseconds("wall_ns", "wall"), IfActive([](const StepRow& r) { return r.wall_ns(); }))
      .AddInt(Nanoseconds("busy_ns", "busy"), &StepRow::busy_ns);
  if (scope == StepScope::kWhole) {
    table::ColumnSpec share = Nanoseconds("gpu_idle_ppm", "idle %", 1);
    share.unit = table::Unit::kPartsPerMillion;
    table
        .Add(Nanoseconds("gpu_idle_ns", "idle"),
             IfActive([](const StepRow& r) { return r.gpu_idle_ns; }))
        .Add(share, IfActive(IdleShare));
  }
  table.AddInt(Nanoseconds("sum_ns", "sum", 1), &StepRow::sum_ns);
  if (view.cpu_only()) {
    table.AddInt(Count("n_activities", "ops", 3), &StepRow::n_activities);
  } else {
    table.AddInt(Count("n_kernels", "kernels", 2), &StepRow::n_kernels);
  }
}

/// Which calls launch is not known where they have no names.
auto LaunchCount(const RankView& view) {
  return [is_known = attribution::FindLostTables(view.trace()).names == 0](const StepRow& row) {
    return is_known ? Cell(row.n_launches) : Cell(table::Null());
  };
}

table::Table RowsForMachines(const RankView& view, std::vector<StepRow> rows) {
  RowTable<StepRow> table(std::move(rows));
  table.AddInt({.name = "index"}, &StepRow::index)
      .AddText({.name = "name"}, &StepRow::name)
      .Add({.name = "thread"}, [](const StepRow& row) { return ToCell(row.thread); })
      .Add({.name = "phase"}, PhaseOf);
  for (const auto& [name, member] :
       {std::pair("requests", &StepFields::requests),
        std::pair("query_tokens", &StepFields::query_tokens),
        std::pair("context_requests", &StepFields::context_requests),
        std::pair("context_tokens", &StepFields::context_tokens),
        std::pair("generation_requests", &StepFields::generation_requests),
        std::pair("generation_tokens", &StepFields::generation_tokens),
        std::pair("past", &StepFields::past), std::pair("sum_kv", &StepFields::sum_kv),
        std::pair("sum_q2", &StepFields::sum_q2), std::pair("sum_qkv", &StepFields::sum_qkv)}) {
    table.Add({.name = name}, Field(member));
  }
  table.AddInt({.name = "start_ns"}, &StepRow::start_ns);
  table.AddInt({.name = "cpu_ns"}, &StepRow::cpu_ns)
      .Add({.name = "first_ns"}, IfActive([](const StepRow& r) { return r.first_ns; }))
      .Add({.name = "last_ns"}, IfActive([](const StepRow& r) { return r.last_ns; }))
      .Add({.name = "wall_ns"}, IfActive([](const StepRow& r) { return r.wall_ns(); }))
      .AddInt({.name = "busy_ns"}, &StepRow::busy_ns)
      .Add({.name = "idle_ns"}, IfActive([](const StepRow& r) { return r.idle_ns(); }))
      .Add({.name = "gpu_idle_ns"},
           [gpu = !view.cpu_only()](const StepRow& row) -> Cell {
             if (!gpu || !row.has_activities) return table::Null();
             return row.gpu_idle_ns;
           })
      .AddInt({.name = "sum_ns"}, &StepRow::sum_ns)
      .AddInt({.name = "n_activities"}, &StepRow::n_activities)
      .Add({.name = "gap_ns"}, OnDevice(view, [](const StepRow& r) { return Cell(r.gap().ns()); }))
      .Add({.name = "gap_ppm"},
           OnDevice(view, [](const StepRow& r) { return table::CellOrNull(r.gap().ppm()); }))
      .AddInt({.name = "n_kernels"}, &StepRow::n_kernels)
      .AddInt({.name = "graph_kernels"}, &StepRow::n_graph_kernels)
      .Add({.name = "eager_kernels"},
           [](const StepRow& row) { return row.n_kernels - row.n_graph_kernels; })
      .Add({.name = "launch_mode"}, ModeOf)
      .Add({.name = "n_launches"}, LaunchCount(view))
      .Add({.name = "ns_per_token"},
           [](const StepRow& row) { return table::CellOrNull(row.ns_per_token()); })
      .Add({.name = "evidence"},
           [](const StepRow& row) { return Cell(ToCellMap(row.evidence_ns)); });
  AddPlace(view, table, &StepRow::place);
  return table.Take();
}

/// Somebody measured over batch and past length.
bool AnyPast(const std::vector<StepRow>& steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [](const StepRow& row) { return row.fields.past.has_value(); });
}

table::Table RowsForPeople(const RankView& view, std::vector<StepRow> rows, StepScope scope,
                           bool verbose) {
  // A name that says phase and tokens stands in the other columns already.
  const bool with_name = verbose || std::any_of(rows.begin(), rows.end(), [](const StepRow& row) {
                           return row.phase.empty();
                         });
  const bool any_graph = std::any_of(rows.begin(), rows.end(), [](const StepRow& row) {
    return row.n_graph_kernels + row.n_whole_graphs > 0;
  });
  // Marked steps are told apart by batch and past length.
  const bool marked = AnyPast(rows);
  RowTable<StepRow> table(std::move(rows));
  table.AddInt({.name = "index", .title = "step"}, &StepRow::index).Add({.name = "phase"}, PhaseOf);
  table::ColumnSpec mode{.name = "launch_mode", .title = "mode"};
  mode.priority = 3;
  if (any_graph) table.Add(std::move(mode), ModeOf);
  AddPlace(view, table, &StepRow::place);
  table.Add(Count("requests", "reqs", marked ? 0 : 1), Field(&StepFields::requests))
      .Add(Count("tokens", "tokens", 1),
           [](const StepRow& row) { return table::CellOrNull(row.tokens()); })
      .Add(Count("past", "past", marked ? 0 : 2), Field(&StepFields::past));
  AddTimes(view, scope, table);
  if (scope == StepScope::kWhole) {
    table.Add(Count("n_launches", "launches", 3), LaunchCount(view))
        .Add(Nanoseconds("ns_per_token", "per token", 1),
             [](const StepRow& row) { return table::CellOrNull(row.ns_per_token()); });
  }
  if (with_name) table.AddText(Key("name", "annotation"), &StepRow::name);
  return table.Take();
}

table::Object OutsideOf(const StepRows& steps) {
  return {{"gpu_ns", steps.outside.gpu_ns},
          {"kernels", steps.outside.kernels},
          {"activities", steps.outside.activities}};
}

void AddNotes(const RankView& view, const StepRows& steps, table::Table& table) {
  const std::string kind = view.cpu_only() ? "CPU self time" : "GPU time";
  if (steps.outside.activities > 0) {
    table.notes.push_back(fmt::format("[outside any step] {}: {} of {}",
                                      base::FormatShare(steps.outside.gpu_ns, view.total_ns()),
                                      base::FormatDuration(steps.outside.gpu_ns), kind));
  }
  if (steps.n_overlaps > 0) {
    table.notes.push_back(
        fmt::format("{} of {} windows (first start to last end) begin before the one before ends: "
                    "wall and idle "
                    "are of the window, busy of the step's own work in it",
                    steps.n_overlaps, steps.rows.size()));
  }
  if (steps.rows.empty()) table.notes.emplace_back("no step of this file is in the selection");
}

/// What people see as idle is gpu_idle_ns.
std::string SortOf(const Presentation& presentation) {
  const bool idle = presentation.sort == "idle" || presentation.sort.starts_with("idle:");
  return presentation.for_people && idle ? "gpu_" + presentation.sort : presentation.sort;
}

/// Machines read them by time.
std::vector<StepRow> RowsInOrder(const StepRows& steps, const Presentation& presentation) {
  std::vector<StepRow> rows = steps.rows;
  if (presentation.for_people) OrderRanks(rows);
  return rows;
}

/// The rows and their order as people see them.
base::Result<table::Table> TableForPeople(const RankView& view, const StepRows& steps,
                                          const StepsOptions& options,
                                          const table::Table& machines) {
  const Presentation& presentation = options.presentation;
  if (!options.by_module) {
    table::Table people = RowsForPeople(view, RowsInOrder(steps, presentation),
                                        ScopeOf(options.selection), presentation.verbose);
    people.order = machines.order;
    return people;
  }
  if (presentation.verbose) {
    table::Table people = machines;
    ShowModelPath(people);
    return people;
  }
  table::Table people = StepClassTable(view, steps.rows);
  if (base::Status sorted = table::SortBy(people, presentation.sort); !sorted.ok()) {
    return std::move(sorted).error();
  }
  if (presentation.sort.empty()) PutMarkedFirst(people);
  table::NoteRowsLeftOut(people, table::LimitRows(people, presentation.Limit(kStepRowsForPeople)));
  people.notes.emplace_back("own time of the modules of a class; -v lists each module");
  return people;
}

/// Rows of modules, as the rows of steps: of classes for people, unless they want each module.
bool ByClass(const StepsOptions& options) {
  return options.presentation.for_people && !options.presentation.verbose;
}

std::vector<StepSample> SamplesOf(const RankView& view, const StepRows& steps, bool by_class) {
  return by_class ? StepClassSamples(view, steps.rows) : StepModuleSamples(view, steps.rows);
}

table::Table SweepOf(const RankView& view, const StepRows& steps, const StepsOptions& options) {
  const std::vector<StepSample> whole = StepSamples(steps.rows);
  if (!options.by_module) return SweepTable(whole, nullptr);
  const std::vector<StepSample> modules = SamplesOf(view, steps, ByClass(options));
  return SweepTable(whole, &modules);
}

base::Result<table::RankResult> ComputeRank(const RankView& view, const StepRows& steps,
                                            const StepsOptions& options) {
  const Presentation& presentation = options.presentation;
  table::RankResult result = StartResult(view);
  result.abstained = WithoutSteps(view);
  table::Table machines = options.by_module
                              ? StepModuleTable(view, steps.rows)
                              : RowsForMachines(view, RowsInOrder(steps, options.presentation));
  if (base::Status sorted = table::SortBy(machines, SortOf(presentation)); !sorted.ok()) {
    return std::move(sorted).error();
  }
  const int64_t left_out = table::LimitRows(machines, presentation.Limit(kStepRowsForPeople));
  if (presentation.for_people && !result.abstained) {
    base::Result<table::Table> people = TableForPeople(view, steps, options, machines);
    if (!people.ok()) return std::move(people).error();
    people->title = StepCountText(view);
    if (!options.by_module || presentation.verbose) table::NoteRowsLeftOut(*people, left_out);
    AddNotes(view, steps, *people);
    result.blocks.push_back(table::TableBlock(*std::move(people)));
  }
  table::Table sweep = SweepOf(view, steps, options);
  if (presentation.for_people && AnyPast(steps.rows)) {
    table::Table people = sweep;
    if (!PlacesToShow(view).device) HideColumn("device", people);
    result.blocks.push_back(SweepBlock(std::move(people), presentation));
  }
  result.main_table = options.by_module ? "rows" : "steps";
  result.data = {{result.main_table, std::move(machines)},
                 {"sweep", std::move(sweep)},
                 {"outside", OutsideOf(steps)},
                 {"alignment", AlignmentForMachines(view)}};
  return result;
}

/// What all selected files show together.
struct JoinedSteps {
  std::vector<StepRow> rows;
  std::vector<StepSample> modules;  ///< with --by module
  size_t n_inputs = 0;
  bool shows_devices = false;

  void Add(const RankView& view, const StepRows& steps, const StepsOptions& options) {
    rows.insert(rows.end(), steps.rows.begin(), steps.rows.end());
    shows_devices = shows_devices || PlacesToShow(view).device;
    if (!options.by_module) return;
    std::vector<StepSample> of_rank = SamplesOf(view, steps, ByClass(options));
    modules.insert(modules.end(), std::make_move_iterator(of_rank.begin()),
                   std::make_move_iterator(of_rank.end()));
  }
};

/// For people the blocks are limited, and say so.
table::Table Limited(table::Table table, const StepsOptions& options) {
  if (!options.presentation.for_people) table::LimitRows(table, options.presentation.Limit(0));
  return table;
}

/// All ranks as one.
table::Object ReducedOver(const JoinedSteps& all, const StepsOptions& options) {
  const RankReduce how = *options.rank_reduce;
  const std::vector<StepSample> whole = ReduceStepSamples(StepSamples(all.rows), how);
  table::Object reduced{{"rank_reduce", RankReduceNames()[static_cast<size_t>(how)]},
                        {"steps", Limited(ReduceSteps(all.rows, how), options)}};
  if (!options.by_module) {
    reduced.emplace_back("sweep", Limited(SweepTable(whole, nullptr), options));
    return reduced;
  }
  std::vector<StepSample> of_modules = ReduceModuleSamples(all.modules, whole, how);
  reduced.emplace_back("sweep", Limited(SweepTable(whole, &of_modules), options));
  reduced.emplace_back("rows", Limited(ReducedModules(std::move(of_modules)), options));
  return reduced;
}

/// The sweep over all recordings of a run, of each rank: what they were made for. None of its steps
/// says its batch: then people see each recording by itself.
void JoinRecordings(const JoinedSteps& all, const StepsOptions& options, Output& output) {
  table::Table sweep =
      SweepTable(StepSamples(all.rows), options.by_module ? &all.modules : nullptr);
  if (sweep.n_rows == 0) return;
  output.reduced_title = "all recordings";
  output.reduced = table::Object{{"sweep", Limited(sweep, options)}};
  if (!options.presentation.for_people) return;
  if (!all.shows_devices) HideColumn("device", sweep);
  output.reduced_blocks.push_back(SweepBlock(std::move(sweep), options.presentation));
  if (options.per_rank) return;
  for (table::RankResult& rank : output.ranks) {
    rank.blocks = {{.text = "steps of several recordings of one run, together below; --per-rank "
                            "shows those of each"}};
  }
}

void JoinRanks(const JoinedSteps& all, const StepsOptions& options, Output& output) {
  output.reduced = ReducedOver(all, options);
  if (options.presentation.for_people) {
    output.reduced_blocks = ReducedStepBlocks(*output.reduced, *options.rank_reduce,
                                              options.presentation, AnyPast(all.rows));
  }
  if (options.per_rank) return;
  for (table::RankResult& rank : output.ranks) {
    rank.blocks = {{.text = "reduced over ranks below; --per-rank shows each"}};
  }
}

table::HealthEntry PerRankAlone() {
  return {"per_rank_needless", table::Severity::kWarning, 1,
          "--per-rank says which tables to show beside --rank-reduce; without that every row is "
          "of one rank already."};
}

}  // namespace

base::Result<Output> ComputeSteps(const AnalysisInput& input, const StepsOptions& options) {
  const bool recordings = HasRecordings(input);
  JoinedSteps all;
  base::Result<Output> output = ForEachRank(input, options.selection, [&](const RankView& view) {
    StepRows steps = BuildStepRows(view, ScopeOf(options.selection));
    for (StepRow& row : steps.rows) row.place.input = all.n_inputs;
    ++all.n_inputs;
    if (options.rank_reduce || recordings) all.Add(view, steps, options);
    return ComputeRank(view, steps, options);
  });
  if (!output.ok()) return output;
  if (options.rank_reduce) {
    JoinRanks(all, options, *output);
  } else if (recordings) {
    if (output->ranks.size() > 1) JoinRecordings(all, options, *output);
  } else if (options.per_rank) {
    output->health.push_back(PerRankAlone());
  }
  return output;
}

}  // namespace layerscope::analysis
