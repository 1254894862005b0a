#pragma once
// The truth beside a trace, as JSON. Keys follow the command line contract where it has a name for
// the same number; times are relative to zero, durations integer nanoseconds.

#include <cstdint>
#include <string>

#include "bench/gen/event_text.h"
#include "bench/gen/modules.h"
#include "bench/gen/options.h"
#include "bench/gen/structure.h"
#include "bench/gen/truth.h"

namespace layerscope::gen {

struct TruthContext {
  std::string trace;  // file name
  int64_t rank = -1;
  int64_t bytes = 0;
};

std::string RenderTruth(const Options& options, const TruthContext& context,
                        const WrittenCounts& written, const ModuleTable& modules,
                        const TruthData& data, const StructureData* structure);

}  // namespace layerscope::gen
