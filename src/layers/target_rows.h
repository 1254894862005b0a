#pragma once

#include <cstdint>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/base/result.h"
#include "src/layers/find_layers.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// The activities in which layers are looked for: one device, one host process.
struct TargetRows {
  trace::DeviceId device;      ///< invalid: no kernel ran
  trace::ProcessId process;    ///< host side; may be invalid
  std::vector<uint32_t> rows;  ///< activities of the device, by (start, file order)
};

/// Applies --pid, --device and --stream. kFailed when kernels of several devices or of several host
/// processes are left, saying which exist and which option chooses; kNotFound for a pid, device or
/// stream that is not in the trace.
base::Result<TargetRows> ChooseTarget(const trace::Trace& trace,
                                      const attribution::Attribution& attribution,
                                      const LayerOptions& options);

}  // namespace layerscope::layers
