#pragma once
// Plays plans: eagerly, or into a capture, which yields the graph's nodes.

#include <cstdint>
#include <string>
#include <vector>

#include "bench/gen/replay_host.h"
#include "bench/gen/replay_options.h"
#include "bench/gen/replay_plan.h"

namespace layerscope::gen {

// Captured kernels, and the items of the plan that run eagerly after them.
struct CapturedPiece {
  std::vector<CapturedNode> nodes;
  size_t eager_begin = 0, eager_end = 0;
};

struct CapturedGraph {
  Plan plan;
  int64_t batch = 0;
  std::string mode;  // as in the annotation of the capture
  std::vector<CapturedPiece> pieces;
  int64_t index = 0;  // among all graphs of the process

  int64_t kernels() const;
};

// The whole plan, or its items [begin, end), with or without its module scopes.
void PlayEagerly(const ReplayOptions& options, Host* host, const Plan& plan);
void PlayPart(Host* host, const Plan& plan, size_t begin, size_t end);

// Fills `graph->pieces` from its plan.
void PlayIntoCapture(const ReplayOptions& options, Host* host, CapturedGraph* graph);

// The graph's pieces as one replay shows them: some nodes lost, some added.
std::vector<CapturedPiece> Distorted(const ReplayOptions& options, const CapturedGraph& graph,
                                     int64_t replay);

}  // namespace layerscope::gen
