#include "src/replay/capture_library.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "src/base/hash.h"
#include "src/replay/capture_recordings.h"

namespace layerscope::replay {
namespace {

uint64_t Chain(uint64_t hash, std::string_view text) {
  return base::MixIn(hash, std::hash<std::string_view>{}(text));
}

uint64_t ContentOf(const LibraryCapture& capture) {
  uint64_t hash = capture.pieces.size();
  const auto add = [&](uint64_t value) { hash = base::MixIn(hash, value); };
  for (size_t p = 0; p < capture.pieces.size(); ++p) {
    add(capture.pieces[p].elements.size());
    for (const Element& element : capture.pieces[p].elements) {
      add(element.symbol);
      add(element.chain);
    }
    for (const uint64_t naming : capture.naming[p]) add(naming);
    for (const uint32_t label : capture.labels[p].label) add(label);
  }
  return hash;
}

/// Numbers for what nodes are called, equal across traces.
class NodeNaming {
 public:
  explicit NodeNaming(const SideTrace& source)
      : source_(source), of_module_(source.attribution->modules.modules.size(), 0) {
    // Parents stand before their children.
    const std::vector<attribution::Module>& modules = source.attribution->modules.modules;
    for (size_t i = 0; i < modules.size(); ++i) {
      const uint64_t above = modules[i].parent.valid() ? of_module_[modules[i].parent.index()] : 1;
      of_module_[i] = Chain(above, source.trace->strings[modules[i].name]);
    }
  }

  std::vector<uint64_t> Of(const RecordedPiece& piece) const {
    std::vector<uint64_t> naming;
    for (const RecordedNode& node : piece.nodes) {
      uint64_t hash = 0;
      if (node.scope.valid()) {
        hash = of_module_[source_.attribution->modules.module_of_scope[node.scope.index()].index()];
      }
      if (node.op.valid()) {
        const trace::StringId op = source_.attribution->OpName(*source_.trace, node.op);
        hash = Chain(hash, source_.trace->strings[op]);
      }
      naming.push_back(hash);
    }
    return naming;
  }

 private:
  const SideTrace& source_;
  std::vector<uint64_t> of_module_;
};

}  // namespace

CaptureLibrary::CaptureLibrary(const trace::Trace& trace, attribution::ModuleGraft& graft,
                               const std::vector<SideFile>& files)
    : trace_(trace), graft_(graft) {
  for (const SideFile& file : files) {
    files_.push_back({&file, false, nullptr, nullptr});
    AddSize(file.batch);
  }
}

void CaptureLibrary::AddSize(std::optional<int64_t> size) {
  if (!size) return;
  const auto at = std::lower_bound(sizes_.begin(), sizes_.end(), *size);
  if (at == sizes_.end() || *at != *size) sizes_.insert(at, *size);
}

std::vector<int64_t> CaptureLibrary::Distances(const WantedCapture& wanted) const {
  std::vector<int64_t> distances;
  for (const File& file : files_) {
    if (file.is_open) continue;
    distances.push_back(CaptureDistance(wanted, file.side->rank, file.side->batch));
  }
  for (const LibraryCapture& capture : captures_) distances.push_back(DistanceOf(wanted, capture));
  std::sort(distances.begin(), distances.end());
  distances.erase(std::unique(distances.begin(), distances.end()), distances.end());
  return distances;
}

int64_t CaptureLibrary::DistanceOf(const WantedCapture& wanted,
                                   const LibraryCapture& capture) const {
  return CaptureDistance(wanted, capture.recording.source->rank, capture.recording.batch);
}

void CaptureLibrary::Open(const WantedCapture& wanted, int64_t distance) {
  for (size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].is_open) continue;
    // A file whose name says no batch may hold the captures of all of them.
    const bool unknown = !files_[i].side->batch;
    const int64_t at_least = CaptureDistance(wanted, files_[i].side->rank, files_[i].side->batch);
    if (at_least - (unknown ? 1 : 0) <= distance) OpenFile(i);
  }
}

bool CaptureLibrary::AnyRead() const {
  return std::any_of(files_.begin(), files_.end(),
                     [](const File& file) { return file.trace != nullptr; });
}

void CaptureLibrary::OpenFile(size_t index) {
  File& file = files_[index];
  file.is_open = true;
  file.trace = file.side->open ? file.side->open() : nullptr;
  if (file.trace == nullptr) return;
  file.placer = std::make_unique<RowPlacer>(graft_, *file.trace);
  RecordedNames names(trace_, *file.trace);
  const NodeNaming naming(*file.trace);
  for (Recording& recording : FindCaptures(*file.trace)) {
    LibraryCapture& capture = captures_.emplace_back();
    capture.file = index;
    for (const RecordedPiece& piece : recording.pieces) {
      capture.pieces.push_back(names.Read(piece));
      capture.n_kernels += capture.pieces.back().n_kernels;
      capture.naming.push_back(naming.Of(piece));
      capture.labels.push_back(piece.names_kernels ? RecordedLabels()
                                                   : ReadLabels(*file.trace, piece));
    }
    AddSize(recording.batch);
    capture.content = ContentOf(capture);
    capture.recording = std::move(recording);
  }
}

}  // namespace layerscope::replay
