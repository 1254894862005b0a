#include "src/session/resolve_modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/attribution/activity_warnings.h"
#include "src/attribution/module_paths.h"
#include "src/base/format_number.h"
#include "src/replay/resolve.h"

namespace layerscope::session {
namespace {

using table::HealthEntry;
using table::Severity;

/// "the file ends …" of "The file ends …. At byte 17: …".
std::string FirstClause(std::string_view sentences) {
  std::string clause(sentences.substr(0, sentences.find(". ")));
  if (clause.ends_with('.')) clause.pop_back();
  if (clause.size() > 1 && clause[0] >= 'A' && clause[0] <= 'Z' && clause[1] >= 'a') {
    clause[0] = static_cast<char>(clause[0] - 'A' + 'a');
  }
  return clause;
}

/// What became of the files that one rank asked for.
class FileLog {
 public:
  /// Null where the file could not be opened; that is then known.
  template <typename Content>
  const Content* Take(const SideFilePath& file, base::Result<const Content*> opened) {
    const bool is_first = seen_.insert(file.path).second;
    if (opened.ok()) {
      if (is_first && file.beside) used_.push_back(file.path);
      if (is_first) NoteDamage(file.path, **opened);
      return *opened;
    }
    if (!file.option.empty()) {
      if (!failure_) failure_ = std::move(opened).error();
    } else if (is_first) {
      unreadable_.push_back(fmt::format("{} ({})", file.path, opened.error().message));
    }
    return nullptr;
  }

  const std::optional<base::Error>& failure() const { return failure_; }
  /// One of them was opened, or tried.
  bool SawAny(const std::vector<SideFilePath>& files) const {
    return std::any_of(files.begin(), files.end(),
                       [this](const SideFilePath& file) { return seen_.count(file.path) != 0; });
  }
  const std::vector<std::string>& unreadable() const { return unreadable_; }
  /// Those that nobody named.
  const std::vector<std::string>& used() const { return used_; }

  /// What a recording lost, as a clause; null: nothing.
  const std::string* DamageOf(const std::string& path) const {
    const auto found = damage_of_.find(path);
    return found == damage_of_.end() ? nullptr : &found->second;
  }

  std::vector<HealthEntry> Health() const {
    std::vector<HealthEntry> health;
    for (const auto& [path, lost] : damage_of_) {
      health.push_back({"side_file_damaged", Severity::kDataLoss, 1,
                        fmt::format("{} is damaged or cut: {}.", path, lost)});
    }
    if (!used_.empty()) {
      health.push_back({"side_file_used", Severity::kInfo, static_cast<int64_t>(used_.size()),
                        fmt::format("{} found beside the trace and read for its modules; "
                                    "--no-side-files leaves such files out.",
                                    ListOf(used_))});
    }
    if (!unreadable_.empty()) {
      health.push_back({"side_file_unreadable", Severity::kWarning,
                        static_cast<int64_t>(unreadable_.size()),
                        fmt::format("{} left out: it cannot be read.", ListOf(unreadable_))});
    }
    return health;
  }

 private:
  /// "a was", "a and 3 more were".
  static std::string ListOf(const std::vector<std::string>& paths) {
    if (paths.size() == 1) return paths.front() + " was";
    return fmt::format("{} and {} more were", paths.front(), paths.size() - 1);
  }

  void NoteDamage(const std::string& path, const replay::SideTrace& side) {
    for (const HealthEntry& entry : side.trace->ledger.ToHealth()) {
      if (entry.severity != Severity::kDataLoss) continue;
      damage_of_.emplace(path, FirstClause(entry.message));
      return;
    }
  }
  template <typename Content>
  void NoteDamage(const std::string& /*path*/, const Content& /*whole*/) {}

