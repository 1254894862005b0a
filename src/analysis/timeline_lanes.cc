#include "src/analysis/timeline_lanes.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "src/base/hash.h"

namespace layerscope::analysis {
namespace {

constexpr std::string_view kOther = "[other]";

/// What tells lanes apart: `place` is a stream, a device or a thread, by the kind.
struct LaneKey {
  LaneKind kind = LaneKind::kStream;
  trace::ProcessId process;
  uint32_t place = 0;
  friend bool operator==(const LaneKey&, const LaneKey&) = default;
};

struct LaneKeyHash {
  size_t operator()(const LaneKey& key) const noexcept {
    const uint64_t ids = (uint64_t{key.process.index()} << 32U) | key.place;
    return base::MixIn(static_cast<uint64_t>(key.kind), ids);
  }
};

/// Lanes in order of first appearance, and how many intervals each has in the whole selection.
class LaneSet {
 public:
  uint32_t Of(const LaneKey& key) {
    if (keys_.empty() || !(keys_[last_] == key)) {
      const auto [found, is_new] = index_.try_emplace(key, static_cast<uint32_t>(keys_.size()));
      if (is_new) {
        keys_.push_back(key);
        n_intervals_.push_back(0);
      }
      last_ = found->second;
    }
    ++n_intervals_[last_];
    return last_;
  }
  const std::vector<LaneKey>& keys() const { return keys_; }
  int64_t n_intervals(uint32_t lane) const { return n_intervals_[lane]; }

 private:
  std::vector<LaneKey> keys_;
  std::vector<int64_t> n_intervals_;
  tsl::robin_map<LaneKey, uint32_t, LaneKeyHash> index_;
  uint32_t last_ = 0;
};

class LaneBuilder {
 public:
  LaneBuilder(const RankView& view, const layers::LayerStructure* structure,
              const TimelineRange& range)
      : view_(view), structure_(structure), range_(range) {
    const std::vector<trace::ProcessId>& hosts = view.processes().hosts;
    if (hosts.size() == 1) only_host_ = hosts.front();
  }

  TimelineLanes Build() {
    AddActivities();
    AddSteps();
    if (structure_ != nullptr) {
      result_.parts = SpanParts(view_, *structure_);
      AddPasses();
      AddLayers();
      AddBlocks();
    }
    PlaceLanes();
    return std::move(result_);
  }

 private:
  void Add(const LaneKey& key, int64_t start_ns, int64_t end_ns, size_t source) {
    const uint32_t lane = set_.Of(key);
    if (!range_.Shows(start_ns, end_ns)) return;
    result_.marks.push_back({std::max(start_ns, range_.from_ns), std::min(end_ns, range_.to_ns),
                             lane, static_cast<uint32_t>(source)});
  }
  /// In a file of one process everything is that process's.
  trace::ProcessId Host(trace::ProcessId process) const {
    return only_host_.valid() && !process.valid() ? only_host_ : process;
  }

  void AddActivities() {
    const trace::Activities& activities = view_.activities();
    const attribution::Attribution& attr = view_.attribution();
    result_.marks.reserve(view_.rows().size());
    for (const uint32_t row : view_.rows()) {
      const size_t place =
          view_.cpu_only() ? attr.thread[row].index() : activities.stream[row].index();
      const int64_t start_ns = activities.start_ns[row];
      Add({LaneKind::kStream, Host(attr.host_process[row]), static_cast<uint32_t>(place)}, start_ns,
          start_ns + std::max<int64_t>(activities.dur_ns[row], 0), row);
    }
  }

  void AddSteps() {
    for (const uint32_t i : view_.steps()) {
      const attribution::Step& step = view_.attribution().steps[i];
      const auto place = static_cast<uint32_t>(step.thread.index());
      Add({LaneKind::kSteps, Host(view_.ProcessOfStep(i)), place}, step.start_ns,
          step.start_ns + std::max<int64_t>(step.dur_ns, 0), i);
    }
  }

  LaneKey KeyOfPass(LaneKind kind, layers::PassId id) const {
    const layers::Pass& pass = structure_->passes[id.index()];
    return {kind, Host(pass.process), static_cast<uint32_t>(pass.device.index())};
  }
  /// What ran, else where a capture's launch calls lie.
  void AddPart(const LaneKey& key, const TimeSpan& span,
               const std::optional<int64_t>& captured_start,
               const std::optional<int64_t>& captured_end, size_t source) {
    if (!span.empty()) {
      Add(key, span.first_ns(), span.last_ns(), source);
    } else if (view_.selects_all() && captured_start && captured_end) {
      Add(key, *captured_start, *captured_end, source);
    }
  }

  void AddPasses() {
    for (size_t i = 0; i < structure_->passes.size(); ++i) {
      const layers::Pass& pass = structure_->passes[i];
      AddPart(KeyOfPass(LaneKind::kPasses, layers::PassId(i)), result_.parts.passes[i].span,
              pass.captured_start_ns, pass.captured_end_ns, i);
    }
  }

  void AddLayers() {
    for (size_t i = 0; i < structure_->layers.size(); ++i) {
      const layers::Layer& layer = structure_->layers[i];
      AddPart(KeyOfPass(LaneKind::kLayers, layer.pass), result_.parts.layers[i].span,
              layer.captured_start_ns, layer.captured_end_ns, i);
    }
  }

