#include "src/analysis/summary_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "src/analysis/recording_facts.h"
#include "src/base/shell_quote.h"

namespace layerscope::analysis {
namespace {

/// With less than this share attributed, a table of modules says little.
constexpr int64_t kResolvedPercent = 25;
constexpr size_t kMostCommands = 5;

/// Appends " --name value".
void AddOption(std::string& text, std::string_view name, const std::string& value) {
  text += fmt::format("{}--{} {}", text.empty() ? "" : " ", name, base::ShellQuoted(value));
}

/// The characters of a class name that a regular expression reads otherwise.
std::string Escaped(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool is_special = std::string_view(R"(.^$|()[]{}*+?\)").find(c) != std::string_view::npos;
    if (is_special) text += '\\';
    text += c;
  }
  return text;
}

/// `info` knows no other part of the selection.
std::string RankOptionText(const Selection& selection) {
  Selection rank;
  rank.rank = selection.rank;
  return SelectionOptionsText(rank);
}

std::string InputText(const std::vector<std::string>& inputs) {
  std::vector<std::string> quoted;
  for (const std::string& input : inputs) quoted.push_back(base::ShellQuoted(input));
  return fmt::format("{}", fmt::join(quoted, " "));
}

std::string ModelText(const ModelOptions& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    if (value.empty()) {
      text += fmt::format("{}--{}", text.empty() ? "" : " ", name);
    } else {
      AddOption(text, name, value);
    }
  }
  return text;
}

std::string ChosenText(const Selection& selection, const ModelOptions& options) {
  std::string text = SelectionOptionsText(selection);
  const std::string model = ModelText(options);
  if (!text.empty() && !model.empty()) text += " ";
  return text + model;
}

bool Has(const ModelOptions& given, std::string_view name) {
  return std::any_of(given.begin(), given.end(),
                     [&](const auto& option) { return option.first == name; });
}

bool IsDatabase(const RankView& view) {
  return view.trace().format == trace::TraceFormat::kNsys;
}

/// The option that shows what graph launches hide, with what the user has to put in: a capture
/// first, where the format takes one, then the model's config; empty when both are given already.
std::string ReplayOption(const RankView& view, const ModelOptions& given) {
  if (!IsDatabase(view) && !Has(given, "capture-trace")) return "--capture-trace DIR";
  return Has(given, "config") ? std::string() : "--config FILE";
}

/// Why a database should be recorded anew; empty: it has what modules rest on.
std::string WhyRecordAnew(const RankView& view, const SummaryFacts& facts) {
  if (!IsDatabase(view)) return {};
  if (!facts.graph_banner.empty() && view.trace().graph_nodes.size() == 0) return "inside graphs";
  return view.trace().scopes.size() == 0 ? "with NVTX" : std::string();
}

/// The rank, or where there is none the pid, of the first process.
std::string OptionOfFirstRank(const RankView& view) {
  const trace::ProcessId first = view.processes().hosts.front();
  std::string text;
  if (const std::optional<int64_t> rank = view.processes().rank_of[first.index()]) {
    AddOption(text, "rank", fmt::format("{}", *rank));
  } else {
    AddOption(text, "pid", view.trace().LabelText(view.trace().processes[first.index()].pid));
  }
  return text;
}

/// Some activity of the selection is of an op, so that ops are something to group by.
bool AnyOp(const RankView& view) {
  return std::any_of(view.rows().begin(), view.rows().end(),
                     [&](uint32_t row) { return view.attribution().op[row].valid(); });
}

bool IsAttributed(const SummaryFacts& facts) {
  const int64_t total_ns = facts.tree.total_ns;
  const int64_t attributed_ns = total_ns - facts.tree.unattributed.gpu_ns;
  return total_ns > 0 && attributed_ns / kResolvedPercent > total_ns / 100;
}

}  // namespace

