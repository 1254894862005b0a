#include "src/document/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "src/analysis/coverage.h"
#include "src/analysis/layer_choice.h"
#include "src/analysis/place.h"
#include "src/analysis/rank_view.h"
#include "src/base/format_number.h"
#include "src/document/copied_modules.h"
#include "src/document/copied_ranks.h"
#include "src/document/layer_tracks.h"
#include "src/document/module_tracks.h"
#include "src/document/process_choice.h"
#include "src/document/track_events.h"
#include "src/table/or_null.h"

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

/// Where a track's activities were launched.
analysis::Place PlaceOf(const analysis::RankView& view, const Track& track) {
  return analysis::PlaceOfRow(view, track.runs->front().first_row);
}

table::Value RankValue(const analysis::RankView& view, const Track& track) {
  const analysis::LabelValue rank = PlaceOf(view, track).rank;
  if (const auto* number = std::get_if<int64_t>(&rank)) return *number;
  return table::OrNull(std::nullopt);
}

table::Array TrackRows(const analysis::RankView& view, const std::vector<Track>& tracks) {
  const trace::Trace& trace = view.trace();
  table::Array rows;
  for (const Track& track : tracks) {
    const trace::Stream& stream = trace.streams[track.stream.index()];
    rows.emplace_back(
        table::Object{{"kind", KindWord(track.kind)},
                      {"rank", RankValue(view, track)},
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
             : "no GPU activity of the trace has a pass or a module, so there is nothing to draw";
}

/// "rank 1, GPU 1, stream 7, layer": rank and GPU where there are several.
std::string NameOf(const analysis::RankView& view, const Track& track) {
  const trace::Trace& trace = view.trace();
  std::string name;
  const analysis::Place place = PlaceOf(view, track);
  if (view.processes().many()) {
    if (const auto* rank = std::get_if<int64_t>(&place.rank)) {
      name = fmt::format("rank {}, ", *rank);
    } else if (const auto* pid = std::get_if<int64_t>(&place.pid)) {
      name = fmt::format("pid {}, ", *pid);
    }
  }
  if (view.many_devices()) {
    name += fmt::format("GPU {}, ", trace.DeviceText(trace.DeviceOf(track.stream)));
  }
  return name + fmt::format("stream {}, {}", trace.StreamText(track.stream), KindWord(track.kind));
}

table::Block TrackFacts(const analysis::RankView& view, const std::vector<Track>& tracks) {
  table::Block block;
  block.kind = table::Block::Kind::kFacts;
  block.title = "tracks";
  for (const Track& track : tracks) {
    block.facts.emplace_back(NameOf(view, track), base::FormatCounted(track.n_runs, "slice"));
  }
  if (tracks.empty()) block.facts.emplace_back("none", NoTracksText(view.input().layers));
  return block;
}

std::vector<Track> AllTracks(const analysis::RankView& view, const AnnotateOptions& options) {
  std::vector<Track> tracks;
  if (view.input().layers != nullptr && !view.cpu_only()) {
    tracks = LayerTracks(view, *view.input().layers);
  }
  if (!options.modules) return tracks;
  for (Track& track : ModuleTracks(view)) tracks.push_back(std::move(track));
  return tracks;
}

/// What the copy asks while it runs on.
struct State {
  State(std::vector<analysis::RankView> chosen, const analysis::AnalysisInput& input,
        const AnnotateOptions& options)
      : processes(std::move(chosen)),
        events(processes.front().input(), input.profile, AllTracks(Tracked(), options)) {
    const std::vector<trace::ProcessId>& hosts = processes.front().processes().hosts;
    const bool all = std::all_of(hosts.begin(), hosts.end(), [this](trace::ProcessId host) {
      return processes.front().SelectsHost(host);
    });
    if (!all) choice.emplace(processes.front());
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  /// What gets tracks.
  const analysis::RankView& Tracked() const { return processes.back(); }

  std::vector<analysis::RankView> processes;  ///< the chosen processes; their chosen streams
  TrackEvents events;
  std::optional<ProcessChoice> choice;  ///< absent: all processes are chosen
};

base::Result<std::vector<analysis::RankView>> ChosenParts(const analysis::AnalysisInput& input,
                                                          const analysis::Selection& selection) {
  analysis::Selection processes;
  processes.rank = selection.rank;
  processes.pid = selection.pid;
  base::Result<std::vector<analysis::RankView>> views = analysis::Select(input, processes);
  if (!views.ok()) return views;
  base::Result<std::vector<analysis::RankView>> tracked = analysis::Select(input, selection);
  if (!tracked.ok()) return tracked;
  views->push_back(std::move(tracked->front()));
  return views;
}

}  // namespace

base::Result<TraceDocument> BuildAnnotation(const analysis::AnalysisInput& input,
                                            const AnnotateOptions& options) {
  const analysis::RankInput& rank = input.ranks.front();
  // A database is worth writing as a trace also where its layers cannot be sought.
  const bool is_database = rank.trace->format == trace::TraceFormat::kNsys;
  if (rank.no_layers && !is_database) return *rank.no_layers;
  base::Result<std::vector<analysis::RankView>> parts = ChosenParts(input, options.selection);
  if (!parts.ok()) return std::move(parts).error();
  const auto state = std::make_shared<State>(*std::move(parts), input, options);
  TraceDocument document;
  document.result = analysis::StartResult(state->processes.front());
  if (rank.no_layers) {
    document.result.abstained =
        table::Abstention{"no_layers", rank.no_layers->message, rank.no_layers->hint};
  } else {
    document.result.abstained = analysis::AbstentionOf(rank);
  }
  const std::vector<Track>& tracks = state->events.tracks();
  document.result.data = {{"tracks", TrackRows(state->Tracked(), tracks)}};
  document.result.main_table = "tracks";
  document.result.blocks.push_back(TrackFacts(state->Tracked(), tracks));
  NoteCopiedModules(state->processes.front(), document.result);
  document.plan.trace = rank.trace;
  document.plan.members = RankMembers(state->processes.front());
  document.plan.keeps = [state](const ingest::kineto::RawEvent& event) {
    state->events.SeeThread(event.fields.tid);
    return !state->choice || state->choice->Keeps(event);
  };
  document.plan.names_process = [state](trace::ProcessId process) {
    return !state->choice || state->choice->KeepsProcess(process);
  };
  document.plan.keeps_graph_node = [state, trace = rank.trace](size_t row) {
    return !state->choice || state->choice->KeepsProcess(trace->graph_nodes.process[row]);
  };
  document.plan.next_added = [state](std::string& event) { return state->events.Next(event); };
  return document;
}

}  // namespace layerscope::document
