#pragma once
// Which pass, layer and block each kernel of a generated family belongs to, and the sums that
// follow from it. Kernels of a pass's main stream are placed by the generator's own decision; what
// runs beside it (side streams, copies, foreign kernels) by the interval in which it starts. All
// times and sums are integer nanoseconds.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/gen/event.h"

namespace layerscope::gen {

enum class Part : uint8_t { kOutside, kHead, kLayer, kTail };
enum class Lane : uint8_t { kMain, kSide, kForeign };

// Where a kernel stands, as decided when it is launched.
struct Place {
  int32_t pass = -1;
  int32_t layer = -1;  // position in the pass
  int32_t block = -1;
  Part part = Part::kOutside;
  Lane lane = Lane::kMain;
  bool reduces = false;       // an all-reduce, also a fused one
  int64_t after_stream = 0;   // starts no earlier than this stream's work so far has ended
  int64_t not_before_ns = 0;  // nor before this
};

struct PlacedActivity {
  EventKind kind = EventKind::kKernel;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool counted = true;   // on the first device
  bool selected = true;  // of the first process too
  Place place;
};

struct LayerTruth {
  int64_t index = 0;
  std::string_view type;
  char form = '?';
  int64_t ratio = -1;
  bool first = false, final = false, cut = false;

  // Filled by Finish().
  int64_t first_kernel = -1;
  int64_t kernels = 0, sum_ns = 0;
  int64_t copies = 0, copy_ns = 0;
  int64_t foreign = 0, foreign_ns = 0;
  int64_t reduces = 0;
  int64_t start_ns = 0, end_ns = 0;
  std::vector<int64_t> block_kernels;
};

struct PassTruth {
  std::string_view kind;
  int64_t batch = -1;
  bool complete = true;
  std::string note;
  std::vector<LayerTruth> layers;

  // Filled by Finish().
  int64_t start_ns = 0, end_ns = 0;
  int64_t kernels = 0, sum_ns = 0;
  int64_t copies = 0, copy_ns = 0;
  int64_t head_kernels = 0, head_sum_ns = 0;
  int64_t tail_kernels = 0, tail_sum_ns = 0;
};

struct StructureData {
  std::vector<PassTruth> passes;
  int64_t steady_pass = -1;
  int64_t outside_kernels = 0, outside_ns = 0;
  int64_t foreign_kernels = 0;
};

class StructureTruth {
 public:
  // Returns the pass's index.
  int32_t OpenPass(PassTruth pass);
  void Add(const PlacedActivity& activity) { activities_.push_back(activity); }
  const StructureData& Finish();

 private:
  struct Boundary {
    int64_t start_ns;
    Place place;
  };
  void FindBoundaries();
  void PlaceMembers();
  void PlaceForeign();
  void Count(const PlacedActivity& activity, const Place& place, int64_t ordinal);
  const Place* IntervalOf(size_t pass, int64_t time_ns) const;

  StructureData data_;
  std::vector<PlacedActivity> activities_;
  std::vector<std::vector<Boundary>> boundaries_;  // by pass
};

}  // namespace layerscope::gen
