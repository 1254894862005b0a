#include "src/document/map/row_sums.h"

namespace layerscope::document {

void RowSums::AddRow(const analysis::RankView& view, uint32_t row) {
  const int64_t dur_ns = view.activities().dur_ns[row];
  const bool is_kernel = view.IsKernel(row);
  gpu_ns += dur_ns;
  kernel_ns += is_kernel ? dur_ns : 0;
  kernels += is_kernel ? 1 : 0;
}

void RowSums::WriteTo(table::Object& object) const {
  object.emplace_back("gpu_ns", gpu_ns);
  object.emplace_back("kernel_ns", kernel_ns);
  object.emplace_back("kernels", kernels);
}

}  // namespace layerscope::document
