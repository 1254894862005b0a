#include "src/replay/capture_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace layerscope::replay {

void CapturePlacement::Write(uint32_t launch, const WantedCapture& wanted, const Finding& finding) {
  if (finding.capture < 0) {
    Withhold(finding, resolution_.outcomes[launch]);
    return;
  }
  Place(launch, finding);
  Say(wanted, finding, resolution_.outcomes[launch]);
}

void CapturePlacement::Withhold(const Finding& finding, LaunchOutcome& outcome) const {
  if (finding.nearest < 0) {
    replay::Withhold(outcome, attribution::Evidence::kCaptureAlignment, first_file_,
                     library_.AnyRead() ? "it holds no graph capture" : "it could not be read");
    return;
  }
  const bool first = !outcome.withheld;
  const Recording& nearest = library_.captures()[static_cast<size_t>(finding.nearest)].recording;
  replay::Withhold(outcome, attribution::Evidence::kCaptureAlignment, nearest.source->path,
                   finding.reason);
  if (first) outcome.source_batch = nearest.batch;
}

void CapturePlacement::Place(uint32_t index, const Finding& finding) {
  const GraphLaunch& launch = resolution_.graphs.launches[index];
  const LibraryCapture& capture = library_.captures()[static_cast<size_t>(finding.capture)];
  const std::vector<RecordedNode>& nodes = capture.recording.pieces[finding.piece].nodes;
  RowPlacer& placer = library_.placer(capture);
  placer.BeginLaunch(launch.call, resolution_.attribution.scope[launch.rows.front()]);
  const LaneRows lanes = RowsByLane(resolution_.trace, launch);
  for (size_t i = 0; i < lanes.rows.size(); ++i) {
    const uint32_t node = finding.fit->node_of[i];
    if (node == kUnmatched) continue;
    placer.Place(lanes.rows[i], nodes[node], attribution::Evidence::kCaptureAlignment);
  }
}

void CapturePlacement::Say(const WantedCapture& wanted, const Finding& finding,
                           LaunchOutcome& before) const {
  const LibraryCapture& capture = library_.captures()[static_cast<size_t>(finding.capture)];
  LaunchOutcome outcome;
  outcome.evidence = attribution::Evidence::kCaptureAlignment;
  outcome.source = capture.recording.source->path;
  outcome.source_batch = capture.recording.batch;
  outcome.recording = finding.capture;
  outcome.pieces = static_cast<int64_t>(capture.pieces.size());
  outcome.matched = finding.fit->matched;
  outcome.mismatched = finding.fit->kernels - finding.fit->matched;
  outcome.missing = finding.fit->missing;
  const int64_t all = finding.fit->kernels + finding.fit->missing;
  outcome.confidence =
      all == 0 ? 1.0 : static_cast<double>(outcome.matched) / static_cast<double>(all);
  SayBatch(wanted, outcome);
  const std::optional<int64_t> rank = capture.recording.source->rank;
  if (rank && wanted.rank && *rank != *wanted.rank) {
    outcome.reason +=
        fmt::format("{}captured on rank {}", outcome.reason.empty() ? "" : ", ", *rank);
  }
  PutInPlace(before, std::move(outcome));
}

void CapturePlacement::SayBatch(const WantedCapture& wanted, LaunchOutcome& outcome) const {
  if (IsOfStep(wanted, outcome.source_batch)) return;
  const int64_t batch = *outcome.source_batch;
  const int64_t size = wanted.tokens ? *wanted.tokens : *wanted.batch;
  const std::vector<int64_t>& sizes = library_.sizes();
  const auto next = std::lower_bound(sizes.begin(), sizes.end(), size);
  // One size alone is what somebody gave, not what the engine chose from.
  if (sizes.size() > 1 && next != sizes.end() && *next == batch) {
    outcome.reason = fmt::format("captured for batch {}, to which {} is padded", batch, size);
    return;
  }
  outcome.reason = fmt::format("captured for batch {}, used for {}", batch, size);
  outcome.other_batch = true;
}

}  // namespace layerscope::replay
