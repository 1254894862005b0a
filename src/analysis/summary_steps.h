#pragma once

#include <string>
#include <vector>

#include "src/analysis/summary_facts.h"

namespace layerscope::analysis {

/// "1 prefill: wall 16.7 ms (92.0 % busy), 8 requests; 24 decode: …", for each rank where all have
/// as many.
std::string StepsText(const std::vector<PhaseRow>& phases);

}  // namespace layerscope::analysis
