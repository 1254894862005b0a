#include "src/replay/capture_doubts.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace layerscope::replay {
namespace {

void Refuse(Finding& finding, std::string_view why) {
  finding = {-1, 0, nullptr, std::string(why), finding.capture};
}

}  // namespace

void CaptureDoubts::Note(std::span<const int64_t> n_kernels, std::span<const Finding> found) {
  for (size_t i = 0; i < found.size(); ++i) {
    if (n_kernels[i] < 0) continue;
    (found[i].capture < 0 ? unresolved_ : resolved_[CaptureOf(found[i]).file]) += n_kernels[i];
  }
  for (size_t begin = 0; begin < found.size();) {
    const size_t end = ForwardEnd(found, begin);
    if (found[begin].capture >= 0) {
      const LibraryCapture& capture = CaptureOf(found[begin]);
      used_.insert(capture.content);
      if (end - begin == capture.pieces.size()) whole_.insert(capture.content);
    }
    begin = end;
  }
}

void CaptureDoubts::Doubt(std::span<const int64_t> n_kernels, std::span<Finding> found) const {
  DoubtPieces(found);
  DoubtFiles(n_kernels, found);
}

void CaptureDoubts::DoubtPieces(std::span<Finding> found) const {
  for (size_t begin = 0; begin < found.size();) {
    const size_t end = ForwardEnd(found, begin);
    if (found[begin].capture >= 0) {
      const LibraryCapture& capture = CaptureOf(found[begin]);
      const bool cut = end - begin < capture.pieces.size();
      if (cut && !whole_.contains(capture.content)) {
        for (Finding& finding : found.subspan(begin, end - begin)) {
          Refuse(finding,
                 "only a part of a forward ran, and no whole one shows that it is this capture's");
        }
      }
    }
    begin = end;
  }
}

void CaptureDoubts::DoubtFiles(std::span<const int64_t> n_kernels, std::span<Finding> found) const {
  int64_t unresolved = 0;
  std::map<size_t, int64_t> resolved;  // kernels, by file
  for (size_t i = 0; i < found.size(); ++i) {
    if (n_kernels[i] < 0) continue;
    int64_t& sum = found[i].capture < 0 ? unresolved : resolved[CaptureOf(found[i]).file];
    sum += n_kernels[i];
  }
  for (const auto& [file, kernels] : resolved) {
    // In its step, or in the whole trace: a draft model may have steps of its own.
    const bool most_of_trace = resolved_.contains(file) && resolved_.at(file) >= unresolved_;
    if (kernels >= unresolved && most_of_trace) continue;
    for (Finding& finding : found) {
      if (finding.capture < 0 || CaptureOf(finding).file != file) continue;
      if (HasLargerUnused(CaptureOf(finding))) {
        Refuse(finding, "it fits, but the larger captures of that file fit no graph beside it");
      }
    }
  }
}

bool CaptureDoubts::HasLargerUnused(const LibraryCapture& capture) const {
  return std::any_of(library_.captures().begin(), library_.captures().end(),
                     [&](const LibraryCapture& other) {
                       return other.file == capture.file && !used_.contains(other.content) &&
                              other.recording.batch == capture.recording.batch &&
                              other.n_kernels > capture.n_kernels;
                     });
}

}  // namespace layerscope::replay
