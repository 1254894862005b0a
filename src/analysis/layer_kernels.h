#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/inductor_kernels.h"
#include "src/analysis/layer_choice.h"
#include "src/analysis/place.h"
#include "src/analysis/rank_view.h"
#include "src/table/table.h"

namespace layerscope::analysis {

/// One kernel, copy or set of a layer (or of a head or tail), as the compute flow shows it.
struct LayerKernel {
  int64_t index = 0;  ///< position in time within its layer, from 1
  uint32_t row = 0;
  std::string name;
  std::string short_name;
  std::string shown_name;  ///< for people: longer than the short name where kernels share it
  std::string category;
  std::string group;
  std::string dims;  ///< input dims of its op; empty = unknown
  uint8_t block = layers::kNoBlock;
  std::string block_name;
  int64_t pass = 0;
  std::optional<int64_t> layer;  ///< absent in head and tail
  int64_t start_ns = 0;
  int64_t ts_rel_ns = 0;  ///< from the start of its layer, head or tail
  int64_t dur_ns = 0;
  Place place;
  std::shared_ptr<const FusedFrom> fused;  ///< a kernel of Inductor; see AddFused
};

/// The view's activities inside passes, longest first; equal ones in time order. `profile` names
/// blocks; may be null.
std::vector<LayerKernel> BuildLayerKernels(const RankView& view,
                                           const layers::LayerStructure& structure,
                                           const model::Profile* profile);

/// Fills `fused` of kernels, each from its own place in the generated code where that is known.
void AddFused(const InductorKernels& inductor, std::vector<LayerKernel>& kernels);

/// What machines read: the keys of `kernels` and block, ts_rel_ns, dims.
table::Table LayerKernelsForMachines(const RankView& view, std::vector<LayerKernel> rows);
/// #, half, category, short name, duration, share of `total_ns`, position, input dims.
table::Table LayerKernelsForPeople(const RankView& view, std::vector<LayerKernel> rows,
                                   int64_t total_ns, bool full_names);

/// The groups of categories by time: group, n, sum.
table::Table GroupTable(const std::vector<LayerKernel>& rows, int64_t total_ns);

/// The dims without those of the arguments at the end that are no tensors: "[[8,4],[],[]]" is
/// "[[8,4],…]".
std::string ShortDims(const std::string& dims);

}  // namespace layerscope::analysis
