#include "src/document/track_events.h"

#include <fmt/format.h>

#include <optional>

#include "src/analysis/structure_text.h"
#include "src/base/checked_sum.h"
#include "src/document/layer_tracks.h"
#include "src/document/trace_json.h"
#include "src/document/written_pids.h"
#include "src/ingest/kineto/token.h"

namespace layerscope::document {
namespace {

using base::AddClamped;

/// Far above the thread ids of Linux (at most 4,194,304) and the stream numbers of GPUs.
constexpr int64_t kFirstTid = 1'000'000'000;

const char* KindText(TrackKind kind) {
  switch (kind) {
    case TrackKind::kPasses:
      return "passes";
    case TrackKind::kLayers:
      return "layers";
    case TrackKind::kBlocks:
      return "blocks";
    case TrackKind::kModules:
      break;
  }
  return "modules";
}

}  // namespace

TrackEvents::TrackEvents(const analysis::RankInput& rank, const model::Profile* profile,
                         std::vector<Track> tracks)
    : rank_(rank), profile_(profile), tracks_(std::move(tracks)), pids_(WrittenPids(*rank.trace)) {
  if (rank.layers == nullptr) return;
  most_blocks_ = analysis::MostBlocks(*rank.layers);
  SumTotals();
}

void TrackEvents::SeeThread(std::string_view tid_token) {
  const std::optional<int64_t> tid = ingest::kineto::ParseInteger(tid_token);
  if (tid && *tid >= kFirstTid) used_tids_.insert(*tid);
}

void TrackEvents::NumberTracks() {
  int64_t tid = kFirstTid;
  for (size_t i = 0; i < tracks_.size(); ++i) {
    while (used_tids_.count(tid) != 0) ++tid;
    tids_.push_back(tid++);
  }
}

void TrackEvents::SumTotals() {
  const layers::LayerStructure& layers = *rank_.layers;
  const trace::Activities& activities = rank_.trace->activities;
  pass_totals_.resize(layers.passes.size());
  layer_totals_.resize(layers.layers.size());
  const auto add = [](Total& total, int64_t dur_ns) {
    total.sum_ns = AddClamped(total.sum_ns, dur_ns);
    ++total.n_kernels;
  };
  for (size_t row = 0; row < activities.size(); ++row) {
    if (activities.kind[row] != trace::ActivityKind::kKernel || layers.foreign[row] != 0) continue;
    if (!layers.pass[row].valid()) continue;
    add(pass_totals_[layers.pass[row].index()], activities.dur_ns[row]);
    if (layers.layer[row].valid()) {
      add(layer_totals_[layers.layer[row].index()], activities.dur_ns[row]);
    }
  }
}

uint64_t TrackEvents::PartKey(const std::vector<Run>& runs, const Run& run) {
  const uint64_t up = run.up == kNoRun ? 0 : runs[run.up].key;
  return up << 32U | run.key;
}

void TrackEvents::StartTrack() {
  step_ = 0;
  run_ = 0;
  parts_.clear();
  const Track& track = tracks_[track_];
  if (track.kind == TrackKind::kModules) return;
  for (const Run& run : *track.runs) {
    if (track.Shows(run)) ++parts_[PartKey(*track.runs, run)].n;
  }
}

bool TrackEvents::Next(std::string& event) {
  if (tids_.empty() && !tracks_.empty()) {
    NumberTracks();
    StartTrack();
  }
  while (track_ < tracks_.size()) {
    const Track& track = tracks_[track_];
    const trace::Label& stream = rank_.trace->streams[track.stream.index()].id;
    if (step_ == 0) {
      step_ = 1;
      const std::string name =
          fmt::format("stream {}: {}", rank_.trace->LabelText(stream), KindText(track.kind));
      event = Metadata("thread_name", "\"name\":" + Quoted(name));
      return true;
    }
    if (step_ == 1) {
      step_ = 2;
      const int64_t index =
          stream.text.valid() ? static_cast<int64_t>(track.stream.index()) : stream.number;
      event = Metadata("thread_sort_index", fmt::format("\"sort_index\":{}", index));
      return true;
    }
    while (run_ < track.runs->size() && !track.Shows((*track.runs)[run_])) ++run_;
    if (run_ < track.runs->size()) {
      event = Slice((*track.runs)[run_++]);
      return true;
    }
    if (++track_ < tracks_.size()) StartTrack();
  }
  return false;
}

std::string TrackEvents::Metadata(const char* what, const std::string& args) const {
  const Track& track = tracks_[track_];
  return fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{{}}}}})", what,
                     pids_[track.process.index()], tids_[track_], args);
}

