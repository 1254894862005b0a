#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/analysis/group_by.h"
#include "src/analysis/place.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"

namespace layerscope::analysis {

/// What the activities are ranked by.
enum class KernelsBy : uint8_t { kName, kOp, kOpDims, kModule, kLayer, kCategory, kStream };
/// "name", "op", "op-dims", "module", "layer", "category", "stream": by enumerator.
const std::vector<std::string>& KernelsByNames();

struct KernelsOptions {
  Selection selection;
  Presentation presentation;
  KernelsBy by = KernelsBy::kName;
  /// False: with a layer selected, rows are its single kernels (layer_kernels.h).
  bool by_is_given = false;
  std::optional<int64_t> compare_layer;  ///< against the selected layer
  bool compute_flow = false;  ///< the kernels of one layer a type, or of the selected layer
};

/// `kernels`: the selected activities grouped, ranked by the sum of their lengths. Activities
/// without an op or a module form a row of their own, so that rows always sum to the total. By op,
/// the copies and sets of an op are a row beside its kernels ("aten::mm (copies)"). By layer, the
/// layers of all selected passes, [head], [tail] and [outside any pass] are rows.
base::Result<Output> ComputeKernels(const AnalysisInput& input, const KernelsOptions& options);

/// One row of `kernels`, and of the tables of `summary`.
struct KernelRow {
  Group group;
  std::string key;
  std::string name;
  std::string short_name;  ///< empty when the rows are no kernels
  std::string shown_name;  ///< for people: the short name, longer where kernels share it
  std::string category;    ///< empty when the rows may differ in it
  std::string op;          ///< by op and op-dims
  std::string dims;        ///< by op-dims
  Place place;
};

/// Whether equal keys on several devices, or of several processes, are rows of their own.
enum class Places : uint8_t { kApart, kTogether };

/// The groups as rows, largest sum first; ties by first appearance. By name, distinct kernels have
/// distinct `shown_name`s.
std::vector<KernelRow> RankActivities(const RankView& view, KernelsBy by,
                                      Places places = Places::kApart);

/// "other: 3.1 %: name (1.2 %), …": the share that no rule names, with its five largest names;
/// empty when every activity has a category.
std::string OtherText(const RankView& view);

}  // namespace layerscope::analysis
