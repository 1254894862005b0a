#pragma once

#include <string>

#include "src/analysis/compiled_regions.h"
#include "src/analysis/inductor_kernels.h"
#include "src/analysis/rank_view.h"
#include "src/table/result.h"
#include "src/table/table.h"

namespace layerscope::analysis {

/// What ran in code compiled by torch.compile, one row a region name and enclosing module, longest
/// first: `region`, `module` (null: outside of every scope), `calls`, `n`, `sum_ns`, `n_fused`,
/// `fused_ns` (kernels of Inductor), `ops` (the distinct operators that those fused) and
/// `by_module` (time of the activities whose source nodes name just one module below; from
/// --inductor-debug).
table::Table CompiledRegionRows(const RankView& view, const InductorKernels& kernels);

/// "93 % of the time (3.1 s) ran in 8 regions that torch.compile made; …"; empty where none ran.
std::string CompiledText(const RankView& view, const CompiledRegions& regions);

/// Adds to a result how much of the selection's time lies in compiled regions and what
/// --inductor-debug adds or added to it. Without that option nothing where no such region ran.
void NoteCompiledRegions(const RankView& view, const InductorKernels& kernels,
                         table::RankResult& result);

}  // namespace layerscope::analysis
