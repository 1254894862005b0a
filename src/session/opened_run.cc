#include "src/session/opened_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <set>
#include <utility>
#include <variant>

#include "src/attribution/attribution.h"
#include "src/base/check.h"
#include "src/base/nearest.h"
#include "src/model/rules.h"
#include "src/render/json.h"
#include "src/session/each_file.h"
#include "src/session/read_input.h"
#include "src/session/refine_run.h"
#include "src/session/shared_options.h"

namespace layerscope::session {
namespace {

/// Back to what the traces alone say: no layers, no resolved replays, no files beside.
void ForgetModel(LoadedRun& run) {
  for (LoadedRank& rank : run.ranks) {
    // Never written to by analyses, which see runs as const.
    rank.attribution = std::make_shared<attribution::Attribution>(*rank.unresolved);
    rank.layers.reset();
    rank.no_layers.reset();
    rank.files_beside.clear();
    rank.model_tree.clear();
    rank.unused.reset();
  }
}

/// Refinements kept beside the run itself, each with columns of its own: somebody who compares
/// devices asks for two or three, somebody who compares the processes of a file for all of them.
size_t MaxRefined(size_t n_process_ranks) {
  return std::clamp<size_t>(n_process_ranks + 2, 6, 18);
}

/// The options of LoadLayerContext, and whether side files are searched for.
const std::set<std::string>& ContextNames() {
  static const std::set<std::string> kNames = [] {
    std::set<std::string> names = {"rank", "pid", "device", "stream", "no-side-files"};
    for (const OptionSpec& option : LayerOptionSpecs()) names.insert(option.name);
    return names;
  }();
  return kNames;
}

/// The verb that loads a run with everything that others may want.
const AnalysisSpec& Loader() {
  static const AnalysisSpec kSpec = [] {
    AnalysisSpec spec;
    spec.name = "view";
    spec.options = JoinOptions({ModelOptionSpecs(), SelectionOptions()});
    spec.layer_need = LayerNeed::kIfPossible;
    return spec;
  }();
  return kSpec;
}

const OptionSpec* FindOption(const std::vector<OptionSpec>& specs, std::string_view name) {
  for (const OptionSpec& spec : specs) {
    if (spec.name == name && !spec.hidden) return &spec;
  }
  return nullptr;
}

/// Only options of the verb itself may be asked for, and none that makes the program open a file.
base::Status CheckAsked(const AnalysisSpec& spec, const RawOptions& asked) {
  const std::vector<OptionSpec> all = AllOptions(spec);
  for (const auto& [name, text] : asked) {
    if (const OptionSpec* const own = FindOption(spec.options, name)) {
      if (!own->names_file) continue;
      return base::UsageError(
          fmt::format("--{} may name a file, so it is given where the program is started", name),
          fmt::format("give --{} to the command that reads the inputs", name));
    }
    if (FindOption(all, name) != nullptr) {
      return base::UsageError(
          fmt::format("--{} is an option of the command line: it changes no figure", name),
          "leave it out");
    }
    std::vector<std::string> names;
    for (const OptionSpec& option : spec.options) {
      if (!option.names_file) names.push_back("--" + option.name);
    }
    return base::UsageError(fmt::format("'{}' has no option '--{}'{}", spec.name, name,
                                        base::DidYouMean("--" + name, names)),
                            fmt::format("run `layerscope {} --help`", spec.name));
  }
  return {};
}

/// "no-collapse" is the option "collapse", switched off; "n" is "rows".
RawOptions WithWholeNames(const AnalysisSpec& spec, RawOptions asked) {
  for (const OptionSpec& option : spec.options) {
    if (!option.negation.empty() && asked.erase(option.negation) != 0) {
      asked[option.name] = "false";
    }
    if (option.letter == 0) continue;
    if (const auto given = asked.extract(std::string(1, option.letter)); !given.empty()) {
      asked[option.name] = given.mapped();
    }
  }
  return asked;
}

}  // namespace

OpenedRun::OpenedRun(std::vector<std::string> inputs, RawOptions given, const Hooks& hooks)
    : inputs_(std::move(inputs)), given_(std::move(given)), hooks_(hooks) {}

OpenedRun::~OpenedRun() = default;

/// Which file's rank is looked at changes nothing of where layers are sought in each.
RawOptions OpenedRun::ContextOf(const RawOptions& options) const {
  RawOptions context;
  for (const auto& [name, text] : options) {
    if (name == "rank" && n_process_ranks_ == 0) continue;
    if (ContextNames().count(name) != 0) context.emplace(name, text);
  }
  return context;
}

base::Result<std::unique_ptr<OpenedRun>> OpenedRun::Open(std::vector<std::string> inputs,
                                                         RawOptions given, const Hooks& hooks,
                                                         base::StageClock& clock) {
  std::unique_ptr<OpenedRun> opened(new OpenedRun(std::move(inputs), std::move(given), hooks));
  if (base::Status loaded = opened->Load(clock); !loaded.ok()) return std::move(loaded).error();
  return opened;
}

base::Status OpenedRun::Load(base::StageClock& clock) {
  base::Result<OptionValues> values = ParseOptions(AllOptions(Loader()), given_);
  if (!values.ok()) return std::move(values).error();
  base::Result<std::vector<InputFile>> files = FindInputFiles(inputs_);
  if (files.ok()) files_ = *files;
  base::Result<LayerContext> model = LoadLayerContext(*values, ConfigsBeside(PathsOf(files_)));
  if (!model.ok()) return std::move(model).error();
  if (!files.ok()) return std::move(files).error();
  load_options_ = LoadOptionsOf({&Loader(), inputs_, *values}, hooks_);
  load_options_.keep_unresolved = true;
  base::Result<LoadedRun> run = LoadRun(files_, *std::move(model), load_options_, clock);
  if (!run.ok()) return std::move(run).error();
  load_options_.progress = nullptr;
  base_ = std::make_shared<const LoadedRun>(*std::move(run));
  n_process_ranks_ = CountProcessRanks(*base_);
  base_context_ = ContextOf(given_);
  has_replays_ = HasReplays(*base_);
  return AttributeWithoutModel();
}

/// Verbs without options of the model (info, overhead) see nothing of what those say: no config and
/// so no profile of it, whose rules may name categories.
base::Status OpenedRun::AttributeWithoutModel() {
  LoadedRun run = *base_;
  run.inductor.reset();
  ForgetModel(run);
  base::Result<LayerContext> plain = LoadLayerContext({});
  if (!plain.ok()) return std::move(plain).error();
  const bool same_rules = plain->profile->name == run.model.profile->name ||
                          (plain->profile->rules.empty() && run.model.profile->rules.empty());
  run.model = *std::move(plain);
  if (!same_rules) {
    base::Result<kernel_names::RuleSet> rules =
        model::LoadRuleSet(load_options_.rules_path, run.model.profile.get());
    if (!rules.ok()) return std::move(rules).error();
    run.rules = std::make_shared<const kernel_names::RuleSet>(*std::move(rules));
    base::Status done =
        ForEachRank(run, load_options_, [&](size_t i) -> std::optional<base::Error> {
          LoadedRank& rank = run.ranks[i];
          rank.attribution = std::make_shared<attribution::Attribution>(
              attribution::Attribute(*rank.trace, *run.rules));
          return std::nullopt;
        });
    if (!done.ok()) return done;
  }
  without_model_ = std::make_shared<const LoadedRun>(std::move(run));
  return {};
}

base::Result<OptionValues> OpenedRun::ValuesOf(const AnalysisSpec& spec,
                                               const RawOptions& asked) const {
  if (base::Status allowed = CheckAsked(spec, asked); !allowed.ok()) {
    return std::move(allowed).error();
  }
  RawOptions raw = given_;
  for (const auto& [name, text] : asked) raw[name] = text;
  raw["format"] = "json";
  return ParseOptions(AllOptions(spec), raw);
}

OpenedRun::Refinement OpenedRun::RefinementOf(const AnalysisSpec& spec, const OptionValues& values,
                                              const RawOptions& asked) const {
  Refinement refinement;
  refinement.resolves_modules = ResolvesModules(spec);
  refinement.has_layers = LayerNeedOf(spec, values) != LayerNeed::kNever;
  RawOptions raw = given_;
  for (const auto& [name, text] : asked) raw[name] = text;
  const std::vector<OptionSpec> specs = AllOptions(spec);
  for (auto& [name, text] : ContextOf(raw)) {
    if (FindOption(specs, name) != nullptr) refinement.context.emplace(name, text);
  }
  // Without replays the modules do not depend on layers.
  const bool matters = refinement.has_layers || (refinement.resolves_modules && has_replays_);
  if (!matters) refinement.context = base_context_;
  return refinement;
}

/// The run in the given context; no columns are written.
OpenedRun::Run OpenedRun::ViewOf(const Refinement& refinement) const {
  if (!refinement.resolves_modules && !refinement.has_layers) return without_model_;
  if (refinement.has_layers) return base_;
  LoadedRun run = *base_;
  for (LoadedRank& rank : run.ranks) {
    rank.layers.reset();
    rank.no_layers.reset();
  }
  return std::make_shared<const LoadedRun>(std::move(run));
}

base::Result<OpenedRun::Run> OpenedRun::Refine(const Refinement& refinement,
                                               const OptionValues& values) const {
  base::Result<LayerContext> model = LoadLayerContext(values, ConfigsBeside(PathsOf(files_)));
  if (!model.ok()) return std::move(model).error();
  LoadedRun run = refinement.resolves_modules ? *base_ : *without_model_;
  run.model = *std::move(model);
  ForgetModel(run);
  if (refinement.has_layers) {
    const std::shared_lock<std::shared_mutex> lock(columns_);
    base::Status found = FindRunLayers(load_options_, run);
    if (!found.ok()) return std::move(found).error();
  }
  if (refinement.resolves_modules) {
    std::optional<int64_t> memory_left = load_options_.memory_limit;
    if (memory_left) *memory_left -= EstimateMemory(files_);
    SideFiles files(SideReader(load_options_, files_.size()), *run.rules, memory_left);
    if (base::Status named = files.Name(SideFileOptionsOf(values)); !named.ok()) {
      return std::move(named).error();
    }
    const std::unique_lock<std::shared_mutex> lock(columns_);
    base::Status resolved = ResolveRunModules(load_options_, files, run);
    if (!resolved.ok()) return std::move(resolved).error();
  }
  return std::make_shared<const LoadedRun>(std::move(run));
}

base::Result<OpenedRun::Run> OpenedRun::Make(const Refinement& refinement,
                                             const OptionValues& values) const {
  const bool in_base = refinement.context == base_context_ ||
                       (!refinement.resolves_modules && !refinement.has_layers);
  if (in_base) return ViewOf(refinement);
  ++n_refinements_;
  return Refine(refinement, values);
}

/// Made outside of the lock, so that who asks for another one does not wait.
base::Result<OpenedRun::Run> OpenedRun::RunFor(const AnalysisSpec& spec, const OptionValues& values,
                                               const RawOptions& asked) const {
  const Refinement refinement = RefinementOf(spec, values, asked);
  std::promise<base::Result<Run>> made;
  Pending pending;
  {
    const std::lock_guard<std::mutex> lock(refined_mutex_);
    const auto found = std::find_if(refined_.begin(), refined_.end(),
                                    [&](const auto& entry) { return entry.first == refinement; });
    if (found == refined_.end()) {
      refined_.emplace_front(refinement, made.get_future().share());
      if (refined_.size() > MaxRefined(n_process_ranks_)) refined_.pop_back();
    } else {
      refined_.splice(refined_.begin(), refined_, found);
      pending = found->second;
    }
  }
  if (pending.valid()) return pending.get();
  try {
    base::Result<Run> run = Make(refinement, values);
    if (!run.ok()) Forget(refinement);
    made.set_value(run);
    return run;
  } catch (...) {
    Forget(refinement);
    made.set_exception(std::current_exception());
    throw;
  }
}

void OpenedRun::Forget(const Refinement& refinement) const {
  const std::lock_guard<std::mutex> lock(refined_mutex_);
  refined_.remove_if([&](const auto& entry) { return entry.first == refinement; });
}

base::Result<std::string> OpenedRun::AnalysisJson(const AnalysisSpec& spec,
                                                  const RawOptions& asked_for) const {
  const RawOptions asked = WithWholeNames(spec, asked_for);
  base::Result<OptionValues> values = ValuesOf(spec, asked);
  if (!values.ok()) return std::move(values).error();
  base::Result<Run> run = RunFor(spec, *values, asked);
  if (!run.ok()) return std::move(run).error();
  const std::shared_lock<std::shared_mutex> lock(columns_);
  base::Result<Outcome> outcome = AnalyseRun(*run, {&spec, inputs_, *values});
  if (!outcome.ok()) return std::move(outcome).error();
  return render::RenderJson(outcome->result);
}

base::Result<Outcome> OpenedRun::Summarise() const {
  const AnalysisSpec* const spec = FindAnalysis("summary");
  LS_CHECK(spec != nullptr, "there is a summary");
  base::Result<OptionValues> values = ValuesOf(*spec, {});
  if (!values.ok()) return std::move(values).error();
  base::Result<Run> run = RunFor(*spec, *values, {});
  if (!run.ok()) return std::move(run).error();
  const std::shared_lock<std::shared_mutex> lock(columns_);
  return AnalyseRun(*run, {spec, inputs_, *values});
}

base::Result<std::string> OpenedRun::DocumentJson(const DocumentSpec& spec) const {
  const auto* const build = std::get_if<DocumentSpec::BuildJson>(&spec.build);
  LS_CHECK(build != nullptr, "a document of one JSON value");
  AnalysisSpec as_analysis;
  as_analysis.name = spec.name;
  as_analysis.options = spec.options;
  as_analysis.layer_need = spec.layer_need;
  base::Result<OptionValues> values = ParseOptions(AllOptions(spec), given_);
  if (!values.ok()) return std::move(values).error();
  base::Result<Run> run = RunFor(as_analysis, *values, {});
  if (!run.ok()) return std::move(run).error();
  const std::shared_lock<std::shared_mutex> lock(columns_);
  const std::vector<analysis::RankInput> ranks = (*run)->Inputs();
  base::Result<document::JsonDocument> document = (*build)((*run)->Input(ranks), *values, inputs_);
  if (!document.ok()) return std::move(document).error();
  std::string text;
  base::Status written =
      render::WriteJsonDocument(document->root, [&](std::string_view piece) -> base::Status {
        if (hooks_.stop != nullptr && hooks_.stop->requested()) return base::Interrupted();
        text += piece;
        return {};
      });
  if (!written.ok()) return std::move(written).error();
  return text;
}

}  // namespace layerscope::session
