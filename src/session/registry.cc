#include "src/session/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "src/analysis/info.h"
#include "src/analysis/kernels.h"
#include "src/analysis/layers.h"
#include "src/analysis/modules.h"
#include "src/analysis/overhead.h"
#include "src/analysis/passes.h"
#include "src/analysis/ranges.h"
#include "src/analysis/report.h"
#include "src/analysis/steps.h"
#include "src/analysis/summary.h"
#include "src/analysis/timeline.h"
#include "src/session/shared_options.h"

namespace layerscope::session {
namespace {

using analysis::AnalysisInput;
using analysis::Presentation;

/// A form of `kernels`: a table of its own content, in the layout of "table".
constexpr const char* kComputeFlow = "compute-flow";

/// A text or a number as it was given.
std::optional<std::string> TextOfOption(const OptionValues& values, std::string_view name) {
  constexpr std::array<std::string_view, 3> kNumbers = {"blocks-per-layer", "anchor-offset",
                                                        "num-layers"};
  if (std::find(kNumbers.begin(), kNumbers.end(), name) == kNumbers.end()) return values.Text(name);
  const std::optional<int64_t> number = values.Number(name);
  if (!number) return std::nullopt;
  return fmt::format("{}", *number);
}

AnalysisSpec Summary() {
  AnalysisSpec spec;
  spec.name = "summary";
  spec.group = "look";
  spec.summary =
      "the one page: what ran, where the time went, what is suspicious, what to run next";
  spec.input_set = InputSet::kRecordings;
  spec.options = JoinOptions({SelectionOptions(), PassOptions(), ModelOptionSpecs()});
  spec.layer_need = LayerNeed::kIfPossible;
  spec.examples = {HelpExample({}, {}), HelpExample("summary", "--phase decode")};
  spec.compute = [](const AnalysisInput& input, const OptionValues& values,
                    const Presentation& presentation, const std::vector<std::string>& inputs) {
    analysis::SummaryOptions options;
    options.selection = SelectionOf(values);
    options.presentation = presentation;
    options.inputs = inputs;
    for (const char* name :
         {"config", "profile", "anchor-kernel", "blocks-per-layer", "anchor-offset", "num-layers",
          "capture-trace", "eager-trace", "graph-annotations", "model-tree", "inductor-debug"}) {
      if (std::optional<std::string> text = TextOfOption(values, name)) {
        options.model_options.emplace_back(name, *std::move(text));
      }
    }
    if (values.Flag("anchor-boundary")) options.model_options.emplace_back("anchor-boundary", "");
    return analysis::ComputeSummary(input, options);
  };
  return spec;
}

AnalysisSpec Info() {
  AnalysisSpec spec;
  spec.name = "info";
  spec.group = "look";
  spec.summary =
      "what is in the file and can it be trusted: counts, ranks, devices, launches, gaps";
  spec.input_set = InputSet::kRecordings;
  spec.options = {RankOption()};
  spec.examples = {HelpExample("info", {}), HelpExample("info", "--format csv")};
  spec.compute = [](const AnalysisInput& input, const OptionValues& values,
                    const Presentation& presentation, const std::vector<std::string>& /*inputs*/) {
    return analysis::ComputeInfo(input, {SelectionOf(values), presentation});
  };
  return spec;
}

std::vector<OptionSpec> ModuleOptions() {
  OptionSpec collapse =
      FlagOption("collapse", "show runs of like modules (36 layers) as one row, or each of them");
  collapse.negation = "no-collapse";
  collapse.fallback = "collapsed in tables, not in json and csv";
  return {IntegerOption("depth", "N", "list modules down to this depth; the root has depth 1"),
          TextOption("root", "M", "list this module (path, instance or class) and all below it"),
          TextOption("match", "RE", "list modules whose path matches a regular expression"),
          std::move(collapse),
          TextOption("rollup", "class|path|RE",
                     "group by class, by path without numbers, or by the captures of a regular "
                     "expression on the path"),
          FlagOption("no-comm", "leave communication kernels out")};
}

AnalysisSpec Modules() {
  AnalysisSpec spec;
  spec.name = "modules";
  spec.group = "look";
  spec.summary = "the module tree with GPU time (inclusive, own, busy), calls, kernels, evidence";
  spec.input_set = InputSet::kRecordings;
  spec.options = JoinOptions(
      {ModuleOptions(), SelectionOptions(), PassOptions(), ModelOptionSpecs(), RowOptions()});
  spec.examples = {HelpExample("modules", "--depth 4"), HelpExample("modules", "--rollup class")};
  spec.compute = [](const AnalysisInput& input, const OptionValues& values,
                    const Presentation& presentation, const std::vector<std::string>& /*inputs*/) {
    analysis::ModulesOptions options;
    options.selection = SelectionOf(values);
    options.selection.without_communication = values.Flag("no-comm");
    options.presentation = presentation;
    options.depth = values.Number("depth");
    options.root = values.TextOr("root", {});
    options.match = values.TextOr("match", {});
    options.collapse = values.OptionalFlag("collapse");
    options.rollup = values.TextOr("rollup", {});
    return analysis::ComputeModules(input, options);
  };
  return spec;
}

AnalysisSpec Kernels() {
  AnalysisSpec spec;
  spec.name = "kernels";
  spec.group = "look";
  spec.summary = "kernels, copies and sets ranked by the sum of their time";
  spec.input_set = InputSet::kRecordings;
  spec.own_formats = {kComputeFlow};
  OptionSpec by = ChoiceOption("by", "KEY", analysis::KernelsByNames(), "what a row stands for");
  by.fallback = "name; with --layer each kernel";
  OptionSpec compare = IntegerOption("compare-layer", "M",
                                     "with --layer: which kernels two layers share, with times");
  spec.options = JoinOptions({{std::move(by), std::move(compare)},
                              SelectionOptions(),
                              PassOptions(),
                              ModelOptionSpecs(),
                              RowOptions()});
  spec.examples = {HelpExample("kernels", "-n 10"),
                   HelpExample("kernels", "--by category --step 0")};
  spec.compute = [](const AnalysisInput& input, const OptionValues& values,
                    const Presentation& presentation, const std::vector<std::string>& /*inputs*/) {
    analysis::KernelsOptions options;
    options.selection = SelectionOf(values);
    options.presentation = presentation;
    options.by = static_cast<analysis::KernelsBy>(values.Choice("by").value_or(0));
    options.by_is_given = values.Has("by");
    options.compare_layer = values.Number("compare-layer");
    options.compute_flow = values.TextOr("format", {}) == kComputeFlow;
    return analysis::ComputeKernels(input, options);
  };
  return spec;
}

AnalysisSpec Steps() {
  AnalysisSpec spec;
  spec.name = "steps";
  spec.group = "look";
  spec.summary = "engine steps: phase, requests, tokens, wall, busy, idle, time per token";
  spec.input_set = InputSet::kRecordings;
  OptionSpec by =
      ChoiceOption("by", "KEY", {"step", "module"}, "rows per step, or per step and module");
  by.fallback = "step";
  spec.options = JoinOptions({{std::move(by)},
                              RankReduceOptions(),
                              SelectionOptions(),
                              PassOptions(),
                              ModelOptionSpecs(),
                              RowOptions()});
  spec.examples = {HelpExample("steps", {}), HelpExample("steps", "--by module --step 0")};
  spec.compute = [](const AnalysisInput& input, const OptionValues& values,
                    const Presentation& presentation, const std::vector<std::string>& /*inputs*/) {
    analysis::StepsOptions options;
    options.selection = SelectionOf(values);
    options.presentation = presentation;
    options.by_module = values.TextOr("by", "step") == "module";
    options.rank_reduce = RankReduceOf(values);
    options.per_rank = values.Flag("per-rank");
    return analysis::ComputeSteps(input, options);
  };
  return spec;
}

AnalysisSpec Overhead() {
  AnalysisSpec spec;
  spec.name = "overhead";
  spec.group = "look";
  spec.summary =
      "where each step's wall time goes: compute, communication, copies, launch gaps, host waits";
  // Windows and idle time are of whole processes: what cuts through steps has no meaning here.
  std::vector<OptionSpec> selection = SelectionOptions();
  std::erase_if(selection, [](const OptionSpec& option) {
    return option.name == "stream" || option.name == "module" || option.name == "from" ||
           option.name == "to";
  });
  spec.options = JoinOptions({RankReduceOptions(), std::move(selection), RowOptions()});
  spec.examples = {HelpExample("overhead", {}), HelpExample("overhead", "--phase decode")};
  spec.compute = [](const AnalysisInput& input, const OptionValues& values,
                    const Presentation& presentation, const std::vector<std::string>& /*inputs*/) {
    return analysis::ComputeOverhead(
        input, {SelectionOf(values), presentation, RankReduceOf(values), values.Flag("per-rank")});
  };
  return spec;
}

/// Passes and layers lie on one device: of the selection, the options that say where.
std::vector<OptionSpec> PlaceOptions() {
  std::vector<OptionSpec> options;
  for (OptionSpec& spec : SelectionOptions()) {
    const bool is_place = spec.name == "rank" || spec.name == "pid" || spec.name == "device" ||
                          spec.name == "stream" || spec.name == "phase";
    if (is_place) options.push_back(std::move(spec));
  }
  return options;
}

/// --pass, for verbs that show one pass or several whole ones.
OptionSpec PassOption(std::string help, std::string fallback) {
  OptionSpec option = PassOptions().front();
  option.help = std::move(help);
  option.fallback = std::move(fallback);
  return option;
}

AnalysisSpec Passes() {
  AnalysisSpec spec;
  spec.name = "passes";
  spec.group = "look";
  spec.summary =
      "every forward pass: start, duration, layers, and whether it is steady or before that (cold)";
  spec.options =
      JoinOptions({{PassOptions().front()}, PlaceOptions(), ModelOptionSpecs(), RowOptions()});
  spec.layer_need = LayerNeed::kRequired;
  spec.examples = {HelpExample("passes", {}), HelpExample("passes", "--phase decode")};
  spec.compute = [](const AnalysisInput& input, const OptionValues& values,
                    const Presentation& presentation, const std::vector<std::string>& /*inputs*/) {
    return analysis::ComputePasses(input, {SelectionOf(values), presentation});
  };
  return spec;
}

AnalysisSpec Layers() {
  AnalysisSpec spec;
  spec.name = "layers";
  spec.group = "look";
  spec.summary = "each layer of one pass: type, wall, sum, categories; then layers by type";
  spec.options =
      JoinOptions({{PassOption("show this pass (index, as passes lists it)",
                               "the steady one, else the last whole one"),
                    FlagOption("all-passes",
                               "each layer's wall time over the whole passes of one phase, "
                               "with outliers")},
                   PlaceOptions(),
                   ModelOptionSpecs(),
                   RowOptions()});
  spec.layer_need = LayerNeed::kRequired;
  spec.examples = {HelpExample("layers", {}), HelpExample("layers", "--all-passes --phase decode")};
  spec.compute = [](const AnalysisInput& input, const OptionValues& values,
                    const Presentation& presentation, const std::vector<std::string>& /*inputs*/) {
    return analysis::ComputeLayers(input,
                                   {SelectionOf(values), presentation, values.Flag("all-passes")});
  };
  return spec;
}

AnalysisSpec Timeline() {
  AnalysisSpec spec;
  spec.name = "timeline";
  spec.group = "look";
  spec.summary = "streams, steps, passes and layers over time, as the viewer draws them";
  OptionSpec bins = IntegerOption("bins", "N", "join what is shorter than an N-th of the time");
  bins.fallback = std::to_string(analysis::kTimelineBins);
  std::vector<OptionSpec> places = PlaceOptions();
  std::erase_if(places, [](const OptionSpec& option) { return option.name == "phase"; });
  spec.options =
      JoinOptions({{std::move(bins), DurationOption("from", "show the time from T on (3.2ms)"),
                    DurationOption("to", "show the time before T")},
                   std::move(places),
                   ModelOptionSpecs()});
  spec.layer_need = LayerNeed::kIfPossible;
  spec.examples = {HelpExample("timeline", {}),
                   HelpExample("timeline", "--from 10ms --to 12ms --bins 200")};
  spec.compute = [](const AnalysisInput& input, const OptionValues& values,
                    const Presentation& presentation, const std::vector<std::string>& /*inputs*/) {
    return analysis::ComputeTimeline(input,
                                     {SelectionOf(values), presentation,
                                      values.Number("bins").value_or(analysis::kTimelineBins)});
  };
  return spec;
}

AnalysisSpec Ranges() {
  AnalysisSpec spec;
  spec.name = "ranges";
  spec.group = "convert";
  spec.summary = "time ranges of passes and layers as Perfetto shows them";
  std::vector<OptionSpec> places = PlaceOptions();
  std::erase_if(places, [](const OptionSpec& option) { return option.name == "phase"; });
  spec.options = JoinOptions({{PassOption("only this pass, or FIRST..LAST", "all"),
                               TextOption("layers", "LIST", "only these layers: 2,3,38 or 0..3,38"),
                               TextOption("layer", "N", "only this layer: --layers with one")},
                              std::move(places),
                              ModelOptionSpecs(),
                              RowOptions()});
  spec.layer_need = LayerNeed::kRequired;
  spec.examples = {HelpExample("ranges", {}), HelpExample("ranges", "--pass 1 --layers 2,3,35")};
  spec.compute = [](const AnalysisInput& input, const OptionValues& values,
                    const Presentation& presentation, const std::vector<std::string>& /*inputs*/) {
    analysis::RangesOptions options{SelectionOf(values), presentation,
                                    values.TextOr("layers", values.TextOr("layer", {}))};
    options.selection.layer.reset();
    return analysis::ComputeRanges(input, options);
  };
  return spec;
}

AnalysisSpec Report() {
  AnalysisSpec spec;
  spec.name = "report";
  spec.group = "show";
  spec.summary =
      "the viewer with its data in one HTML file; -o x.md: the written report on one pass";
  OptionSpec size = TextOption("max-size", "SIZE", "the largest page; what is cut is said");
  size.kind = OptionKind::kSize;
  size.fallback = "20 MiB";
  size.in_envelope = false;
  spec.options = JoinOptions({{PassOption("report on this pass (index, as passes lists it)",
                                          "the steady one, else the last whole one"),
                               std::move(size)},
                              BenchmarkOptions(),
                              PlaceOptions(),
                              ModelOptionSpecs(),
                              {RowOptions().front()}});
  spec.layer_need = LayerNeed::kRequired;
  spec.default_format = "markdown";
  spec.own_formats = {"html"};
  spec.examples = {HelpExample("report", "-o report.html"),
                   HelpExample("report", "--phase prefill -o report.md")};
  spec.compute = [](const AnalysisInput& input, const OptionValues& values,
                    const Presentation& presentation, const std::vector<std::string>& /*inputs*/) {
    return analysis::ComputeReport(input, {SelectionOf(values), presentation});
  };
  return spec;
}

}  // namespace

const std::vector<AnalysisSpec>& Analyses() {
  static const std::vector<AnalysisSpec> kAnalyses = {Summary(),  Info(),    Modules(), Passes(),
                                                      Layers(),   Kernels(), Steps(),   Overhead(),
                                                      Timeline(), Ranges(),  Report()};
  return kAnalyses;
}

const AnalysisSpec* FindAnalysis(std::string_view name) {
  for (const AnalysisSpec& spec : Analyses()) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

bool ResolvesModules(const AnalysisSpec& spec) {
  static const std::string kTelling = SideFileOptionSpecs().front().name;
  return std::any_of(spec.options.begin(), spec.options.end(),
                     [](const OptionSpec& option) { return option.name == kTelling; });
}

LayerNeed LayerNeedOf(const AnalysisSpec& spec, const OptionValues& values) {
  const bool asks = values.Has("pass") || values.Has("layer") || values.Has("compare-layer") ||
                    (values.Has("by") && values.TextOr("by", {}) == "layer") ||
                    (values.Has("format") && values.TextOr("format", {}) == kComputeFlow);
  return asks ? LayerNeed::kRequired : spec.layer_need;
}

std::vector<OptionSpec> CommonOptionsOf(const AnalysisSpec& spec) {
  std::vector<OptionSpec> options = CommonOptions();
  for (OptionSpec& option : options) {
    if (option.name != "format") continue;
    option.fallback = spec.default_format;
    option.choices.insert(option.choices.end(), spec.own_formats.begin(), spec.own_formats.end());
  }
  return options;
}

std::vector<OptionSpec> AllOptions(const AnalysisSpec& spec) {
  return JoinOptions({spec.options, CommonOptionsOf(spec)});
}

}  // namespace layerscope::session
