#pragma once

#include <cstdint>
#include <optional>

#include "src/document/map/nodes.h"
#include "src/table/value.h"

namespace layerscope::document {

/// The layer parts of the document; empty arrays where no layers are known.
struct LayerParts {
  std::optional<int64_t> layers;
  std::optional<int64_t> ops_per_layer;
  std::string pattern;           ///< "A×3 B×58", "(A B)×18"; empty without layers
  std::string source;            ///< "modules", an evidence class of the found structure, or empty
  table::Array layer_template;   ///< ops of one layer of the commonest type
  table::Array layer_templates;  ///< {type, class, layers, ops} of each type
  table::Array per_layer;
  table::Array pre_layers;
  table::Array post_layers;
};

/// From the modules: the stretch of like siblings with the most time. Without one from the layers
/// that were found in the order of kernels, where they were sought.
LayerParts WriteLayers(const Execution& execution, const NodeWriter& writer);

/// "A×3 B×58" of consecutive runs; "(A B)×18" where the types repeat as one.
std::string PatternText(const std::vector<uint32_t>& types);
/// "A" … "Z", then "T26".
std::string TypeName(uint32_t type);

}  // namespace layerscope::document
