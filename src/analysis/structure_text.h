#pragma once

#include <optional>
#include <string>

#include "src/analysis/analysis.h"
#include "src/layers/layer_structure.h"
#include "src/table/value.h"

namespace layerscope::analysis {

/// `anchor` of passes and layers: {pattern, kernels, kind, per_layer, offset, evidence, confidence,
/// level}.
table::Object AnchorObject(const layers::LayerStructure& structure);
/// `profile` of passes and layers: {name, why}.
table::Object ProfileObject(const layers::LayerStructure& structure);
/// `modules`: {class, n_layers, n_agreeing, n_displaced, n_helpers}; null where the trace has no
/// module scopes.
table::Value AgreementValue(const layers::LayerStructure& structure);

/// 0 to 1 with three decimals.
double RoundedConfidence(double confidence);
/// "0.93 (high)": high from layers::kConfident on.
std::string ConfidenceText(double confidence);
/// "36 layers a pass: found by repetition, no anchor given; confidence 0.93 (high)"; empty where no
/// layers are known.
std::string FoundText(const layers::LayerStructure& structure);
/// "checked against nn.Module scopes: 36 of 36 layers hold exactly the kernels of one
/// Qwen3DecoderLayer"; empty without scopes.
std::string AgreementText(const layers::LayerStructure& structure);
/// "generic (no config was given)".
std::string ProfileText(const layers::LayerStructure& structure);

/// How many blocks a layer has at most; 0 where they are not known.
int64_t MostBlocks(const layers::LayerStructure& structure);
/// The name of a layer's block: the profile's ("attention"), else of the halves of a layer that has
/// two, else "block 1"; empty for none.
std::string BlockName(const model::Profile* profile, int64_t most_blocks, uint8_t block);
/// "FIRST", "FINAL", "CUT".
table::CellList FlagNames(uint8_t flags);

}  // namespace layerscope::analysis
