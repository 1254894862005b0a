#include "src/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/attribution/activity_warnings.h"
#include "src/session/shared_options.h"
#include "src/session/side_file_search.h"

namespace layerscope::session {
namespace {

using table::HealthEntry;
using table::Severity;

/// Two files of one rank are either two runs or a mistake; both are worth a word.
std::vector<HealthEntry> DuplicateRanks(const LoadedRun& run) {
  std::vector<HealthEntry> warnings;
  if (run.input_set == InputSet::kRuns) return warnings;
  for (size_t i = 0; i < run.ranks.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (!run.ranks[i].rank || run.ranks[i].rank != run.ranks[k].rank) continue;
      if (run.ranks[i].recording != run.ranks[k].recording) continue;
      warnings.push_back(
          {"duplicate_rank", Severity::kWarning, 1,
           fmt::format("{} and {} both say that they are rank {}; several inputs are "
                       "taken as ranks of one run.",
                       run.ranks[k].path, run.ranks[i].path, *run.ranks[i].rank)});
      break;
    }
  }
  return warnings;
}

bool SelectsPart(const OptionValues& values) {
  return !SelectionOf(values).All() || values.Flag("no-comm");
}

/// Figures that were measured before anything was selected; the other warnings speak of the file
/// already.
std::vector<HealthEntry> OfWholeFile(std::vector<HealthEntry> warnings) {
  for (HealthEntry& entry : warnings) {
    if (entry.code != "graph_launch" && entry.code != "no_launch") continue;
    entry.message.insert(0, "In the whole file: ");
  }
  return warnings;
}

/// Import ledger and attribution's warnings of the file behind a result go in front of its own.
void AddHealth(const LoadedRun& run, bool selects_part, table::RankResult& result) {
  for (const LoadedRank& rank : run.ranks) {
    if (rank.path != result.input) continue;
    std::vector<HealthEntry> health = rank.trace->ledger.ToHealth();
    std::vector<HealthEntry> more = rank.attribution->warnings;
    if (!result.shows_modules) std::erase_if(more, attribution::IsAboutModules);
    if (selects_part) more = OfWholeFile(std::move(more));
    health.insert(health.end(), more.begin(), more.end());
    if (rank.layers != nullptr) {
      const std::vector<HealthEntry>& of_layers = rank.layers->warnings;
      health.insert(health.end(), of_layers.begin(), of_layers.end());
    }
    result.warnings.insert(result.warnings.begin(), health.begin(), health.end());
    return;
  }
}

/// The first entry of at least that severity.
const HealthEntry* Worst(const table::Result& result, Severity at_least) {
  const auto find = [at_least](const std::vector<HealthEntry>& health) -> const HealthEntry* {
    for (const HealthEntry& entry : health) {
      if (entry.severity >= at_least) return &entry;
    }
    return nullptr;
  };
  if (const HealthEntry* entry = find(result.health)) return entry;
  for (const table::RankResult& rank : result.ranks) {
    if (const HealthEntry* entry = find(rank.warnings)) return entry;
  }
  return nullptr;
}

base::Error Withheld(const std::string& what) {
  return {base::ErrorCode::kStrictViolated, "withheld: " + what,
          "without --strict the result is given without it"};
}

/// What the user named and a rank of the result could not use.
std::optional<base::Error> UnusedOf(const LoadedRun& run, const table::Result& result) {
  if (run.model.unused) return Withheld(*run.model.unused);
  for (const table::RankResult& of : result.ranks) {
    for (const LoadedRank& rank : run.ranks) {
      if (rank.path != of.input || !rank.unused) continue;
      return Withheld(*rank.unused);
    }
  }
  return std::nullopt;
}

std::optional<base::Error> VerdictOf(const LoadedRun& run, const table::Result& result,
                                     bool strict) {
  if (const HealthEntry* entry = Worst(result, Severity::kError)) {
    return base::Error{base::ErrorCode::kInvalidInput, entry->message, {}};
  }
  if (!strict) return std::nullopt;
  if (const HealthEntry* entry = Worst(result, Severity::kDataLoss)) {
    return base::Error{
        base::ErrorCode::kStrictViolated,
        fmt::format("data was lost ({}, {}): {}", entry->code, entry->count, entry->message),
        "without --strict the rest is used"};
  }
  if (std::optional<base::Error> unused = UnusedOf(run, result)) return unused;
  for (const table::RankResult& rank : result.ranks) {
    if (!rank.abstained) continue;
    return base::Error{base::ErrorCode::kStrictViolated, "withheld: " + rank.abstained->why,
                       rank.abstained->how};
  }
  return std::nullopt;
}

/// Options that make sense only with another one.
base::Status CheckTogether(const OptionValues& values) {
  if (!values.Has("table") || values.TextOr("format", {}) == "csv") return {};
  return base::Error{base::ErrorCode::kUsage, "--table goes with --format csv",
                     "JSON holds every table; the other formats show what people read"};
}

/// Why layers that are required are missing from a rank that is looked at.
std::optional<base::Error> MissingLayers(const LoadedRun& run, const OptionValues& values) {
  const std::optional<int64_t> only = values.Number("rank");
  for (const LoadedRank& rank : run.ranks) {
    if (!rank.no_layers || (only && rank.rank && rank.rank != only)) continue;
    if (run.ranks.size() == 1) return rank.no_layers;
    return base::Error(*rank.no_layers).WithContext(rank.path);
  }
  return std::nullopt;
}

/// The files that are read beside the inputs, as far as they have a name before they are read.
std::vector<std::string> FilesBeside(const OptionValues& values,
                                     const std::vector<InputFile>& inputs) {
  std::vector<std::string> paths;
  const auto add = [&](const SideFileSet& set) {
    for (const auto* files : {&set.captures, &set.eager, &set.annotations, &set.model_trees}) {
      for (const SideFilePath& file : *files) paths.push_back(file.path);
    }
  };
  for (const char* option : {"config", "rules", "profile", "server-args", "inductor-debug"}) {
    if (std::optional<std::string> path = values.Text(option)) paths.push_back(*std::move(path));
  }
  const SideFileOptions named = SideFileOptionsOf(values);
  if (base::Result<SideFileSet> set = NamedSideFiles(named); set.ok()) add(*set);
  if (!named.search) return paths;
  for (const InputFile& input : inputs) add(SideFilesBeside(input.path));
  for (std::string& config : ConfigsBeside(PathsOf(inputs))) paths.push_back(std::move(config));
  return paths;
}

/// -o replaces no file that the run reads.
base::Status CheckOutput(const OptionValues& values, const std::vector<InputFile>& inputs) {
  const std::optional<std::string> output = values.Text("output");
  if (!output) return {};
  for (const InputFile& input : inputs) {
    if (base::Status safe = CheckNotOverwritten(input.path, output); !safe.ok()) return safe;
  }
  for (const std::string& path : FilesBeside(values, inputs)) {
    if (base::Status safe = CheckNotOverwritten(path, output); !safe.ok()) return safe;
  }
  return {};
}

/// Verbs that take a config take the one beside the traces too.
std::vector<std::string> ConfigsOf(const AnalysisSpec& analysis,
                                   const std::vector<InputFile>& files) {
  return ResolvesModules(analysis) ? ConfigsBeside(PathsOf(files)) : std::vector<std::string>();
}

}  // namespace

