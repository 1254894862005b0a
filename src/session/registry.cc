#include "src/session/registry.h"

#include <algorithm>
#include <utility>

#include "src/analysis/info.h"
#include "src/analysis/kernels.h"
#include "src/analysis/modules.h"
#include "src/analysis/steps.h"
#include "src/analysis/summary.h"
#include "src/session/shared_options.h"

namespace layerscope::session {
namespace {

using analysis::AnalysisInput;
using analysis::Presentation;

/// The trace that every example of help runs on.
constexpr const char* kExample = "examples/qwen3_8b_h100_vllm.json.gz";

std::string Example(const std::string& verb, const std::string& options) {
  return "layerscope " + verb + " " + kExample + (options.empty() ? "" : " " + options);
}

std::vector<OptionSpec> Joined(std::vector<std::vector<OptionSpec>> lists) {
  std::vector<OptionSpec> all;
  for (std::vector<OptionSpec>& list : lists) {
    std::move(list.begin(), list.end(), std::back_inserter(all));
  }
  return all;
}

AnalysisSpec Summary() {
  AnalysisSpec spec;
  spec.name = "summary";
  spec.group = "look";
  spec.summary =
      "the one page: what ran, where the time went, what is suspicious, what to run next";
  spec.options = SelectionOptions();
  spec.examples = {"layerscope " + std::string(kExample), Example("summary", "--phase decode")};
  spec.compute = [](const AnalysisInput& input, const OptionValues& values,
                    const Presentation& presentation, const std::vector<std::string>& inputs) {
    analysis::SummaryOptions options;
    options.selection = SelectionOf(values);
    options.presentation = presentation;
    options.inputs = inputs;
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
  spec.options = {RankOption()};
  spec.examples = {Example("info", ""), Example("info", "--format csv")};
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
  spec.options = Joined({ModuleOptions(), SelectionOptions(), RowOptions()});
  spec.examples = {Example("modules", "--depth 4"), Example("modules", "--rollup class")};
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
  OptionSpec by = ChoiceOption("by", "KEY", analysis::KernelsByNames(), "what a row stands for");
  by.fallback = "name";
  spec.options = Joined({{std::move(by)}, SelectionOptions(), RowOptions()});
  spec.examples = {Example("kernels", "-n 10"), Example("kernels", "--by category --step 0")};
  spec.compute = [](const AnalysisInput& input, const OptionValues& values,
                    const Presentation& presentation, const std::vector<std::string>& /*inputs*/) {
    analysis::KernelsOptions options;
    options.selection = SelectionOf(values);
    options.presentation = presentation;
    options.by = static_cast<analysis::KernelsBy>(values.Choice("by").value_or(0));
    return analysis::ComputeKernels(input, options);
  };
  return spec;
}

AnalysisSpec Steps() {
  AnalysisSpec spec;
  spec.name = "steps";
  spec.group = "look";
  spec.summary = "engine steps: phase, requests, tokens, wall, busy, idle, time per token";
  OptionSpec by =
      ChoiceOption("by", "KEY", {"step", "module"}, "rows per step, or per step and module");
  by.fallback = "step";
  OptionSpec reduce = ChoiceOption("rank-reduce", "HOW", analysis::RankReduceNames(),
                                   "one row a step over all ranks");
  OptionSpec per_rank = FlagOption("per-rank", "with --rank-reduce: the table of each rank too");
  spec.options = Joined(
      {{std::move(by), std::move(reduce), std::move(per_rank)}, SelectionOptions(), RowOptions()});
  spec.examples = {Example("steps", ""), Example("steps", "--by module --step 0")};
  spec.compute = [](const AnalysisInput& input, const OptionValues& values,
                    const Presentation& presentation, const std::vector<std::string>& /*inputs*/) {
    analysis::StepsOptions options;
    options.selection = SelectionOf(values);
    options.presentation = presentation;
    options.by_module = values.TextOr("by", "step") == "module";
    if (const std::optional<size_t> how = values.Choice("rank-reduce")) {
      options.rank_reduce = static_cast<analysis::RankReduce>(*how);
    }
    options.per_rank = values.Flag("per-rank");
    return analysis::ComputeSteps(input, options);
  };
  return spec;
}

}  // namespace

const std::vector<AnalysisSpec>& Analyses() {
  static const std::vector<AnalysisSpec> kAnalyses = {Summary(), Info(), Modules(), Kernels(),
                                                      Steps()};
  return kAnalyses;
}

const AnalysisSpec* FindAnalysis(std::string_view name) {
  for (const AnalysisSpec& spec : Analyses()) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

std::vector<OptionSpec> AllOptions(const AnalysisSpec& spec) {
  return Joined({spec.options, CommonOptions()});
}

}  // namespace layerscope::session
