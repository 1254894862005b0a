#pragma once
// The key `structure` of a truth file: passes, layers and types of a generated family.

#include "bench/gen/json_text.h"
#include "bench/gen/options.h"
#include "bench/gen/structure.h"

namespace layerscope::gen {

// Writes the key and its object into the open object of `json`.
void RenderStructure(const Options& options, const StructureData& data, JsonText* json);

}  // namespace layerscope::gen