LoadOptions LoadOptionsOf(const Request& request, const Hooks& hooks) {
  const OptionValues& values = request.options;
  LoadOptions options;
  if (ResolvesModules(*request.analysis)) options.side_files = SideFileOptionsOf(values);
  options.input_set = request.analysis->input_set;
  options.layers = LayerNeedOf(*request.analysis, values);
  options.inductor_debug = values.TextOr("inductor-debug", {});
  options.rules_path = values.TextOr("rules", {});
  options.threads = static_cast<int>(std::min<int64_t>(values.Number("threads").value_or(0), 1024));
  options.chunk_bytes = static_cast<size_t>(values.Number("chunk-size").value_or(0));
  options.memory_limit = values.Number("memory-limit");
  options.stop = hooks.stop;
  options.progress = hooks.progress;
  return options;
}

base::Result<std::shared_ptr<const LoadedRun>> OpenRun(const Request& request, const Hooks& hooks,
                                                       base::StageClock& clock) {
  const LoadOptions options = LoadOptionsOf(request, hooks);
  base::Result<std::vector<InputFile>> files = FindInputFiles(request.inputs, options.input_set);
  base::Result<LayerContext> model =
      LoadLayerContext(request.options, files.ok() ? ConfigsOf(*request.analysis, *files)
                                                   : std::vector<std::string>());
  if (!model.ok()) return std::move(model).error();
  if (!files.ok()) return std::move(files).error();
  if (base::Status safe = CheckOutput(request.options, *files); !safe.ok()) {
    return std::move(safe).error();
  }
  base::Result<LoadedRun> loaded = LoadRun(*files, *std::move(model), options, clock);
  if (!loaded.ok()) return std::move(loaded).error();
  return std::make_shared<const LoadedRun>(*std::move(loaded));
}

base::Result<Outcome> AnalyseRun(std::shared_ptr<const LoadedRun> run, const Request& request) {
  if (LayerNeedOf(*request.analysis, request.options) == LayerNeed::kRequired) {
    if (std::optional<base::Error> missing = MissingLayers(*run, request.options)) {
      return *std::move(missing);
    }
  }
  Outcome outcome;
  outcome.run = std::move(run);
  const std::vector<analysis::RankInput> inputs = outcome.run->Inputs();
  base::Result<analysis::Output> output = request.analysis->compute(
      outcome.run->Input(inputs), request.options, PresentationOf(request.options), request.inputs);
  if (!output.ok()) return std::move(output).error();
  table::Result& result = outcome.result;
  result.command = request.analysis->name;
  result.inputs = outcome.run->Infos();
  result.options = EnvelopeOptions(AllOptions(*request.analysis), request.options);
  result.health = outcome.run->health;
  const std::vector<HealthEntry>& of_model = outcome.run->model.health;
  result.health.insert(result.health.end(), of_model.begin(), of_model.end());
  const std::vector<HealthEntry> duplicates = DuplicateRanks(*outcome.run);
  result.health.insert(result.health.end(), duplicates.begin(), duplicates.end());
  result.health.insert(result.health.end(), output->health.begin(), output->health.end());
  result.ranks = std::move(output->ranks);
  result.reduced = std::move(output->reduced);
  result.reduced_blocks = std::move(output->reduced_blocks);
  result.reduced_title = std::move(output->reduced_title);
  for (table::RankResult& rank : result.ranks) {
    AddHealth(*outcome.run, SelectsPart(request.options), rank);
  }
  outcome.verdict = VerdictOf(*outcome.run, result, request.options.Flag("strict"));
  return outcome;
}

base::Result<Outcome> RunAnalysis(const Request& request, const Hooks& hooks,
                                  base::StageClock& clock) {
  if (base::Status options = CheckTogether(request.options); !options.ok()) {
    return std::move(options).error();
  }
  base::Result<std::shared_ptr<const LoadedRun>> run = OpenRun(request, hooks, clock);
  if (!run.ok()) return std::move(run).error();
  clock.Start("analyse");
  base::Result<Outcome> outcome = AnalyseRun(*std::move(run), request);
  clock.Stop();
  return outcome;
}

}  // namespace layerscope::session
