#pragma once

#include "src/ingest/nsys/row_dictionary.h"
#include "src/trace/trace.h"

namespace layerscope::ingest::nsys {

/// Adds the dictionary's processes and threads to a trace, in the dictionary's order: ids stay.
void AddHosts(RowDictionary& dictionary, trace::Trace& trace);
/// The same for streams, whose devices are added, and arguments, whose extents become text in
/// `dictionary`.
void AddStreams(const RowDictionary& dictionary, trace::Trace& trace);
void AddArgs(RowDictionary& dictionary, trace::Trace& trace);

}  // namespace layerscope::ingest::nsys
