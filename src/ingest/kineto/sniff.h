#pragma once

#include <string_view>

#include "src/base/result.h"
#include "src/ingest/kineto/document_head.h"

namespace layerscope::ingest::kineto {

/// What a document is that is no PyTorch profiler trace, as the error that refuses it: its kind by
/// name, and what to do. `begin` are its first bytes, `rest` what follows a closed top-level
/// object.
base::Error DescribeForeign(const DocumentHead& head, std::string_view rest);

/// The error for compressed data that ends before its document says what it is.
base::Error DescribeDamage(std::string_view damage);
/// The error for a document with nothing in it.
base::Error DescribeEmpty();
/// The error for a list whose elements are not events.
base::Error DescribeForeignList();
/// The error for a Chrome trace that another profiler wrote.
base::Error DescribeVizTracer();

}  // namespace layerscope::ingest::kineto