std::string SelectionOptionsText(const Selection& selection) {
  std::string text;
  const auto number = [&](std::string_view name, const std::optional<int64_t>& value) {
    if (value) AddOption(text, name, fmt::format("{}", *value));
  };
  const auto time = [&](std::string_view name, const std::optional<int64_t>& value) {
    if (value) AddOption(text, name, fmt::format("{}ns", *value));
  };
  const auto word = [&](std::string_view name, const std::optional<std::string>& value) {
    if (value) AddOption(text, name, *value);
  };
  number("rank", selection.rank);
  word("pid", selection.pid);
  word("device", selection.device);
  word("stream", selection.stream);
  if (selection.steps) {
    const auto [first, last] = *selection.steps;
    AddOption(text, "step",
              first == last ? fmt::format("{}", first) : fmt::format("{}..{}", first, last));
  }
  word("phase", selection.phase);
  if (selection.passes) {
    const auto [first, last] = *selection.passes;
    AddOption(text, "pass",
              first == last ? fmt::format("{}", first) : fmt::format("{}..{}", first, last));
  }
  word("layer", selection.layer);
  word("module", selection.module);
  time("from", selection.from_ns);
  time("to", selection.to_ns);
  return text;
}

std::string CommandArguments(const Selection& selection, const std::vector<std::string>& inputs,
                             const ModelOptions& model_options) {
  const std::string chosen = ChosenText(selection, model_options);
  return InputText(inputs) + (chosen.empty() ? "" : " ") + chosen;
}

std::vector<NextCommand> SuggestCommands(const RankView& view, const SummaryFacts& facts,
                                         const Selection& selection,
                                         const std::vector<std::string>& inputs,
                                         const ModelOptions& model_options) {
  const std::string input = InputText(inputs);
  const std::string model = ModelText(model_options);
  const std::string chosen = ChosenText(selection, model_options);
  std::vector<NextCommand> commands;
  const auto add = [&](const std::string& verb, const std::string& options,
                       const std::string& selected, std::string why) {
    std::string command = fmt::format("layerscope {} {}", verb, input);
    if (!selected.empty()) command += " " + selected;
    if (!options.empty()) command += " " + options;
    commands.push_back({std::move(command), std::move(why)});
  };
  const bool is_empty = facts.kernels.empty();
  if (!facts.steps.rows.empty()) add("steps", {}, chosen, "step by step");
  if (facts.pass_layers) {
    if (facts.steps.rows.empty()) add("passes", {}, chosen, "pass by pass");
    add("layers", {}, chosen, "layer by layer");
  } else if (!is_empty && !view.cpu_only() && selection.All() && MayHaveLayers(view)) {
    if (LayersOfOneRank(view)) {
      const std::string one = OptionOfFirstRank(view);
      add("layers", {}, model.empty() ? one : one + " " + model, "layers of one");
    } else {
      add("layers", {}, model, "why no layers");
    }
  }
  const std::string why_anew = WhyRecordAnew(view, facts);
  const std::string of_replays = ReplayOption(view, model_options);
  if (!why_anew.empty()) {
    commands.push_back({std::string(kRecordCommand), why_anew});
  } else if (!facts.graph_banner.empty() && !of_replays.empty()) {
    add("modules", of_replays, chosen, "inside graphs");
  }
  if (!facts.compiled.empty()) {
    const bool given = Has(model_options, "inductor-debug");
    add("kernels", given ? "" : "--inductor-debug DIR", chosen, "fused kernels");
  }
  if (!is_empty && IsAttributed(facts)) {
    add("modules", "--rollup class", chosen, "by class");
    if (!facts.layer_prefix.empty() && !facts.pass_layers) {
      const std::string pattern = Escaped(facts.layer_prefix) + R"(\d+$)";
      add("modules", "--no-collapse --match " + base::ShellQuoted(pattern), chosen,
          "layer by layer");
    }
  }
  if (!is_empty) {
    const bool by_op = AnyOp(view);
    add("kernels", by_op ? "--by op-dims" : "", chosen, by_op ? "by op, shape" : "by kernel");
  }
  const bool is_lost =
      LostLaunches(facts.launches) > 0 || facts.launches.kernels_without_launch > 0;
  if (is_empty || (is_lost && !view.cpu_only())) {
    add("info", {}, RankOptionText(selection), is_empty ? "what is there" : "what is lost");
  }
  if (commands.size() > kMostCommands) commands.resize(kMostCommands);
  return commands;
}

}  // namespace layerscope::analysis
