#include "src/document/layer_tracks.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "src/document/stream_rows.h"

namespace layerscope::document {
namespace {

using layers::PassPart;

constexpr size_t kPassLevel = 0;
constexpr size_t kLayerLevel = 1;

/// The keys of one activity; false: it is in no pass.
bool PathOf(const layers::LayerStructure& layers, uint32_t row, std::vector<uint32_t>& path) {
  path.clear();
  if (!layers.pass[row].valid() || layers.foreign[row] != 0) return false;
  path.push_back(static_cast<uint32_t>(layers.pass[row].index()));
  // A pass whose layers are not known has no head and no tail either.
  if (layers.passes[layers.pass[row].index()].n_layers == 0) return true;
  switch (layers.part[row]) {
    case PassPart::kHead:
      path.push_back(kHeadKey);
      break;
    case PassPart::kTail:
      path.push_back(kTailKey);
      break;
    case PassPart::kLayer:
      if (!layers.layer[row].valid()) break;
      path.push_back(static_cast<uint32_t>(layers.layer[row].index()));
      if (layers.block[row] != layers::kNoBlock) path.push_back(layers.block[row]);
      break;
    case PassPart::kOutside:
      break;
  }
  return true;
}

std::vector<Run> RunsOf(const trace::Trace& trace, const layers::LayerStructure& layers,
                        const StreamRows& stream) {
  const trace::Activities& activities = trace.activities;
  NestedRuns runs;
  std::vector<uint32_t> path;
  for (const uint32_t row : stream.rows) {
    const int64_t start_ns = activities.start_ns[row];
    if (!PathOf(layers, row, path)) {
      runs.Interrupt(start_ns, kLayerLevel);
      continue;
    }
    const bool is_kernel = activities.kind[row] == trace::ActivityKind::kKernel;
    runs.Add({row, start_ns, activities.dur_ns[row], is_kernel}, path);
  }
  return std::move(runs).Finish();
}

}  // namespace

std::vector<Track> LayerTracks(const analysis::RankView& view,
                               const layers::LayerStructure& layers) {
  const trace::Trace& trace = view.trace();
  std::vector<Track> tracks;
  for (const StreamRows& stream : RowsByStream(trace, view.rows())) {
    const auto runs = std::make_shared<const std::vector<Run>>(RunsOf(trace, layers, stream));
    for (const TrackKind kind : {TrackKind::kPasses, TrackKind::kLayers, TrackKind::kBlocks}) {
      const auto level = static_cast<uint32_t>(kind) + static_cast<uint32_t>(kPassLevel);
      Track track{kind, stream.process, stream.stream, runs, level, 0};
      track.n_runs = std::count_if(runs->begin(), runs->end(),
                                   [&](const Run& run) { return track.Shows(run); });
      if (track.n_runs > 0) tracks.push_back(std::move(track));
    }
  }
  return tracks;
}

}  // namespace layerscope::document
