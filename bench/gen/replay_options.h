#pragma once
// What a generated serving run looks like whose decode steps replay graphs: the trace of the run,
// the traces made while its graphs were captured, and what else may tell its modules.

#include <cstdint>
#include <string>
#include <vector>

namespace layerscope::gen {

struct ReplayOptions {
  enum class Family : uint8_t { kDense, kMoe };
  enum class Launch : uint8_t { kFull, kPiecewise };
  enum class Vendor : uint8_t { kRocm, kCuda };
  enum class Steps : uint8_t { kSglang, kVllm, kNone };
  enum class Scope : uint8_t { kNone, kWrapper, kModel };
  enum class Branches : uint8_t { kNone, kOwn, kShared };
  enum class Copies : uint8_t { kNone, kKernel, kMemcpy, kLost };
  enum class Draft : uint8_t { kNone, kOneStep, kTwoSteps };

  std::string output;
  uint64_t seed = 1;
  Family family = Family::kDense;
  int64_t layers = 4;
  std::vector<int64_t> batches = {32};  // captured
  std::vector<int64_t> serve = {32};    // requests of the passes, in turn
  int64_t passes = 3;
  Launch launch = Launch::kFull;
  Vendor vendor = Vendor::kRocm;
  Steps steps = Steps::kSglang;
  Scope scope = Scope::kNone;
  bool tiles_by_batch = false;
  Branches branches = Branches::kNone;
  Copies copies = Copies::kNone;
  int64_t lose = 0;         // kernels of each launch that the replay's trace lacks
  bool lose_apart = false;  // no two replays in a row lose the same ones
  int64_t extra = 0;        // kernels of each launch that no capture has
  bool burst = false;       // one deferred time stamp for all kernels of a launch
  int64_t skip_pieces = 0;  // the window begins after so many pieces of the first pass
  Draft draft = Draft::kNone;
  int64_t ranks = 1;
  bool one_capture_file = false;
  bool capture_thread = false;
  bool compiled = false;  // modules end at one GraphModule
  bool graph_nodes = false;
  int64_t node_base = 0;  // another run has other graph node ids
  int64_t eager_batch = 0;
  bool vision = false;  // eager: a vision tower runs first
  bool truth = true;

  bool amd() const { return vendor == Vendor::kRocm; }
};

bool ParseReplayOptions(const std::vector<std::string>& arguments, ReplayOptions* options,
                        std::string* error);
std::string ReplayHelpText();

}  // namespace layerscope::gen
