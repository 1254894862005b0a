#include "src/session/refine_run.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/process_ranks.h"
#include "src/layers/find_layers.h"
#include "src/session/each_file.h"
#include "src/session/read_input.h"
#include "src/session/resolve_modules.h"

namespace layerscope::session {
namespace {

/// Of a file that numbers several processes as ranks (CLI.md); no hosts of any other.
analysis::ProcessRanks ProcessRanksOf(const LoadedRank& rank) {
  if (rank.rank) return {};
  analysis::RankInput input;
  input.trace = rank.trace.get();
  analysis::ProcessRanks ranks = analysis::RanksOfProcesses(input);
  return ranks.many() ? std::move(ranks) : analysis::ProcessRanks();
}

/// The pid that --rank means there.
std::optional<std::string> PidOfRank(const LoadedRank& rank, std::optional<int64_t> wanted) {
  if (!wanted) return std::nullopt;
  const analysis::ProcessRanks ranks = ProcessRanksOf(rank);
  for (const trace::ProcessId host : ranks.hosts) {
    if (ranks.rank_of[host.index()] != wanted) continue;
    return rank.trace->LabelText(rank.trace->processes[host.index()].pid);
  }
  return std::nullopt;
}

base::Result<layers::LayerStructure> LayersOf(const LoadedRun& run, const LoadedRank& rank) {
  layers::LayerOptions options = run.model.options;
  if (!options.pid) options.pid = PidOfRank(rank, run.model.rank);
  return layers::FindLayers(*rank.trace, *rank.attribution, options);
}

std::optional<base::Error> FindLayersOf(const LoadedRun& run, LoadedRank& rank) {
  base::Result<layers::LayerStructure> found = LayersOf(run, rank);
  if (!found.ok()) {
    rank.no_layers = std::move(found).error();
    return std::nullopt;
  }
  rank.layers = std::make_shared<const layers::LayerStructure>(*std::move(found));
  return std::nullopt;
}

/// Layers may give replayed kernels their modules: those of a resolved layer, or the config's.
bool MayUseTemplates(const LoadedRun& run, const LoadedRank& rank, const SideFileSet& set) {
  if (run.model.config != nullptr || rank.trace->scopes.size() > 0) return true;
  return !set.captures.empty() || !set.eager.empty() || !set.annotations.empty();
}

/// Resolves one rank's replays and names its modules. Layers that are sought for this alone stay
/// out of the result: the verb did not ask for them.
std::optional<base::Error> ResolveRank(const LoadedRun& run, SideFiles& files, LoadedRank& rank) {
  const bool has_replays = HasReplays(*rank.attribution);
  const SideFileSet set = files.Of(rank.path, rank.rank);
  const layers::LayerStructure* layers = rank.layers.get();
  std::optional<layers::LayerStructure> own;
  if (has_replays && layers == nullptr && !rank.no_layers && MayUseTemplates(run, rank, set)) {
    base::Result<layers::LayerStructure> found = LayersOf(run, rank);
    if (found.ok()) layers = &own.emplace(*std::move(found));
  }
  return ResolveModules(rank, set, layers, run.model.config.get(), files);
}

}  // namespace

SideFiles::ReadTrace SideReader(const LoadOptions& options, size_t n_ranks) {
  return [&options, n_ranks](const SideFilePath& file) {
    ReadInputOptions read;
    read.threads = n_ranks > 1 ? 1 : options.threads;
    read.chunk_bytes = options.chunk_bytes;
    read.stop = options.stop;
    return ReadInput({file.path, file.rank, file.bytes, false}, read);
  };
}

base::Status FindRunLayers(const LoadOptions& options, LoadedRun& run) {
  return ForEachRank(run, options, [&](size_t i) { return FindLayersOf(run, run.ranks[i]); });
}

base::Status ResolveRunModules(const LoadOptions& options, SideFiles& files, LoadedRun& run) {
  std::vector<std::optional<base::Error>> errors(run.ranks.size());
  ForEachInParallel(run.ranks.size(), options.threads, [&](size_t i) {
    errors[i] = Guarded([&] { return ResolveRank(run, files, run.ranks[i]); });
  });
  // They are about a side file, and name it.
  for (std::optional<base::Error>& error : errors) {
    if (error) return *std::move(error);
  }
  return {};
}

size_t CountProcessRanks(const LoadedRun& run) {
  size_t count = 0;
  for (const LoadedRank& rank : run.ranks) count += ProcessRanksOf(rank).hosts.size();
  return count;
}

bool HasReplays(const LoadedRun& run) {
  return std::any_of(run.ranks.begin(), run.ranks.end(),
                     [](const LoadedRank& rank) { return HasReplays(*rank.attribution); });
}

}  // namespace layerscope::session
