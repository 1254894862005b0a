#include "src/layers/target_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace layerscope::layers {
namespace {

/// As many names of what exists as fit into one line of an error.
constexpr size_t kNamesInError = 12;

base::Error Failure(base::ErrorCode code, std::string message, std::string hint) {
  base::Error error;
  error.code = code;
  error.message = std::move(message);
  error.hint = std::move(hint);
  return error;
}

std::string Listed(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kNamesInError);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (shown < names.size()) text += fmt::format(", … ({} in all)", names.size());
  return text;
}

class TargetChooser {
 public:
  TargetChooser(const trace::Trace& trace, const attribution::Attribution& attribution,
                const LayerOptions& options)
      : trace_(trace), attribution_(attribution), options_(options) {}

  base::Result<TargetRows> Choose() {
    TargetRows target;
    if (attribution_.cpu_only) return target;
    Filter();
    if (auto status = CheckFound(); !status.ok()) return std::move(status).error();
    if (auto status = OneProcess(target); !status.ok()) return std::move(status).error();
    if (auto status = OneDevice(target); !status.ok()) return std::move(status).error();
    const trace::Activities& all = trace_.activities;
    for (const uint32_t row : rows_) {
      if (trace_.DeviceOf(all.stream[row]) == target.device) target.rows.push_back(row);
    }
    std::sort(target.rows.begin(), target.rows.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(all.start_ns[a], a) < std::pair(all.start_ns[b], b);
    });
    return target;
  }

 private:
  trace::ProcessId HostOf(uint32_t row) const {
    const trace::ProcessId host = attribution_.host_process[row];
    return host.valid() ? host : trace_.activities.process[row];
  }

  void Filter() {
    const trace::Activities& all = trace_.activities;
    const std::vector<uint8_t> pid = Wanted(trace_.processes, options_.pid,
                                            [&](const auto& p) { return trace_.LabelText(p.pid); });
    const std::vector<uint8_t> device = Wanted(
        trace_.devices, options_.device, [&](const auto& d) { return trace_.LabelText(d.id); });
    const std::vector<uint8_t> stream = Wanted(
        trace_.streams, options_.stream, [&](const auto& s) { return trace_.LabelText(s.id); });
    for (uint32_t row = 0; row < all.size(); ++row) {
      const size_t on = all.stream[row].index();
      if (device[trace_.streams[on].device.index()] == 0 || stream[on] == 0) continue;
      if (pid[HostOf(row).index()] == 0) continue;
      rows_.push_back(row);
    }
  }

  template <typename Entry, typename Text>
  static std::vector<uint8_t> Wanted(const std::vector<Entry>& entries,
                                     const std::optional<std::string>& wanted, Text text) {
    std::vector<uint8_t> is_wanted(entries.size(), 1);
    if (!wanted) return is_wanted;
    for (size_t i = 0; i < entries.size(); ++i) is_wanted[i] = text(entries[i]) == *wanted ? 1 : 0;
    return is_wanted;
  }

  base::Status CheckFound() const {
    if (!rows_.empty() || trace_.activities.size() == 0) return {};
    std::string chosen;
    for (const auto& [name, value] :
         {std::pair("--pid", &options_.pid), std::pair("--device", &options_.device),
          std::pair("--stream", &options_.stream)}) {
      if (*value) chosen += fmt::format("{}{} {}", chosen.empty() ? "" : " ", name, **value);
    }
    if (chosen.empty()) return {};
    std::vector<std::string> streams;
    for (const trace::Stream& stream : trace_.streams) {
      streams.push_back(fmt::format("{} of device {}", trace_.LabelText(stream.id),
                                    trace_.DeviceText(stream.device)));
    }
    return Failure(base::ErrorCode::kNotFound,
                   fmt::format("no kernel in this input is on {}", chosen),
                   fmt::format("there are streams {}", Listed(streams)));
  }

  /// Which of `n` entries have kernels among the rows.
  template <typename IdOf>
  std::vector<size_t> WithKernels(size_t n, IdOf id_of) const {
    std::vector<uint8_t> has(n, 0);
    for (const uint32_t row : rows_) {
      if (trace_.activities.kind[row] != trace::ActivityKind::kKernel) continue;
      const auto id = id_of(row);
      if (id.valid()) has[id.index()] = 1;
    }
    std::vector<size_t> found;
    for (size_t i = 0; i < n; ++i) {
      if (has[i] != 0) found.push_back(i);
    }
    return found;
  }

  base::Status OneProcess(TargetRows& target) const {
    const auto found = WithKernels(trace_.processes.size(),
                                   [&](uint32_t row) { return attribution_.host_process[row]; });
    if (found.size() == 1) target.process = trace::ProcessId(found.front());
    if (found.size() <= 1) return {};
    std::vector<std::string> names;
    for (const size_t i : found) names.push_back(trace_.LabelText(trace_.processes[i].pid));
    return Failure(base::ErrorCode::kFailed,
                   fmt::format("kernels of {} processes are mixed (pid {}): layers are looked for "
                               "in one rank at a time",
                               found.size(), Listed(names)),
                   fmt::format("choose one with --pid {} (or --rank R)", names.front()));
  }

  base::Status OneDevice(TargetRows& target) const {
    const auto found = WithKernels(trace_.devices.size(), [&](uint32_t row) {
      return trace_.DeviceOf(trace_.activities.stream[row]);
    });
    if (found.size() == 1) target.device = trace::DeviceId(found.front());
    if (found.size() <= 1) return {};
    std::vector<std::string> names;
    for (const size_t i : found) names.push_back(trace_.DeviceText(trace::DeviceId(i)));
    return Failure(base::ErrorCode::kFailed,
                   fmt::format("kernels of {} devices are mixed (device {}): layers are looked for "
                               "on one device at a time",
                               found.size(), Listed(names)),
                   fmt::format("choose one with --device {}", names.front()));
  }

  const trace::Trace& trace_;
  const attribution::Attribution& attribution_;
  const LayerOptions& options_;
  std::vector<uint32_t> rows_;
};

}  // namespace

base::Result<TargetRows> ChooseTarget(const trace::Trace& trace,
                                      const attribution::Attribution& attribution,
                                      const LayerOptions& options) {
  return TargetChooser(trace, attribution, options).Choose();
}

}  // namespace layerscope::layers
