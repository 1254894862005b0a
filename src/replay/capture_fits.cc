#include "src/replay/capture_fits.h"

#include <utility>

#include "src/replay/label_fit.h"

namespace layerscope::replay {
namespace {

/// Cells of tables that all alignments of a trace may fill together, some seconds. Real traces need
/// a hundredth of it; when it is used up only what is equal without a search is still found.
constexpr int64_t kMaxWork = int64_t{1} << 29;

}  // namespace

CaptureFits::CaptureFits(const trace::Trace& trace, const GraphLaunches& graphs,
                         const CaptureLibrary& library)
    : trace_(trace),
      graphs_(graphs),
      library_(library),
      wholes_(trace, graphs),
      replayed_(graphs.n_sequences),
      work_left_(kMaxWork) {}

const ReplayedSequence& CaptureFits::Replayed(uint32_t launch) {
  ReplayedSequence& sequence = replayed_[graphs_.launches[launch].sequence];
  if (sequence.elements.empty()) sequence = ReadReplayed(trace_, graphs_.launches[launch]);
  return sequence;
}

const PieceFit& CaptureFits::Of(uint32_t launch, uint32_t capture, uint32_t piece) {
  const Key key = KeyOf(launch, capture, piece);
  const auto at = fit_of_.find(key);
  if (at != fit_of_.end()) return *at->second;
  auto fit = std::make_unique<PieceFit>(Lay(launch, capture, piece));
  work_left_ -= fit->work;
  return *fit_of_.emplace(key, std::move(fit)).first->second;
}

int64_t CaptureFits::LeastDifferences(uint32_t launch, uint32_t capture, uint32_t piece) {
  const LibraryCapture& from = library_.captures()[capture];
  if (!from.recording.pieces[piece].names_kernels) return 0;
  const auto [at, is_new] = least_of_.try_emplace(KeyOf(launch, capture, piece), 0);
  if (is_new) at.value() = replay::LeastDifferences(Replayed(launch), from.pieces[piece]);
  return at.value();
}

PieceFit CaptureFits::Lay(uint32_t launch, uint32_t capture, uint32_t piece) {
  const LibraryCapture& from = library_.captures()[capture];
  const ReplayedSequence& replayed = Replayed(launch);
  const bool exhausted = work_left_ <= 0;
  if (from.recording.pieces[piece].names_kernels) {
    return FitByName(replayed, from.pieces[piece], exhausted);
  }
  if (!exhausted || replayed.one_lane) {
    return LayUnnamed(launch, from.pieces[piece], from.labels[piece]);
  }
  PieceFit fit;
  fit.kernels = replayed.n_kernels;
  fit.reason = kTooManyNear;
  return fit;
}

/// What the launch lost is seen beside other launches of its graph.
PieceFit CaptureFits::LayUnnamed(uint32_t launch, const RecordedSequence& recorded,
                                 const RecordedLabels& labels) {
  const ReplayedSequence& replayed = Replayed(launch);
  const auto n_recorded = static_cast<int64_t>(labels.label.size());
  const auto n_most_missing = static_cast<int64_t>(kMostMissing * static_cast<double>(n_recorded));
  const int64_t n_missing = n_recorded - replayed.n_kernels;
  const bool lost = n_missing > 0 && n_missing <= n_most_missing && work_left_ > 0;
  const ReplayedSequence* const whole = lost ? wholes_.Find(launch, labels.label.size()) : nullptr;
  if (whole == nullptr) return FitByLabels(trace_, replayed, recorded, labels);
  const PieceFit whole_fit = FitByLabels(trace_, *whole, recorded, labels);
  if (!whole_fit.possible) return FitByLabels(trace_, replayed, recorded, labels);
  return FitThroughWhole(replayed, *whole, whole_fit, recorded);
}

}  // namespace layerscope::replay
