#pragma once
// What tells the modules of replayed kernels besides capture traces.

#include <string>
#include <vector>

#include "bench/gen/replay_capture.h"
#include "bench/gen/replay_host.h"

namespace layerscope::gen {

// {graph node id: [dict]}, the `name` of the last dict that has one being the module's path.
std::string RenderGraphAnnotations(const std::vector<CapturedGraph>& graphs);
// model_tree.json of the modules below the root of the served model.
std::string RenderModelTree(const ModuleNumbers& numbers);
// The model's config.json as far as it says anything of its layers.
std::string RenderModelConfig(const ReplayOptions& options);

}  // namespace layerscope::gen
