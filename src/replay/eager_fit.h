#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/replay/sequence_alignment.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// One forward of the replaying trace: rows under graph launches and those launched beside them, by
/// (start, file order).
struct ReplayedForward {
  std::vector<uint32_t> rows;
  std::vector<uint8_t> under_graph;  ///< beside `rows`
};

/// A replayed forward laid over an eager one.
struct EagerFit {
  std::vector<uint32_t> node_of;  ///< by position in ReplayedForward::rows; or kUnmatched
  int64_t kernels = 0;            ///< under graph launches
  int64_t matched = 0;            ///< of them
  int64_t named = 0;              ///< of them: a kernel of that name is left in the eager forward
  int64_t missing = 0;            ///< eager kernels that no replayed one stands for
  bool fits = false;
};

/// Elements of a forward, each stream a lane.
std::vector<Element> ElementsOf(const trace::Trace& replayed, const ReplayedForward& forward);

/// Elements looked at by one FitEager, at most: its cost.
size_t AlignmentWork(size_t n_replayed, size_t n_eager);

/// Sequences whose names cannot reach kEnoughAligned are not aligned at all.
EagerFit FitEager(std::span<const Element> replayed, std::span<const uint8_t> under_graph,
                  std::span<const Element> eager, Places places);

}  // namespace layerscope::replay
