#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/base/result.h"
#include "src/session/input_files.h"
#include "src/session/option.h"

namespace layerscope::session {

/// Whether a verb wants passes and layers. kRequired: an input in which they cannot be sought (two
/// processes on one device, an anchor that is refused) fails; kIfPossible: it goes on without them.
enum class LayerNeed : uint8_t { kNever, kIfPossible, kRequired };

/// One analysis verb, as data and one function. Everything that shows it (command line, help,
/// envelope) is generated from this.
struct AnalysisSpec {
  std::string name;
  std::string group;    ///< the heading it stands under in help: "look"
  std::string summary;  ///< what it answers, one line
  /// Its own options, selection and presentation included; CommonOptions come on top.
  std::vector<OptionSpec> options;
  std::vector<std::string> examples;  ///< two command lines that the tests run
  LayerNeed layer_need = LayerNeed::kNever;
  InputSet input_set = InputSet::kRanks;
  /// The form of output without --format: "table" or "markdown".
  std::string default_format = "table";
  /// Forms of output beside the common ones: tables of their own content, laid out as "table".
  std::vector<std::string> own_formats;
  /// `inputs` as the user named them: files, directories, "-".
  std::function<base::Result<analysis::Output>(const analysis::AnalysisInput&, const OptionValues&,
                                               const analysis::Presentation&,
                                               const std::vector<std::string>& inputs)>
      compute;
};

/// A verb shows modules, so graph replays are resolved for it, where its options name what tells
/// them: where it has SideFileOptionSpecs().
bool ResolvesModules(const AnalysisSpec& spec);

/// All analyses, in the order of help.
const std::vector<AnalysisSpec>& Analyses();
/// What this run of a verb needs: its own need, or kRequired where an option asks for passes or
/// layers (--pass, --layer, --by layer).
LayerNeed LayerNeedOf(const AnalysisSpec& spec, const OptionValues& values);
/// Null when there is none of that name.
const AnalysisSpec* FindAnalysis(std::string_view name);

/// Options of every verb: output, limits, statistics.
const std::vector<OptionSpec>& CommonOptions();
/// The same as this verb has them: its own formats are choices of --format too.
std::vector<OptionSpec> CommonOptionsOf(const AnalysisSpec& spec);
/// A verb's own options and the common ones.
std::vector<OptionSpec> AllOptions(const AnalysisSpec& spec);

}  // namespace layerscope::session
