#pragma once
// What a generated Nsight Systems run looks like: the run itself, what the profiler recorded of it,
// and the version of the export.

#include <cstdint>
#include <string>
#include <vector>

namespace layerscope::gen {

struct NsysOptions {
  // In order of time: tables and columns come and go with it (nsys_schema.h).
  enum class Schema : uint8_t { k2022_2, k2023_3, k2024_5, k2025_5, k2026_2 };
  enum class Launch : uint8_t { kEager, kNodes, kWhole };
  enum class Markers : uint8_t { kNone, kBench, kVllm, kBoth, kSglang, kTensorRt };
  enum class Quotes : uint8_t { kSingle, kDouble, kColon, kPlain };

  std::string output;       // the database; may be empty with `kineto`
  std::string kineto;       // directory for the same run as Kineto traces
  std::string annotations;  // directory for the graph annotations of those
  std::string truth;
  uint64_t seed = 1;
  Schema schema = Schema::k2026_2;

  // The run.
  int64_t ranks = 1;
  bool equal_ids = true;    // processes count correlations and graph nodes from the same number
  bool one_device = false;  // every process calls its GPU device 0
  bool one_gpu = false;     // all processes run on the first GPU, whatever they call it
  int64_t layers = 2;
  std::vector<int64_t> batches = {8};
  std::vector<int64_t> pasts = {1024};
  int64_t steps = 3;    // decode steps of each batch and past length
  bool prefill = true;  // an eager one before them
  int64_t repeat = 1;   // the whole sweep so often
  int64_t kernels = 0;  // repeat it up to this number of kernels instead
  Launch launch = Launch::kNodes;
  bool capture_thread = false;
  bool launch_scope = false;    // a module's range is open around each graph launch
  bool sampler_outside = true;  // the sampler lies outside of every module
  bool graph_copies = false;
  bool all_reduce = false;
  bool comm_stream = false;
  int64_t branches = 0;
  bool dependent_launch = false;
  bool second_thread = false;  // launches of a helper thread
  bool run_ahead = false;      // the host does not wait for every step
  // Nanoseconds of one such gap in each step; -1: by chance.
  int64_t launch_gap = -1;
  int64_t host_wait = -1;
  int64_t queued_gap = -1;
  int64_t comm_work = 17000;  // ns of an all-reduce

  // What was recorded.
  Markers markers = Markers::kBoth;
  Quotes quotes = Quotes::kSingle;
  bool further_keys = true;
  bool outputs = false;
  bool ops = false;
  bool registered = false;  // texts of ranges are ids
  bool start_end = false;
  bool domains = false;
  bool open_ranges = false;
  int64_t orphans = 0;     // kernels at the start whose launches were not seen
  int64_t drop_calls = 0;  // of 10,000 launch calls, lose these
  int64_t clones = 1;      // links from a replayed node to the captured one
  int64_t instantiations = 1;
  bool destructions = false;
  bool creation_names = true;  // rows of nodes say what happened to them
  int64_t lost_nodes = 0;      // nodes of each graph that have no row
  bool gpu_info = true;
  bool shuffle = false;

  bool before(Schema version) const { return schema < version; }
};

bool ParseNsysOptions(const std::vector<std::string>& arguments, NsysOptions* options,
                      std::string* error);
std::string NsysHelpText();

}  // namespace layerscope::gen
