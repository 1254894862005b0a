#include "src/document/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/coverage.h"
#include "src/analysis/layer_choice.h"
#include "src/analysis/rank_view.h"
#include "src/base/format_number.h"
#include "src/document/layer_tracks.h"
#include "src/document/module_tracks.h"
#include "src/document/track_events.h"

namespace layerscope::document {
namespace {

table::Value LabelValue(const trace::Trace& trace, const trace::Label& label) {
  if (label.text.valid()) return trace.strings[label.text];
  return label.number;
}

const char* KindWord(TrackKind kind) {
  switch (kind) {
    case TrackKind::kPasses:
      return "pass";
    case TrackKind::kLayers:
      return "layer";
    case TrackKind::kBlocks:
      return "block";
    case TrackKind::kModules:
      break;
  }
  return "module";
}

table::Array TrackRows(const trace::Trace& trace, const std::vector<Track>& tracks) {
  table::Array rows;
  for (const Track& track : tracks) {
    const trace::Stream& stream = trace.streams[track.stream.index()];
    rows.emplace_back(
        table::Object{{"kind", KindWord(track.kind)},
                      {"pid", LabelValue(trace, trace.processes[track.process.index()].pid)},
                      {"device", LabelValue(trace, trace.devices[stream.device.index()].id)},
                      {"stream", LabelValue(trace, stream.id)},
                      {"n_slices", track.n_runs}});
  }
  return rows;
}

/// Why a trace gets no track.
const char* NoTracksText(const layers::LayerStructure* layers) {
  const bool has_capture =
      layers != nullptr &&
      std::any_of(layers->passes.begin(), layers->passes.end(),
                  [](const layers::Pass& pass) { return pass.kind == layers::PassKind::kCapture; });
  return has_capture
             ? "a capture records launches and nothing ran, so there is no stream for a track; "
               "`layerscope ranges` gives the times of its launch calls"
             : "the trace shows no pass and no module";
}

table::Block TrackFacts(const trace::Trace& trace, const layers::LayerStructure* layers,
                        const std::vector<Track>& tracks) {
  table::Block block;
  block.kind = table::Block::Kind::kFacts;
  block.title = "tracks";
  for (const Track& track : tracks) {
    block.facts.emplace_back(
        fmt::format("stream {}, {}", trace.StreamText(track.stream), KindWord(track.kind)),
        base::FormatCounted(track.n_runs, "slice"));
  }
  if (tracks.empty()) block.facts.emplace_back("none", NoTracksText(layers));
  return block;
}

std::vector<Track> AllTracks(const analysis::RankInput& rank, const AnnotateOptions& options) {
  std::vector<Track> tracks;
  if (rank.layers != nullptr && !rank.attribution->cpu_only) {
    tracks = LayerTracks(*rank.trace, *rank.layers);
  }
  if (!options.modules) return tracks;
  for (Track& track : ModuleTracks(*rank.trace, *rank.attribution)) {
    tracks.push_back(std::move(track));
  }
  return tracks;
}

}  // namespace

base::Result<TraceDocument> BuildAnnotation(const analysis::AnalysisInput& input,
                                            const AnnotateOptions& options) {
  const analysis::RankInput& rank = input.ranks.front();
  // A database is worth writing as a trace also where its layers cannot be sought.
  const bool is_database = rank.trace->format == trace::TraceFormat::kNsys;
  if (rank.no_layers && !is_database) return *rank.no_layers;
  TraceDocument document;
  document.result = analysis::StartResult(analysis::RankView(rank, *input.rules));
  if (rank.no_layers) {
    document.result.abstained =
        table::Abstention{"no_layers", rank.no_layers->message, rank.no_layers->hint};
  } else {
    document.result.abstained = analysis::AbstentionOf(rank);
  }
  const auto events = std::make_shared<TrackEvents>(rank, input.profile, AllTracks(rank, options));
  document.result.data = {{"tracks", TrackRows(*rank.trace, events->tracks())}};
  document.result.main_table = "tracks";
  document.result.blocks.push_back(TrackFacts(*rank.trace, rank.layers, events->tracks()));
  document.plan.trace = rank.trace;
  document.plan.keeps = [events](const ingest::kineto::RawEvent& event) {
    events->SeeThread(event.fields.tid);
    return true;
  };
  document.plan.next_added = [events](std::string& event) { return events->Next(event); };
  return document;
}

}  // namespace layerscope::document
