#include "src/document/module_tracks.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "src/document/stream_rows.h"

namespace layerscope::document {
namespace {

using attribution::Module;
using attribution::ModuleId;

/// By module: itself, or the module around it that is as deep as a track shows.
std::vector<ModuleId> ShownModules(const std::vector<Module>& modules) {
  std::vector<ModuleId> shown(modules.size());
  for (size_t i = 0; i < modules.size(); ++i) {
    const bool too_deep = modules[i].depth > kDeepestModuleTrack && modules[i].parent.valid();
    shown[i] = too_deep ? shown[modules[i].parent.index()] : ModuleId(i);
  }
  return shown;
}

std::vector<uint32_t> PathOf(const std::vector<Module>& modules, ModuleId module) {
  std::vector<uint32_t> path;
  for (; module.valid(); module = modules[module.index()].parent) {
    path.push_back(static_cast<uint32_t>(module.index()));
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace

std::vector<Track> ModuleTracks(const analysis::RankView& view) {
  const trace::Trace& trace = view.trace();
  const attribution::Attribution& attribution = view.attribution();
  std::vector<Track> tracks;
  if (attribution.cpu_only) return tracks;
  const trace::Activities& activities = trace.activities;
  const std::vector<Module>& modules = attribution.modules.modules;
  const std::vector<ModuleId> shown = ShownModules(modules);
  for (const StreamRows& stream : RowsByStream(trace, view.rows())) {
    NestedRuns builder;
    for (const uint32_t row : stream.rows) {
      const ModuleId module = attribution.module[row];
      if (!module.valid()) {
        builder.Interrupt(activities.start_ns[row], 0);
        continue;
      }
      const bool is_kernel = activities.kind[row] == trace::ActivityKind::kKernel;
      builder.Add({row, activities.start_ns[row], activities.dur_ns[row], is_kernel},
                  PathOf(modules, shown[module.index()]));
    }
    auto runs = std::make_shared<const std::vector<Run>>(std::move(builder).Finish());
    if (runs->empty()) continue;
    const auto n_runs = static_cast<int64_t>(runs->size());
    tracks.push_back({TrackKind::kModules, stream.process, stream.stream, std::move(runs),
                      std::nullopt, n_runs});
  }
  return tracks;
}

}  // namespace layerscope::document