  std::map<std::string, std::string> damage_of_;
  std::set<std::string> seen_;
  std::vector<std::string> used_;
  std::vector<std::string> unreadable_;
  std::optional<base::Error> failure_;
};

std::vector<replay::SideFile> Openers(const std::vector<SideFilePath>& files, SideFiles& opened,
                                      FileLog& log) {
  std::vector<replay::SideFile> openers;
  for (const SideFilePath& file : files) {
    openers.push_back({file.path, file.rank, file.batch,
                       [file, &opened, &log]() { return log.Take(file, opened.OpenTrace(file)); }});
  }
  return openers;
}

bool IsNamed(const std::vector<SideFilePath>& files) {
  return std::any_of(files.begin(), files.end(),
                     [](const SideFilePath& file) { return !file.beside; });
}

/// The option that named a kind of source; null: nobody did. (A config serves layers too.)
const char* OptionOf(attribution::Evidence source, const SideFileSet& set) {
  switch (source) {
    case attribution::Evidence::kGraphNode:
      return IsNamed(set.annotations) ? "--graph-annotations" : nullptr;
    case attribution::Evidence::kCaptureAlignment:
      return IsNamed(set.captures) ? "--capture-trace" : nullptr;
    case attribution::Evidence::kEagerAlignment:
      return IsNamed(set.eager) ? "--eager-trace" : nullptr;
    default:
      return nullptr;
  }
}

/// The first is said.
void NoteUnused(LoadedRank& rank, std::string what) {
  if (!rank.unused) rank.unused = std::move(what);
}

/// Recordings that the user named and nothing opened, for stronger sources had placed every launch.
void NoteUnopened(LoadedRank& rank, const SideFileSet& set, const FileLog& log) {
  const std::vector<attribution::GraphAlignment>& graphs = rank.attribution->alignments;
  const bool all_placed = std::all_of(graphs.begin(), graphs.end(), [](const auto& graph) {
    return graph.evidence != attribution::Evidence::kUnresolved;
  });
  if (!all_placed) return;
  for (const auto source :
       {attribution::Evidence::kCaptureAlignment, attribution::Evidence::kEagerAlignment}) {
    const char* const option = OptionOf(source, set);
    const bool is_capture = source == attribution::Evidence::kCaptureAlignment;
    if (option == nullptr || log.SawAny(is_capture ? set.captures : set.eager)) continue;
    const std::string what =
        fmt::format("{} was not read: {} gave every graph launch its modules already", option,
                    is_capture ? "graph nodes"
                               : "stronger recordings (--no-side-files leaves out those found)");
    rank.attribution->warnings.push_back({"side_file_needless", Severity::kWarning, 1, what + "."});
    NoteUnused(rank, what);
  }
}

/// Recordings of graphs that the user named for a database, which has the nodes of its graphs. They
/// are said and left out; those that lie beside it by chance are left out.
SideFileSet WithoutRecordings(LoadedRank& rank, SideFileSet set) {
  for (const auto source :
       {attribution::Evidence::kGraphNode, attribution::Evidence::kCaptureAlignment,
        attribution::Evidence::kEagerAlignment}) {
    const char* const option = OptionOf(source, set);
    if (option == nullptr) continue;
    const std::string what = fmt::format(
        "{} was not read: it serves PyTorch profiler traces, and this is an Nsight "
        "Systems export, whose graph nodes say what a graph replays",
        option);
    rank.attribution->warnings.push_back({"side_file_needless", Severity::kWarning, 1, what + "."});
    NoteUnused(rank, what);
  }
  set.captures.clear();
  set.eager.clear();
  set.annotations.clear();
  return set;
}

void NoteSkipped(LoadedRank& rank, const SideFilePath& file,
                 const model::GraphAnnotations* annotations) {
  if (annotations == nullptr || annotations->n_without_node == 0) return;
  rank.attribution->warnings.push_back(
      {"side_file_skipped", Severity::kInfo, annotations->n_without_node,
       fmt::format("{} of {} left out: no graph node can have such a number.",
                   base::FormatCounted(annotations->n_without_node, "entry", "entries"),
                   file.path)});
}

/// Beside each graph what the recording that was laid over it, or did not fit, had lost.
void NoteDamaged(attribution::Attribution& attribution, const FileLog& log) {
  for (attribution::GraphAlignment& graph : attribution.alignments) {
    const std::string* const lost = log.DamageOf(graph.source);
    if (lost == nullptr) continue;
    graph.reason += (graph.reason.empty() ? "" : "; ") + ("damaged or cut: " + *lost);
  }
}

void Replays(LoadedRank& rank, const SideFileSet& set, const layers::LayerStructure* layers,
             const model::ModelConfig* config, SideFiles& files, FileLog& log) {
  replay::Sources sources;
  sources.rank = rank.rank;
  sources.captures = Openers(set.captures, files, log);
  sources.eager = Openers(set.eager, files, log);
  sources.layers = layers;
  sources.config = config;
  if (const SideFilePath* file = ChooseOfRank(set.annotations, rank.rank)) {
    sources.annotations = log.Take(*file, files.OpenAnnotations(*file));
    sources.annotations_path = file->path;
    NoteSkipped(rank, *file, sources.annotations);
  }
  for (const replay::WithheldSource& withheld :
       replay::ResolveReplays(*rank.trace, *rank.attribution, sources)) {
    const char* const option = OptionOf(withheld.source, set);
    if (option == nullptr) continue;
    NoteUnused(rank,
               fmt::format("{} could not be used for {}: {}", option,
                           base::FormatCounted(withheld.launches, "graph launch", "graph launches"),
                           withheld.why));
  }
  NoteUnopened(rank, set, log);
  NoteDamaged(*rank.attribution, log);
}

/// Recordings that were named for a trace that replays no graph.
void NoteNeedless(LoadedRank& rank, const SideFileSet& set) {
  for (const auto source :
       {attribution::Evidence::kGraphNode, attribution::Evidence::kCaptureAlignment,
        attribution::Evidence::kEagerAlignment}) {
    const char* const option = OptionOf(source, set);
    if (option == nullptr) continue;
    const std::string what = fmt::format("{} was not read: the trace has no graph launch", option);
    rank.attribution->warnings.push_back({"side_file_needless", Severity::kWarning, 1, what + "."});
    NoteUnused(rank, what);
  }
}

int64_t CountPaths(const attribution::Attribution& attribution) {
  const std::vector<attribution::Module>& modules = attribution.modules.modules;
  return std::count_if(modules.begin(), modules.end(),
                       [](const attribution::Module& module) { return module.path.valid(); });
}

/// Model trees that were named, each by its name of a rank, and none of this one.
void NoteOtherRanks(LoadedRank& rank, const std::vector<SideFilePath>& trees) {
  if (trees.empty() || !IsNamed(trees)) return;
  std::vector<int64_t> ranks;
  for (const SideFilePath& tree : trees) ranks.push_back(tree.rank.value_or(-1));
  std::sort(ranks.begin(), ranks.end());
  const std::string own = rank.rank ? fmt::format("rank {}", *rank.rank) : "a trace without a rank";
  const std::string what =
      fmt::format("--model-tree names the {} of {} {}, so {} stays without paths",
                  trees.size() == 1 ? "tree" : "trees", trees.size() == 1 ? "rank" : "ranks",
                  fmt::join(ranks, ", "), own);
  rank.attribution->warnings.push_back(
      {"model_tree_of_other_rank", Severity::kWarning, 1, what + "."});
  NoteUnused(rank, what);
}

void NameModules(LoadedRank& rank, const SideFileSet& set, SideFiles& files, FileLog& log) {
  const SideFilePath* const file = ChooseOfRank(set.model_trees, rank.rank);
  if (file == nullptr) {
    NoteOtherRanks(rank, set.model_trees);
    return;
  }
  const model::ModelTree* const tree = log.Take(*file, files.OpenModelTree(*file));
  if (tree == nullptr) return;
  const int64_t n_before = CountPaths(*rank.attribution);
  attribution::TreeNaming naming =
      attribution::ApplyModelTree(*tree, *rank.trace, *rank.attribution);
  if (!naming.misfit.empty() && !file->beside) NoteUnused(rank, naming.misfit);
  if (CountPaths(*rank.attribution) > n_before) rank.model_tree = file->path;
  std::vector<HealthEntry>& all = rank.attribution->warnings;
  all.insert(all.end(), std::make_move_iterator(naming.health.begin()),
             std::make_move_iterator(naming.health.end()));
}

}  // namespace

bool HasReplays(const attribution::Attribution& attribution) {
  const std::vector<uint8_t>& flags = attribution.under_graph;
  return std::find(flags.begin(), flags.end(), uint8_t{1}) != flags.end();
}

std::optional<base::Error> ResolveModules(LoadedRank& rank, const SideFileSet& found,
                                          const layers::LayerStructure* layers,
                                          const model::ModelConfig* config, SideFiles& files) {
  FileLog log;
  const bool is_database = rank.trace->format == trace::TraceFormat::kNsys;
  const SideFileSet set = is_database ? WithoutRecordings(rank, found) : found;
  attribution::Attribution& attribution = *rank.attribution;
  if (HasReplays(attribution)) {
    Replays(rank, set, layers, config, files, log);
  } else {
    NoteNeedless(rank, set);
  }
  if (!attribution.modules.modules.empty()) {
    NameModules(rank, set, files, log);
  } else if (IsNamed(set.model_trees)) {
    NoteUnused(rank, "--model-tree: there are no modules to name");
  }
  if (log.failure()) return log.failure();
  if (!log.unreadable().empty()) NoteUnused(rank, log.unreadable().front());
  const attribution::GivenSources given{!set.captures.empty(), !set.eager.empty(),
                                        config != nullptr};
  attribution::UpdateModuleWarnings(*rank.trace, attribution, given);
  rank.files_beside = log.used();
  std::vector<HealthEntry> health = log.Health();
  attribution.warnings.insert(attribution.warnings.end(), health.begin(), health.end());
  return std::nullopt;
}

}  // namespace layerscope::session
