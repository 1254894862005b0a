#pragma once

#include "src/ingest/nsys/database.h"
#include "src/ingest/nsys/schema.h"
#include "src/trace/trace.h"

namespace layerscope::ingest::nsys {

/// The names of the devices in `trace`, for its metadata: of the GPUs in TARGET_INFO_GPU, else in
/// the JSON under GpuInfo in TARGET_INFO_SYSTEM_ENV. TARGET_INFO_CUDA_DEVICE, where it stands, says
/// which GPU is which device. Returns kDone, kStopped or kOutOfMemory.
Step ReadGpuNames(const Database& database, const Schema& schema, trace::Trace& trace);

}  // namespace layerscope::ingest::nsys
