#include "src/attribution/captured_pieces.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/attribution/step_name.h"
#include "src/base/checked_sum.h"

namespace layerscope::attribution {
namespace {

enum class CallRole : uint8_t { kNone, kBegin, kEnd, kLaunch, kCopy, kSet };

CallRole RoleOf(std::string_view name) {
  const auto has = [&](std::string_view text) { return name.find(text) != std::string_view::npos; };
  if (has("StreamBeginCapture")) return CallRole::kBegin;
  if (has("StreamEndCapture")) return CallRole::kEnd;
  if (has("Launch")) {
    return has("GraphLaunch") || has("LaunchHostFunc") ? CallRole::kNone : CallRole::kLaunch;
  }
  if (has("Memcpy")) return CallRole::kCopy;
  return has("Memset") ? CallRole::kSet : CallRole::kNone;
}

CapturedCall::Kind KindOf(CallRole role) {
  if (role == CallRole::kCopy) return CapturedCall::Kind::kCopy;
  return role == CallRole::kSet ? CapturedCall::Kind::kSet : CapturedCall::Kind::kKernel;
}

class PieceFinder {
 public:
  PieceFinder(const trace::Trace& trace, trace::ProcessId process)
      : trace_(trace), process_(process) {}

  std::vector<CapturedPiece> Find() {
    if (!FindCalls()) return {};
    FindAnnotations();
    for (size_t begin = 0; begin < calls_.size();) {
      size_t end = begin + 1;
      const trace::ThreadId thread = ThreadOf(calls_[begin]);
      while (end < calls_.size() && ThreadOf(calls_[end]) == thread) ++end;
      AddThread(thread, begin, end);
      begin = end;
    }
    std::erase_if(pieces_, [](const CapturedPiece& piece) { return piece.calls.empty(); });
    return std::move(pieces_);
  }

 private:
  trace::ThreadId ThreadOf(uint32_t call) const { return trace_.calls.thread[call]; }

  /// The calls of threads that capture, by (thread, start, file order). False: nothing is captured.
  bool FindCalls() {
    const trace::Calls& calls = trace_.calls;
    std::vector<uint8_t> role_known(trace_.strings.size(), 0);
    role_.resize(trace_.strings.size(), CallRole::kNone);
    std::vector<uint8_t> captures(trace_.threads.size(), 0);
    bool any = false;
    for (uint32_t i = 0; i < calls.size(); ++i) {
      const size_t name = calls.name[i].index();
      if (std::exchange(role_known[name], uint8_t{1}) == 0) {
        role_[name] = RoleOf(trace_.strings[calls.name[i]]);
      }
      if (role_[name] != CallRole::kBegin) continue;
      const trace::ThreadId thread = ThreadOf(i);
      if (process_.valid() && trace_.threads[thread.index()].process != process_) continue;
      captures[thread.index()] = 1;
      any = true;
    }
    if (!any) return false;
    for (uint32_t i = 0; i < calls.size(); ++i) {
      if (captures[ThreadOf(i).index()] == 0) continue;
      if (role_[calls.name[i].index()] != CallRole::kNone) calls_.push_back(i);
    }
    std::sort(calls_.begin(), calls_.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(ThreadOf(a), calls.start_ns[a], a) <
             std::tuple(ThreadOf(b), calls.start_ns[b], b);
    });
    return true;
  }

  void FindAnnotations() {
    const trace::Annotations& all = trace_.annotations;
    for (uint32_t i = 0; i < all.size(); ++i) {
      if (all.is_gpu[i] != 0) continue;
      const ParsedStep parsed = ParseStepName(trace_.strings[all.name[i]]);
      if (parsed.family == StepFamily::kCapture) annotations_.push_back(i);
    }
    std::sort(annotations_.begin(), annotations_.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(all.thread[a], all.start_ns[a], a) <
             std::tuple(all.thread[b], all.start_ns[b], b);
    });
  }

  trace::AnnotationId AnnotationAt(trace::ThreadId thread, int64_t t_ns) const {
    const trace::Annotations& all = trace_.annotations;
    const auto after =
        std::upper_bound(annotations_.begin(), annotations_.end(), std::pair(thread, t_ns),
                         [&](const auto& wanted, uint32_t row) {
                           return wanted < std::pair(all.thread[row], all.start_ns[row]);
                         });
    if (after == annotations_.begin()) return {};
    const uint32_t row = *(after - 1);
    const int64_t end_ns = base::AddClamped(all.start_ns[row], all.dur_ns[row]);
    return all.thread[row] == thread && t_ns < end_ns ? trace::AnnotationId(row)
                                                      : trace::AnnotationId();
  }

  void AddThread(trace::ThreadId thread, size_t begin, size_t end) {
    const trace::Calls& calls = trace_.calls;
    int open = 0;
    int64_t open_from_ns = 0;
    for (size_t i = begin; i < end; ++i) {
      const uint32_t call = calls_[i];
      const int64_t t_ns = calls.start_ns[call];
      const CallRole role = role_[calls.name[call].index()];
      if (role == CallRole::kBegin) {
        if (open++ > 0) continue;
        open_from_ns = base::AddClamped(t_ns, calls.dur_ns[call]);
        pieces_.push_back({thread, AnnotationAt(thread, t_ns), {}});
      } else if (role == CallRole::kEnd) {
        if (open > 0) --open;
      } else if (open > 0 && t_ns >= open_from_ns) {
        AddCall({call, KindOf(role)});
      }
    }
  }

  void AddCall(const CapturedCall& added) {
    std::vector<CapturedCall>& calls = pieces_.back().calls;
    const int64_t correlation = trace_.calls.correlation[added.call];
    const bool again = !calls.empty() && correlation > 0 && calls.back().kind == added.kind &&
                       trace_.calls.correlation[calls.back().call] == correlation;
    if (!again) calls.push_back(added);
  }

  const trace::Trace& trace_;
  const trace::ProcessId process_;
  std::vector<CallRole> role_;         // by StringId index
  std::vector<uint32_t> calls_;        // by (thread, start, file order)
  std::vector<uint32_t> annotations_;  // of captures, by (thread, start, file order)
  std::vector<CapturedPiece> pieces_;
};

}  // namespace

std::vector<CapturedPiece> FindCapturedPieces(const trace::Trace& trace, trace::ProcessId process) {
  return PieceFinder(trace, process).Find();
}

}  // namespace layerscope::attribution
