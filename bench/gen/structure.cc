#include "bench/gen/structure.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>

namespace layerscope::gen {
namespace {

int64_t FirstLayerWall(const PassTruth& pass) {
  return pass.layers.front().end_ns - pass.layers.front().start_ns;
}

// At most 5 % apart.
bool Near(int64_t a, int64_t b) {
  return std::abs(a - b) * 20 <= std::max(a, b);
}

// formats/profiles.md, "Steady state": within one phase and batch the first of three whole passes
// whose first layers take the same time; the earliest of all groups. A draft model is no group.
int64_t SteadyPass(const std::vector<PassTruth>& passes) {
  std::map<std::pair<std::string_view, int64_t>, std::vector<size_t>> groups;
  for (size_t i = 0; i < passes.size(); ++i) {
    if (passes[i].complete && passes[i].kind != "draft")
      groups[{passes[i].kind, passes[i].batch}].push_back(i);
  }
  int64_t steady = -1;
  for (const auto& [key, members] : groups) {
    for (size_t i = 0; i + 2 < members.size(); ++i) {
      const int64_t a = FirstLayerWall(passes[members[i]]);
      const int64_t b = FirstLayerWall(passes[members[i + 1]]);
      const int64_t c = FirstLayerWall(passes[members[i + 2]]);
      if (!Near(a, b) || !Near(b, c)) continue;
      const auto found = static_cast<int64_t>(members[i]);
      if (steady < 0 || found < steady) steady = found;
      break;
    }
  }
  return steady;
}

bool SamePlace(const Place& a, const Place& b) {
  return a.part == b.part && a.layer == b.layer && a.block == b.block;
}

}  // namespace

int32_t StructureTruth::OpenPass(PassTruth pass) {
  data_.passes.push_back(std::move(pass));
  return static_cast<int32_t>(data_.passes.size()) - 1;
}

void StructureTruth::FindBoundaries() {
  boundaries_.resize(data_.passes.size());
  for (const PlacedActivity& a : activities_) {
    if (a.place.pass < 0 || a.place.lane != Lane::kMain || a.kind != EventKind::kKernel) continue;
    PassTruth& pass = data_.passes[static_cast<size_t>(a.place.pass)];
    auto& boundaries = boundaries_[static_cast<size_t>(a.place.pass)];
    if (boundaries.empty() || !SamePlace(boundaries.back().place, a.place))
      boundaries.push_back({a.start_ns, a.place});
    pass.end_ns = std::max(pass.end_ns, a.end_ns);
  }
}

const Place* StructureTruth::IntervalOf(size_t pass, int64_t time_ns) const {
  const auto& boundaries = boundaries_[pass];
  const auto after =
      std::upper_bound(boundaries.begin(), boundaries.end(), time_ns,
                       [](int64_t time, const Boundary& b) { return time < b.start_ns; });
  return after == boundaries.begin() ? nullptr : &std::prev(after)->place;
}

void StructureTruth::Count(const PlacedActivity& a, const Place& place, int64_t ordinal) {
  PassTruth& pass = data_.passes[static_cast<size_t>(a.place.pass)];
  const int64_t duration_ns = a.end_ns - a.start_ns;
  const bool kernel = a.kind == EventKind::kKernel;
  pass.start_ns =
      pass.kernels + pass.copies == 0 ? a.start_ns : std::min(pass.start_ns, a.start_ns);
  pass.end_ns = std::max(pass.end_ns, a.end_ns);
  ++(kernel ? pass.kernels : pass.copies);
  (kernel ? pass.sum_ns : pass.copy_ns) += duration_ns;
  if (place.part != Part::kLayer) {
    const bool head = place.part == Part::kHead;
    if (kernel) {
      ++(head ? pass.head_kernels : pass.tail_kernels);
      (head ? pass.head_sum_ns : pass.tail_sum_ns) += duration_ns;
    }
    return;
  }
  LayerTruth& layer = pass.layers[static_cast<size_t>(place.layer)];
  if (layer.first_kernel < 0) {
    layer.first_kernel = ordinal;
    layer.start_ns = a.start_ns;
  }
  layer.end_ns = std::max(layer.end_ns, a.end_ns);
  if (!kernel) {
    ++layer.copies;
    layer.copy_ns += duration_ns;
    return;
  }
  ++layer.kernels;
  layer.sum_ns += duration_ns;
  layer.reduces += a.place.reduces;
  const auto block = static_cast<size_t>(std::max(0, place.block));
  if (layer.block_kernels.size() <= block) layer.block_kernels.resize(block + 1);
  ++layer.block_kernels[block];
}

void StructureTruth::PlaceMembers() {
  int64_t ordinal = 0;
  for (const PlacedActivity& a : activities_) {
    const bool kernel = a.kind == EventKind::kKernel;
    if (a.place.pass >= 0) {
      const bool main = kernel && a.place.lane == Lane::kMain;
      const Place* place =
          main ? &a.place : IntervalOf(static_cast<size_t>(a.place.pass), a.start_ns);
      Place head;
      head.part = Part::kHead;
      Count(a, place == nullptr ? head : *place, ordinal);
    } else if (a.selected && kernel) {
      ++data_.outside_kernels;
      data_.outside_ns += a.end_ns - a.start_ns;
    }
    if (kernel && a.counted) ++ordinal;
  }
}

void StructureTruth::PlaceForeign() {
  for (const PlacedActivity& a : activities_) {
    if (a.place.lane != Lane::kForeign) continue;
    for (size_t i = 0; i < data_.passes.size(); ++i) {
      PassTruth& pass = data_.passes[i];
      if (a.start_ns < pass.start_ns || a.start_ns >= pass.end_ns) continue;
      const Place* place = IntervalOf(i, a.start_ns);
      if (place == nullptr || place->part != Part::kLayer) continue;
      LayerTruth& layer = pass.layers[static_cast<size_t>(place->layer)];
      ++layer.foreign;
      layer.foreign_ns += a.end_ns - a.start_ns;
      ++data_.foreign_kernels;
      break;
    }
  }
}

const StructureData& StructureTruth::Finish() {
  std::stable_sort(
      activities_.begin(), activities_.end(),
      [](const PlacedActivity& a, const PlacedActivity& b) { return a.start_ns < b.start_ns; });
  FindBoundaries();
  PlaceMembers();
  PlaceForeign();
  data_.steady_pass = SteadyPass(data_.passes);
  return data_;
}

}  // namespace layerscope::gen
