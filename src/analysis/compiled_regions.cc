#include "src/analysis/compiled_regions.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/base/checked_sum.h"

namespace layerscope::analysis {
namespace {

constexpr std::string_view kRegion = "Torch-Compiled Region";
constexpr std::string_view kGraphCall = "## Call CompiledFxGraph";

/// By string: whether it begins like that.
std::vector<uint8_t> NamesThatBegin(const trace::Trace& trace, std::string_view prefix) {
  std::vector<uint8_t> begins(trace.strings.size(), 0);
  for (size_t i = 0; i < begins.size(); ++i) {
    begins[i] = trace.strings[trace::StringId(i)].starts_with(prefix) ? 1 : 0;
  }
  return begins;
}

void AddRegions(const trace::Trace& trace, std::vector<CompiledRegion>& all) {
  const std::vector<uint8_t> is_region = NamesThatBegin(trace, kRegion);
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    const trace::StringId name = trace.ops.name[i];
    if (is_region[name.index()] == 0) continue;
    const int64_t start_ns = trace.ops.start_ns[i];
    all.push_back(
        {trace.ops.thread[i], start_ns, base::AddClamped(start_ns, trace.ops.dur_ns[i]), name});
  }
}

void AddGraphCalls(const trace::Trace& trace, std::vector<CompiledRegion>& all) {
  const std::vector<uint8_t> is_call = NamesThatBegin(trace, kGraphCall);
  const trace::Annotations& annotations = trace.annotations;
  for (size_t i = 0; i < annotations.size(); ++i) {
    const trace::StringId name = annotations.name[i];
    if (annotations.is_gpu[i] != 0 || is_call[name.index()] == 0) continue;
    const int64_t start_ns = annotations.start_ns[i];
    all.push_back(
        {annotations.thread[i], start_ns, base::AddClamped(start_ns, annotations.dur_ns[i]), name});
  }
}

std::vector<CompiledRegion> AllRegions(const trace::Trace& trace) {
  std::vector<CompiledRegion> all;
  AddRegions(trace, all);
  AddGraphCalls(trace, all);
  return all;
}

}  // namespace

CompiledRegions::CompiledRegions(const trace::Trace& trace) : CompiledRegions(AllRegions(trace)) {}

CompiledRegions CompiledRegions::GraphCalls(const trace::Trace& trace) {
  std::vector<CompiledRegion> all;
  AddGraphCalls(trace, all);
  return CompiledRegions(std::move(all));
}

CompiledRegions::CompiledRegions(std::vector<CompiledRegion> all) : regions_(std::move(all)) {
  std::stable_sort(regions_.begin(), regions_.end(), [](const auto& a, const auto& b) {
    return std::make_tuple(a.thread.index(), a.start_ns, -a.end_ns) <
           std::make_tuple(b.thread.index(), b.start_ns, -b.end_ns);
  });
  size_t kept = 0;
  for (const CompiledRegion& region : regions_) {
    if (kept > 0 && regions_[kept - 1].thread == region.thread &&
        region.start_ns < regions_[kept - 1].end_ns) {
      continue;
    }
    regions_[kept++] = region;
  }
  regions_.resize(kept);
}

uint32_t CompiledRegions::Find(trace::ThreadId thread, int64_t time_ns) const {
  if (!thread.valid()) return kNone;
  const auto key = std::make_pair(thread.index(), time_ns);
  auto after = std::upper_bound(
      regions_.begin(), regions_.end(), key, [](const auto& wanted, const CompiledRegion& region) {
        return wanted < std::make_pair(region.thread.index(), region.start_ns);
      });
  if (after == regions_.begin()) return kNone;
  const CompiledRegion& region = *--after;
  if (region.thread != thread || time_ns >= region.end_ns) return kNone;
  return static_cast<uint32_t>(after - regions_.begin());
}

HostStart HostStartOf(const trace::Trace& trace, const attribution::Attribution& attribution,
                      uint32_t row) {
  if (attribution.cpu_only) {
    return {attribution.thread[row], attribution.cpu_activities.start_ns[row]};
  }
  const trace::CallId launch = attribution.launch[row];
  if (!launch.valid()) return {};
  return {trace.calls.thread[launch.index()], trace.calls.start_ns[launch.index()]};
}

}  // namespace layerscope::analysis
