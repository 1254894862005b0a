#pragma once

#include "src/base/result.h"
#include "src/ingest/nsys/schema.h"

namespace layerscope::ingest::nsys {

/// The refusal of a database that is no Nsight Systems export: kInvalidInput with what it is, as
/// far as its tables tell, and the way out.
base::Error DescribeForeign(const Schema& schema);

}  // namespace layerscope::ingest::nsys
