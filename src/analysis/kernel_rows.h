#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/group_by.h"
#include "src/analysis/inductor_kernels.h"
#include "src/analysis/place.h"
#include "src/analysis/rank_view.h"

namespace layerscope::analysis {

/// What the activities are ranked by.
enum class KernelsBy : uint8_t { kName, kOp, kOpDims, kModule, kLayer, kCategory, kStream };
/// "name", "op", "op-dims", "module", "layer", "category", "stream": by enumerator.
const std::vector<std::string>& KernelsByNames();

/// One row of `kernels`, and of the tables of `summary`.
struct KernelRow {
  Group group;
  std::string key;
  std::string name;
  std::string short_name;          ///< empty when the rows are no kernels
  std::string shown_name;          ///< for people, by name and op: see RankActivities
  std::string category;            ///< empty when the rows may differ in it
  std::string op;                  ///< by op and op-dims
  std::string dims;                ///< by op-dims
  std::optional<FusedFrom> fused;  ///< by name and op: a kernel of Inductor; see AddFused
  Place place;
};

/// Whether equal keys on several devices, or of several processes, are rows of their own.
enum class Places : uint8_t { kApart, kTogether };

/// The groups as rows, largest sum first; ties by first appearance. By name and op, distinct names
/// have distinct `shown_name`s: the short name, longer where kernels share it; of operators the
/// whole name unless it is long.
std::vector<KernelRow> RankActivities(const RankView& view, KernelsBy by,
                                      Places places = Places::kApart);

/// True for rows that are the kernels or operators of one name.
bool NamesKernels(KernelsBy by);
/// Fills `fused` of such rows.
void AddFused(const InductorKernels& kernels, KernelsBy by, std::vector<KernelRow>& rows);

/// Of rows by name those that no rule gives a category, in their order.
std::vector<KernelRow> WithoutCategory(const RankView& view, std::vector<KernelRow> by_name);
/// "other: 3.1 %: name (1.2 %), …": the share that no rule names, with its five largest names;
/// empty when every activity has a category. `others`: WithoutCategory of the names ranked
/// together.
std::string OtherText(const RankView& view, const std::vector<KernelRow>& others);

/// A graph that was recorded as a whole: rules for the names of kernels say nothing of it.
bool IsWholeGraph(const RankView& view, const KernelRow& row);

}  // namespace layerscope::analysis
