#pragma once
// What is true of one generated trace of a serving run: for every GPU activity, in the order of the
// file, the modules that it was meant for. Nothing here is read back from events.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::gen {

struct ReplayActivity {
  std::string_view kind;  // kernel, memcpy
  std::string name;
  int64_t stream = 0;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  int64_t graph = -1;  // index of the graph, -1: launched by itself
  int64_t launch = -1;
  int64_t pass = -1;
  std::vector<std::string> modules;  // outermost first, as scopes are named
  std::vector<std::string> around;   // scopes of this trace around the launch
  std::string path;                  // of the innermost module, as the model tree has it
  std::string op;
  bool has_path = false;
  bool unplaced = false;   // no recording has it
  bool uncertain = false;  // its place cannot be told from that of a neighbour that is missing
};

struct ReplayedGraph {
  int64_t batch = 0;  // captured for
  std::string capture;
  std::string mode;
  int64_t launches = 0;
  int64_t pieces = 1;
  int64_t nodes = 0;            // captured kernels of one forward
  int64_t replayed = 0;         // kernels in the trace, over all launches
  std::vector<int64_t> served;  // requests of the steps that replay it
};

struct ReplayTruth {
  std::vector<ReplayActivity> activities;
  std::vector<ReplayedGraph> graphs;
};

std::string RenderReplayTruth(const ReplayTruth& truth);

}  // namespace layerscope::gen
