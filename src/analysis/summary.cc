#include "src/analysis/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "src/analysis/abstentions.h"
#include "src/analysis/compiled_table.h"
#include "src/analysis/config_check.h"
#include "src/analysis/idle_text.h"
#include "src/analysis/module_table.h"
#include "src/analysis/rank_loop.h"
#include "src/analysis/row_table.h"
#include "src/analysis/summary_advice.h"
#include "src/analysis/summary_commands.h"
#include "src/analysis/summary_facts.h"
#include "src/analysis/summary_steps.h"
#include "src/analysis/top_kernels.h"
#include "src/base/format_number.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

using base::FormatDuration;
using base::FormatShare;
using table::Cell;
using table::Object;

/// Of categories and of kernels; the second where a table of modules stands above them, so that the
/// page fits a terminal.
constexpr int64_t kTopRows = 5;
constexpr int64_t kTopRowsBesideModules = 3;
constexpr size_t kPathsInCommand = 2;

table::Value WallOrNull(const PhaseRow& phase, size_t at) {
  if (phase.walls_ns.empty()) return table::Null();
  return phase.walls_ns[at];
}

const std::string& PhaseName(const PhaseRow& phase) {
  static const std::string kUnknown = "unknown";
  return phase.phase.empty() ? kUnknown : phase.phase;
}

Object StepsOf(const SummaryFacts& facts) {
  table::Array phases;
  for (const PhaseRow& phase : facts.phases) {
    phases.push_back(Object{{"phase", table::TextOrNull(phase.phase)},
                            {"n", phase.n},
                            {"median_wall_ns", table::OrNull(phase.median_wall_ns)},
                            {"median_ns_per_token", table::OrNull(phase.median_ns_per_token)},
                            {"wall_ns", phase.wall_ns},
                            {"busy_ns", phase.busy_ns},
                            {"min_wall_ns", WallOrNull(phase, 0)},
                            {"max_wall_ns", WallOrNull(phase, phase.walls_ns.size() - 1)},
                            {"median_busy_ppm", table::OrNull(phase.median_busy_ppm)},
                            {"requests", table::OrNull(phase.requests)},
                            {"tokens", table::OrNull(phase.tokens)}});
  }
  return {{"n", facts.steps.rows.size()},
          {"phases", std::move(phases)},
          {"outside", Object{{"gpu_ns", facts.steps.outside.gpu_ns},
                             {"kernels", facts.steps.outside.kernels}}}};
}

Object WhatOf(const SummaryFacts& facts) {
  Object mix;
  for (const PhaseRow& phase : facts.phases) mix.emplace_back(PhaseName(phase), phase.n);
  return {{"engine", table::TextOrNull(facts.engine.value)},
          {"engine_source", table::TextOrNull(facts.engine.source)},
          {"model", table::TextOrNull(facts.model.value)},
          {"model_source", table::TextOrNull(facts.model.source)},
          {"layers", table::TextOrNull(facts.layers)},
          {"gpu", table::TextOrNull(facts.gpu_name)},
          {"phase_mix", std::move(mix)}};
}

Object DataOf(const RankView& view, const SummaryFacts& facts,
              const std::vector<Suspicion>& suspicions, const std::vector<NextCommand>& commands) {
  table::Array warnings;
  for (const Suspicion& suspicion : suspicions) {
    warnings.push_back(Object{{"code", suspicion.code}, {"message", suspicion.message}});
  }
  for (const table::HealthEntry& entry : view.attribution().warnings) {
    warnings.push_back(Object{{"code", entry.code}, {"message", entry.message}});
  }
  table::Array next;
  for (const NextCommand& command : commands) {
    next.push_back(Object{{"command", command.command}, {"why", command.why}});
  }
  return {{"what", WhatOf(facts)},
          {"ranks", ToObject(facts.ranks)},
          {"gpu", Object{{"busy_ns", facts.gpu.busy_ns},
                         {"idle_ns", facts.gpu.idle_ns()},
                         {"span_ns", facts.gpu.span_ns},
                         {"sum_ns", facts.gpu.sum_ns},
                         {"cpu_only", view.cpu_only()}}},
          {"idle",
           facts.idle ? table::Value(IdleObject(view, *facts.idle)) : table::Value(table::Null())},
          {"top_modules", NodesForMachines(view, facts.top_modules)},
          {"replays", Object{{"gpu_ns", facts.graphs.gpu_ns},
                             {"hidden_ns", facts.graphs.hidden_ns()},
                             {"launches", facts.graphs.n_launches}}},
          {"top_categories", TopCategoryTable(facts.categories, 0, 0)},
          {"top_kernels", TopKernelTable(view, facts.kernels, 0, kTopKernelsForMachines)},
          {"steps", StepsOf(facts)},
          {"layers", facts.pass_layers ? table::Value(LayersObject(view, *facts.pass_layers))
                                       : table::Value(table::Null())},
          {"warnings", std::move(warnings)},
          {"next", std::move(next)}};
}

