#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/analysis/kernel_rows.h"
#include "src/analysis/rank_view.h"
#include "src/table/result.h"

namespace layerscope::analysis {

/// Rows of TopKernelTable for machines.
inline constexpr int64_t kTopKernelsForMachines = 20;

/// The first `limit` rows (0 = all) by name, with their share of `total_ns` (0 = without).
table::Table TopKernelTable(const RankView& view, std::vector<KernelRow> rows, int64_t total_ns,
                            int64_t limit);
/// The same by category.
table::Table TopCategoryTable(std::vector<KernelRow> rows, int64_t total_ns, int64_t limit);

/// What people see of them, `n_rows` each: categories, which CPU ops have none of for people, and
/// kernels or ops. `other`: OtherText. Empty without kernels.
std::vector<table::Block> TopKernelBlocks(const RankView& view,
                                          const std::vector<KernelRow>& categories,
                                          const std::vector<KernelRow>& kernels,
                                          const std::string& other, int64_t n_rows);

}  // namespace layerscope::analysis
