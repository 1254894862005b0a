#pragma once
// What a process of a run recorded, before it is a database or a trace, and what is true of its GPU
// activities. Times are nanoseconds since the session began. No two of host and GPU meet: the
// host's are even, the GPU's odd.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::gen {

// Texts by number, for all processes of a run.
class NsysNames {
 public:
  int32_t Id(std::string_view text) {
    const auto [at, is_new] =
        ids_.try_emplace(std::string(text), static_cast<int32_t>(texts_.size()));
    if (is_new) texts_.push_back(at->first);
    return at->second;
  }
  std::string_view operator[](int32_t id) const { return texts_[static_cast<size_t>(id)]; }
  size_t size() const { return texts_.size(); }

 private:
  std::map<std::string, int32_t, std::less<>> ids_;
  std::vector<std::string_view> texts_;  // the map's keys
};

inline constexpr int32_t kNsysNone = -1;
inline constexpr int64_t kNsysOpen = -1;  // the end of a range that is never closed

struct NsysRange {
  enum class Kind : uint8_t { kModule, kOutputs, kOp, kStep, kOther, kDomain };
  Kind kind = Kind::kOther;
  int32_t text = kNsysNone;
  int32_t name = kNsysNone;  // as a Kineto trace has it; none: it has not
  int64_t start_ns = 0;
  int64_t end_ns = kNsysOpen;
  int64_t tid = 0;
  int64_t domain = 0;
  bool start_end = false;
  bool registered = false;
};

struct NsysCall {
  int32_t name = kNsysNone;  // with the version that the runtime's functions carry
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t tid = 0;
  int64_t correlation = 0;
};

enum class NsysKind : uint8_t { kKernel, kMemcpy, kMemset, kGraph };
// ENUM_CUDA_MEMCPY_OPER
enum class NsysCopy : uint8_t { kNone = 0, kHostToDevice = 1, kDeviceToHost = 2, kOnDevice = 8 };
// Why an activity has no module.
enum class NsysReason : uint8_t { kNone, kGraphLaunch, kNoLaunch, kOutsideScopes };

struct NsysActivity {
  NsysKind kind = NsysKind::kKernel;
  NsysCopy copy = NsysCopy::kNone;
  int32_t name = kNsysNone;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t stream = 0;
  int64_t correlation = 0;
  int64_t node = 0;   // 0: launched by itself
  int64_t graph = 0;  // the executable graph
  int64_t bytes = 0;
  // True of it.
  int32_t module = kNsysNone;
  int32_t step = kNsysNone;
  NsysReason reason = NsysReason::kNone;
};

// A row about a node of a graph.
struct NsysNode {
  int32_t name = kNsysNone;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t tid = 0;
  int64_t node = 0;
  int64_t original = 0;  // 0: made by a capture
};

struct NsysRows {
  std::vector<NsysRange> ranges;
  std::vector<NsysCall> calls;
  std::vector<NsysActivity> activities;
  std::vector<NsysNode> nodes;

  void clear() {
    ranges.clear();
    calls.clear();
    activities.clear();
    nodes.clear();
  }
};

// Who and where a process is.
struct NsysPlace {
  int64_t rank = 0;
  int64_t pid = 0;
  int64_t device = 0;  // as the process counts
  int64_t gpu = 0;     // as the machine counts
  int64_t context = 1;
};

struct NsysRowsOf {
  NsysPlace place;
  NsysRows* rows;
};

}  // namespace layerscope::gen