std::string Sourced(const Guess& guess) {
  if (guess.value.empty()) return "unknown";
  return fmt::format("{} (by {})", guess.value, guess.source);
}

std::string GpuText(const RankView& view, const SummaryFacts& facts) {
  const GpuTimes& gpu = facts.gpu;
  if (facts.devices.empty()) return "no activity";
  const std::string busy = FormatDuration(gpu.busy_ns);
  const std::string sum = FormatDuration(gpu.sum_ns);
  const std::string span = FormatDuration(gpu.span_ns);
  const std::string share = FormatShare(gpu.busy_ns, gpu.span_ns);
  const bool is_part = facts.scope == StepScope::kCut;
  if (view.cpu_only()) {
    std::string text = fmt::format("ops busy {}{}, self time over all threads {}", busy,
                                   is_part ? "" : fmt::format(" of {} ({})", span, share), sum);
    return IsCut(view) ? text + "; the file is cut, GPU events may be missing" : text;
  }
  std::string text = fmt::format("busy {}, sum {} in this selection", busy, sum);
  if (!is_part && !facts.idle) text = fmt::format("busy {} within {}, sum {}", busy, span, sum);
  if (facts.idle) {
    text = fmt::format("busy {} of {} ({}), idle {}, sum {}", busy, span, share,
                       FormatDuration(gpu.idle_ns()), sum);
  }
  if (facts.devices.size() > 1) text += fmt::format(", over {} devices", facts.devices.size());
  return text;
}

std::string RankText(const RankView& view, const SummaryFacts& facts) {
  if (facts.ranks.present.empty() && !facts.ranks.world_size) return "rank unknown";
  if (facts.ranks.present.size() == 1) return "rank " + ToText(facts.ranks);
  const std::optional<int64_t> rank = view.input().rank;
  return fmt::format("{}ranks of the run: {}", rank ? fmt::format("rank {}; ", *rank) : "",
                     ToText(facts.ranks));
}

table::Block WhatBlock(const RankView& view, const SummaryFacts& facts) {
  table::Block block;
  block.kind = table::Block::Kind::kFacts;
  std::string model = Sourced(facts.model);
  if (!facts.layers.empty()) model += ", " + facts.layers;
  if (!facts.config.empty()) model += "; config: " + facts.config;
  block.facts.emplace_back("model", std::move(model));
  block.facts.emplace_back("engine", Sourced(facts.engine));
  if (view.cpu_only()) {
    block.facts.emplace_back("CPU", GpuText(view, facts));
  } else {
    const std::string name = facts.gpu_name.empty() ? "name unknown" : facts.gpu_name;
    block.facts.emplace_back("GPU", name + ", " + RankText(view, facts));
    block.facts.emplace_back("GPU time", GpuText(view, facts));
  }
  block.facts.emplace_back("steps", StepsText(facts.phases));
  return block;
}

