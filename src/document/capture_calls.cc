#include "src/document/capture_calls.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "src/base/checked_sum.h"

namespace layerscope::document {

CaptureCalls::CaptureCalls(const trace::Trace& trace) : trace_(trace) {
  const trace::Calls& calls = trace.calls;
  for (uint32_t i = 0; i < calls.size(); ++i) {
    const std::string_view name = trace.strings[calls.name[i]];
    if (name.find("StreamBeginCapture") != std::string_view::npos) {
      begins_.push_back(i);
    } else if (name.find("StreamEndCapture") != std::string_view::npos) {
      ends_.push_back(i);
    } else if (name.find("Launch") != std::string_view::npos) {
      launches_.push_back(i);
    }
  }
  const auto by_thread = [&](uint32_t a, uint32_t b) {
    return std::tuple(calls.thread[a], calls.start_ns[a], a) <
           std::tuple(calls.thread[b], calls.start_ns[b], b);
  };
  std::sort(begins_.begin(), begins_.end(), by_thread);
  std::sort(ends_.begin(), ends_.end(), by_thread);
  std::stable_sort(launches_.begin(), launches_.end(),
                   [&](uint32_t a, uint32_t b) { return calls.start_ns[a] < calls.start_ns[b]; });
}

bool CaptureCalls::Before(uint32_t call, trace::ThreadId thread, int64_t t_ns) const {
  return std::pair(trace_.calls.thread[call], trace_.calls.start_ns[call]) <
         std::pair(thread, t_ns);
}

std::optional<CapturedTime> CaptureCalls::Around(const layers::Pass& pass) const {
  if (!pass.captured_start_ns || !pass.captured_end_ns) return std::nullopt;
  const trace::Calls& calls = trace_.calls;
  const int64_t start_ns = *pass.captured_start_ns;
  auto launch =
      std::lower_bound(launches_.begin(), launches_.end(), start_ns,
                       [&](uint32_t call, int64_t t_ns) { return calls.start_ns[call] < t_ns; });
  const auto is_of_pass = [&](uint32_t call) {
    return !pass.process.valid() ||
           trace_.threads[calls.thread[call].index()].process == pass.process;
  };
  while (launch != launches_.end() && calls.start_ns[*launch] == start_ns && !is_of_pass(*launch)) {
    ++launch;
  }
  if (launch == launches_.end() || calls.start_ns[*launch] != start_ns) return std::nullopt;
  CapturedTime of{calls.thread[*launch], start_ns, *pass.captured_end_ns};
  const auto before = [&](uint32_t call, int64_t t_ns) { return Before(call, of.thread, t_ns); };
  const auto after_begin =
      std::lower_bound(begins_.begin(), begins_.end(), base::AddClamped(start_ns, 1), before);
  if (after_begin != begins_.begin() && calls.thread[*(after_begin - 1)] == of.thread) {
    of.start_ns = calls.start_ns[*(after_begin - 1)];
  }
  // The end of the last launch may reach over the start of the call that ends the capture.
  auto end = std::lower_bound(ends_.begin(), ends_.end(), start_ns, before);
  const auto ends_at = [&](uint32_t call) {
    return base::AddClamped(calls.start_ns[call], std::max<int64_t>(calls.dur_ns[call], 0));
  };
  while (end != ends_.end() && calls.thread[*end] == of.thread && ends_at(*end) < of.end_ns) ++end;
  if (end != ends_.end() && calls.thread[*end] == of.thread) of.end_ns = ends_at(*end);
  return of;
}

}  // namespace layerscope::document
