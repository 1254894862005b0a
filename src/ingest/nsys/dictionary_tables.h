#pragma once

#include "src/ingest/nsys/cuda_devices.h"
#include "src/ingest/nsys/row_dictionary.h"
#include "src/trace/trace.h"

namespace layerscope::ingest::nsys {

/// Adds the dictionary's processes and threads to a trace, in the dictionary's order: ids stay.
void AddHosts(RowDictionary& dictionary, trace::Trace& trace);
/// The same for streams, whose devices are added. A device is called as the processes number it;
/// where their numbers differ, by its GPU: a process that `cuda` does not tell of is taken to
/// number all GPUs.
void AddStreams(RowDictionary& dictionary, const CudaDevices& cuda, trace::Trace& trace);
/// The same for arguments, whose extents become text in `dictionary`.
void AddArgs(RowDictionary& dictionary, trace::Trace& trace);

}  // namespace layerscope::ingest::nsys