std::vector<table::Block> BlocksOf(const RankView& view, const SummaryFacts& facts,
                                   const std::vector<Suspicion>& suspicions,
                                   const std::vector<NextCommand>& commands,
                                   const std::string& arguments) {
  std::vector<table::Block> blocks = {WhatBlock(view, facts)};
  if (!suspicions.empty()) {
    table::Block block;
    block.kind = table::Block::Kind::kFacts;
    block.title = "Look at";
    for (const Suspicion& suspicion : suspicions) {
      block.facts.emplace_back(suspicion.title, suspicion.message);
    }
    blocks.push_back(std::move(block));
  }
  const int64_t n_rows = facts.top_modules.empty() ? kTopRows : kTopRowsBesideModules;
  if (!facts.top_modules.empty()) {
    blocks.push_back(BlockOfTopModules(view, facts.tree, facts.top_modules));
  }
  if (facts.pass_layers) {
    for (table::Block& block : LayerBlocks(view, *facts.pass_layers, arguments)) {
      blocks.push_back(std::move(block));
    }
  }
  for (table::Block& block :
       TopKernelBlocks(view, facts.categories, facts.kernels, facts.other, n_rows)) {
    blocks.push_back(std::move(block));
  }
  table::Block next;
  next.kind = table::Block::Kind::kFacts;
  next.title = "Next";
  for (const NextCommand& command : commands) next.facts.emplace_back(command.why, command.command);
  if (!commands.empty()) blocks.push_back(std::move(next));
  return blocks;
}

/// One file of several.
struct RankRow {
  std::optional<int64_t> rank;
  std::string input;
  GpuTimes gpu;
};

table::Table TableOfRanks(std::vector<RankRow> rows) {
  RowTable<RankRow> table(std::move(rows));
  const auto time = [](auto get) { return [get](const RankRow& row) { return get(row.gpu); }; };
  table
      .Add({.name = "rank"},
           [](const RankRow& row) -> Cell {
             if (!row.rank) return table::Null();
             return *row.rank;
           })
      .AddText(Key("input"), &RankRow::input)
      .Add(Nanoseconds("busy_ns", "busy"), time([](const GpuTimes& gpu) { return gpu.busy_ns; }))
      .Add(Nanoseconds("idle_ns", "idle"), time([](const GpuTimes& gpu) { return gpu.idle_ns(); }))
      .Add(Nanoseconds("span_ns", "span"), time([](const GpuTimes& gpu) { return gpu.span_ns; }))
      .Add(Nanoseconds("sum_ns", "sum"), time([](const GpuTimes& gpu) { return gpu.sum_ns; }));
  return table.Take();
}

table::RankResult ComputeRank(const RankView& view, const SummaryFacts& facts,
                              const SummaryOptions& options,
                              const std::vector<std::string>& inputs) {
  const std::vector<Suspicion> suspicions = FindSuspicions(view, facts);
  const std::vector<NextCommand> commands =
      SuggestCommands(view, facts, options.selection, inputs, options.model_options);
  table::RankResult result = StartResult(view);
  result.abstained = WithoutWork(view);
  result.data = DataOf(view, facts, suspicions, commands);
  NoteCompiledRegions(view, InductorKernels(view), result);
  result.main_table = "top_kernels";
  if (options.presentation.for_people) {
    result.blocks = BlocksOf(view, facts, suspicions, commands,
                             CommandArguments(options.selection, inputs, options.model_options));
  }
  return result;
}

/// What the commands of a page name: the run's inputs, or the page's own file when it is one of
/// several recordings, which few verbs read together, or when nobody says how they were given and
/// they are too many for a line.
std::vector<std::string> InputsOfCommands(const AnalysisInput& input, const RankView& view,
                                          const SummaryOptions& options) {
  if (HasRecordings(input)) return {view.input().path};
  if (!options.inputs.empty()) return options.inputs;
  if (input.ranks.size() > kPathsInCommand) return {view.input().path};
  std::vector<std::string> paths;
  for (const RankInput& rank : input.ranks) paths.push_back(rank.path);
  return paths;
}

}  // namespace

base::Result<Output> ComputeSummary(const AnalysisInput& input, const SummaryOptions& options) {
  std::vector<RankRow> rows;
  base::Result<Output> output = ForEachRank(input, options.selection, [&](const RankView& view) {
    const SummaryFacts facts = CollectSummary(input, view, options.selection);
    rows.push_back({view.input().rank, view.input().path, facts.gpu});
    table::RankResult result =
        ComputeRank(view, facts, options, InputsOfCommands(input, view, options));
    WarnOfMismatch(input, view, result);
    return base::Result<table::RankResult>(std::move(result));
  });
  if (output.ok() && input.ranks.size() > 1) {
    output->reduced = Object{{"ranks", TableOfRanks(std::move(rows))}};
    if (HasRecordings(input)) output->reduced_title = "all recordings";
  }
  return output;
}

}  // namespace layerscope::analysis