  void AddBlocks() {
    for (size_t i = 0; i < result_.parts.blocks.size(); ++i) {
      const BlockSpan& block = result_.parts.blocks[i];
      Add(KeyOfPass(LaneKind::kBlocks, structure_->layers[block.layer.index()].pass),
          block.span.first_ns(), block.span.last_ns(), i);
    }
  }

  TimelineLane Describe(const LaneKey& key) const;
  std::vector<uint32_t> ShownLanes() const;
  void PlaceLanes();

  const RankView& view_;
  const layers::LayerStructure* structure_;
  const TimelineRange& range_;
  trace::ProcessId only_host_;
  LaneSet set_;
  TimelineLanes result_;
};

std::string NameOf(std::string_view noun, const LabelValue& label) {
  if (const auto* text = std::get_if<std::string_view>(&label)) return std::string(*text);
  const auto* number = std::get_if<int64_t>(&label);
  return number == nullptr ? std::string(noun) : fmt::format("{} {}", noun, *number);
}

TimelineLane LaneBuilder::Describe(const LaneKey& key) const {
  const trace::Trace& trace = view_.trace();
  TimelineLane lane;
  lane.kind = key.kind;
  lane.place = PlaceAt(view_, key.process);
  lane.name = ToString(key.kind);
  const bool is_thread = key.kind == LaneKind::kSteps || view_.cpu_only();
  LabelValue tid;
  if (is_thread && trace::ThreadId(key.place).valid()) {
    tid = view_.LabelOf(trace.threads[key.place].tid);
  }
  if (key.kind == LaneKind::kSteps) {
    lane.name = fmt::format("steps of {}", NameOf("thread", tid));
  } else if (key.kind == LaneKind::kStream && view_.cpu_only()) {
    lane.place.device = view_.DeviceLabel({});
    lane.stream = tid;
    lane.name = NameOf("thread", tid);
  } else if (key.kind == LaneKind::kStream && trace::StreamId(key.place).valid()) {
    lane.place.device = view_.DeviceLabel(trace.streams[key.place].device);
    lane.stream = view_.LabelOf(trace.streams[key.place].id);
    lane.name = NameOf("stream", lane.stream);
  } else if (trace::DeviceId(key.place).valid()) {
    lane.place.device = view_.DeviceLabel(trace::DeviceId(key.place));
  }
  return lane;
}

/// The lanes that are drawn for themselves: of each kind those with the most intervals.
std::vector<uint32_t> LaneBuilder::ShownLanes() const {
  std::vector<uint32_t> order(set_.keys().size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
    return set_.n_intervals(a) > set_.n_intervals(b);
  });
  std::array<size_t, kLaneKinds> n_of_kind{};
  for (const LaneKey& key : set_.keys()) ++n_of_kind[static_cast<size_t>(key.kind)];
  std::array<size_t, kLaneKinds> n_shown{};
  std::vector<uint32_t> shown;
  for (const uint32_t lane : order) {
    const auto kind = static_cast<size_t>(set_.keys()[lane].kind);
    const size_t room = n_of_kind[kind] > kMaxLanesOfKind ? kMaxLanesOfKind - 1 : kMaxLanesOfKind;
    if (n_shown[kind]++ < room) shown.push_back(lane);
  }
  return shown;
}

/// A process that is not known comes after those that are; what is of no device before devices.
auto OrderOf(const TimelineLane& lane) {
  const auto known = [](const LabelValue& label) { return std::pair(label.index() == 0, label); };
  return std::tuple(known(lane.place.rank), known(lane.place.pid), lane.place.device, lane.kind,
                    lane.stream, std::string_view(lane.name));
}

/// Orders the lanes, and gives the marks their numbers.
void LaneBuilder::PlaceLanes() {
  std::vector<uint32_t> shown = ShownLanes();
  std::sort(shown.begin(), shown.end());
  std::vector<TimelineLane> lanes;
  lanes.reserve(shown.size());
  for (const uint32_t lane : shown) lanes.push_back(Describe(set_.keys()[lane]));
  std::vector<uint32_t> order(shown.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t i, uint32_t j) { return OrderOf(lanes[i]) < OrderOf(lanes[j]); });
  constexpr uint32_t kUnplaced = UINT32_MAX;
  std::vector<uint32_t> number(set_.keys().size(), kUnplaced);
  for (const uint32_t i : order) {
    number[shown[i]] = static_cast<uint32_t>(result_.lanes.size());
    result_.lanes.push_back(std::move(lanes[i]));
  }
  std::array<uint32_t, kLaneKinds> other{};
  other.fill(kUnplaced);
  for (size_t lane = 0; lane < number.size(); ++lane) {
    if (number[lane] != kUnplaced) continue;
    const LaneKind kind = set_.keys()[lane].kind;
    uint32_t& of_kind = other[static_cast<size_t>(kind)];
    if (of_kind == kUnplaced) {
      of_kind = static_cast<uint32_t>(result_.lanes.size());
      result_.lanes.push_back({kind, {}, {}, std::string(kOther)});
    }
    number[lane] = of_kind;
  }
  for (TimelineMark& mark : result_.marks) mark.lane = number[mark.lane];
}

}  // namespace

std::string_view ToString(LaneKind kind) {
  constexpr std::array<std::string_view, kLaneKinds> kNames = {"steps", "passes", "layers",
                                                               "blocks", "stream"};
  return kNames[static_cast<size_t>(kind)];
}

TimelineLanes BuildTimelineLanes(const RankView& view, const layers::LayerStructure* structure,
                                 const TimelineRange& range) {
  return LaneBuilder(view, structure, range).Build();
}

}  // namespace layerscope::analysis
