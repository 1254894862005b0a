#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/attribution/evidence.h"

namespace layerscope::attribution {

/// What became of one graph of a trace: all launches that replay the same kernels in the same order
/// (for piecewise graphs: all forwards of the same pieces). Counts are kernels over all launches.
struct GraphAlignment {
  int64_t graph = 0;               ///< ordinal in the trace, by first launch
  std::optional<int64_t> batch;    ///< requests of its steps, where they say
  int64_t kernels_per_launch = 0;  ///< of one launch; of one forward where there are pieces
  int64_t pieces = 1;              ///< graph launches of one forward
  int64_t launches = 0;            ///< graph launches
  Evidence evidence = Evidence::kUnresolved;  ///< what placed it; unresolved: withheld, or nothing
  std::string source;  ///< the file that was laid over it: capture, eager trace, annotations; may
                       ///< be empty
  std::optional<int64_t> source_batch;  ///< the batch that the recording was made for
  int64_t matched = 0;                  ///< replayed kernels that have a counterpart
  int64_t mismatched = 0;               ///< replayed kernels that have none, or more than one
  int64_t missing = 0;    ///< recorded nodes, times launches, that no replayed kernel stands for
  bool withheld = false;  ///< a recording was given and did not fit: no module was taken from it
  std::string reason;  ///< why it is withheld, or what is odd ("captured for batch 64"); one clause
  double confidence = 0;  ///< 0 to 1
};

}  // namespace layerscope::attribution
