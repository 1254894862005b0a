#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/analysis/rank_reduce.h"
#include "src/analysis/selection.h"
#include "src/render/render.h"
#include "src/session/option.h"

namespace layerscope::session {

OptionSpec FlagOption(std::string name, std::string help);
OptionSpec TextOption(std::string name, std::string value_name, std::string help);
OptionSpec IntegerOption(std::string name, std::string value_name, std::string help);
/// A time literal with a unit.
OptionSpec DurationOption(std::string name, std::string help);
OptionSpec ChoiceOption(std::string name, std::string value_name, std::vector<std::string> choices,
                        std::string help);

/// A command line of help on the trace that all examples run on; `verb` and `options` may be empty.
std::string HelpExample(const std::string& verb, const std::string& options);

/// --rank --pid --device --stream --step --phase --module --from --to.
std::vector<OptionSpec> SelectionOptions();
/// -n and --sort.
std::vector<OptionSpec> RowOptions();
OptionSpec RankOption();
/// --pass and --layer.
std::vector<OptionSpec> PassOptions();
/// What is known of the model and how its layers are found: --config --profile --anchor-kernel
/// --anchor-boundary --blocks-per-layer --anchor-offset --num-layers, and how it is spread: --tp
/// --pp --dp --ep --server-args.
std::vector<OptionSpec> LayerOptionSpecs();

/// --bench --prometheus --prometheus-before: the workload that ran.
std::vector<OptionSpec> BenchmarkOptions();

/// What tells the modules of replayed graphs and the paths of modules: --capture-trace
/// --eager-trace --graph-annotations --model-tree --inductor-debug, and --no-side-files. A verb
/// that has these is given resolved replays.
std::vector<OptionSpec> SideFileOptionSpecs();
/// Both: all that tells of the model that ran.
std::vector<OptionSpec> ModelOptionSpecs();

/// --rank-reduce and --per-rank.
std::vector<OptionSpec> RankReduceOptions();
std::optional<analysis::RankReduce> RankReduceOf(const OptionValues& values);

analysis::Selection SelectionOf(const OptionValues& values);
/// Rows, order and names; `format` decides who reads.
analysis::Presentation PresentationOf(const OptionValues& values);

/// The form of the output.
render::Format FormatOf(const OptionValues& values,
                        render::Format fallback = render::Format::kTable);
/// The names of --format, by render::Format.
const std::vector<std::string>& FormatNames();

}  // namespace layerscope::session
