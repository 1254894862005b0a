#pragma once

#include <vector>

#include "src/analysis/row_table.h"

namespace layerscope::analysis {

/// What kernels of Inductor were made of: `fused_ops`, `source_nodes`, `graph_ops`, `graph_nodes`,
/// `source_modules` (lists) and `fused_source` ("name" or "provenance"); null for other kernels
/// and, without provenance, for all but the operators. A Row is a KernelRow or a LayerKernel.
template <typename Row>
void AddFusedForMachines(RowTable<Row>& table);

/// The columns for people that say something of these rows: the operators where `full`, and what
/// the provenance adds to the names. They were asked for, so other columns go before them where
/// room is scarce.
template <typename Row>
class FusedShown {
 public:
  FusedShown(const std::vector<Row>& rows, bool full);
  void AddTo(RowTable<Row>& table) const;

 private:
  bool full_ = false;
  bool ops_ = false;
  bool nodes_ = false;
  bool modules_ = false;
};

}  // namespace layerscope::analysis