std::string TrackEvents::Slice(const Run& run) {
  const Track& track = tracks_[track_];
  std::string name = NameOf(run);
  if (track.kind != TrackKind::kModules) {
    Parts& parts = parts_[PartKey(*track.runs, run)];
    ++parts.given;
    if (parts.n > 1) name += fmt::format(" ({} of {})", parts.given, parts.n);
  }
  return fmt::format(
      R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
      kTrackCategory, Quoted(name), pids_[track.process.index()], tids_[track_],
      MicrosecondText(AbsoluteNs(*rank_.trace, run.start_ns)),
      MicrosecondText(run.end_ns - run.start_ns), ArgsOf(run));
}

std::string TrackEvents::LayerName(uint32_t key) const {
  if (key == kHeadKey) return "head";
  if (key == kTailKey) return "tail";
  const layers::Layer& layer = rank_.layers->layers[key];
  std::string name = fmt::format("layer {}", layer.index);
  if (layer.type < rank_.layers->types.size()) name += " " + rank_.layers->types[layer.type];
  if ((layer.flags & layers::kLayerCut) != 0) name += " cut";
  return name;
}

std::string TrackEvents::NameOf(const Run& run) const {
  switch (tracks_[track_].kind) {
    case TrackKind::kPasses: {
      const layers::Pass& pass = rank_.layers->passes[run.key];
      return fmt::format("pass {} {}", run.key, layers::ToString(pass.kind));
    }
    case TrackKind::kLayers:
      return LayerName(run.key);
    case TrackKind::kBlocks:
      return analysis::BlockName(profile_, most_blocks_, static_cast<uint8_t>(run.key));
    case TrackKind::kModules:
      break;
  }
  const attribution::Module& module = rank_.attribution->modules.modules[run.key];
  return std::string(rank_.trace->strings[module.name]);
}

std::string TrackEvents::EvidenceArg(const Run& run) const {
  return fmt::format(R"("evidence":"{}")",
                     attribution::ToString(rank_.layers->evidence[run.first_row]));
}

std::string TrackEvents::TotalArgs(const Run& run, const Total& total) const {
  return fmt::format(R"("sum_ns":{},"n_kernels":{},"slice_sum_ns":{},"slice_n_kernels":{})",
                     total.sum_ns, total.n_kernels, run.sum_ns, run.n_kernels);
}

std::string TrackEvents::ArgsOf(const Run& run) const {
  const Track& track = tracks_[track_];
  const std::vector<Run>& runs = *track.runs;
  const std::string own = fmt::format(R"("sum_ns":{},"n_kernels":{})", run.sum_ns, run.n_kernels);
  switch (track.kind) {
    case TrackKind::kPasses: {
      const layers::Pass& pass = rank_.layers->passes[run.key];
      return fmt::format(
          R"("index":{},"kind":"{}","complete":{},"n_layers":{},"confidence":{:.3f},"note":{},{},{})",
          run.key, layers::ToString(pass.kind), pass.complete, pass.n_layers, pass.confidence,
          Quoted(pass.note), TotalArgs(run, pass_totals_[run.key]), EvidenceArg(run));
    }
    case TrackKind::kLayers: {
      const uint32_t pass = runs[run.up].key;
      if (run.key >= kTailKey) return fmt::format(R"("pass":{},{})", pass, own);
      const layers::Layer& layer = rank_.layers->layers[run.key];
      const std::string type =
          layer.type < rank_.layers->types.size() ? rank_.layers->types[layer.type] : "";
      return fmt::format(R"("index":{},"type":{},"pass":{},{},{})", layer.index, Quoted(type), pass,
                         TotalArgs(run, layer_totals_[run.key]), EvidenceArg(run));
    }
    case TrackKind::kBlocks: {
      const uint32_t layer = runs[run.up].key;
      return fmt::format(R"("index":{},"layer":{},{},{})", run.key,
                         rank_.layers->layers[layer].index, own, EvidenceArg(run));
    }
    case TrackKind::kModules:
      break;
  }
  const attribution::Attribution& attribution = *rank_.attribution;
  const attribution::ModuleId module(run.key);
  return fmt::format(R"("path":{},{},"evidence":"{}")",
                     Quoted(attribution.modules.Path(module, *rank_.trace)), own,
                     attribution::ToString(attribution.module_evidence[run.first_row]));
}

}  // namespace layerscope::document
