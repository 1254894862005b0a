#include "src/ingest/kineto/event_class.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace layerscope::ingest::kineto {
namespace {

constexpr std::array<std::pair<std::string_view, EventClass>, 20> kClasses = {{
    {"kernel", EventClass::kKernel},
    {"gpu_memcpy", EventClass::kMemcpy},
    {"memcpy", EventClass::kMemcpy},
    {"gpu_memset", EventClass::kMemset},
    {"memset", EventClass::kMemset},
    {"cuda_runtime", EventClass::kCall},
    {"hip_runtime", EventClass::kCall},
    {"runtime", EventClass::kCall},
    {"cuda_driver", EventClass::kCall},
    {"hip_driver", EventClass::kCall},
    {"driver", EventClass::kCall},
    {"privateuse1_runtime", EventClass::kCall},
    {"privateuse1_driver", EventClass::kCall},
    {"cpu_op", EventClass::kOp},
    {"operator", EventClass::kOp},
    {"user_annotation", EventClass::kAnnotation},
    {"gpu_user_annotation", EventClass::kGpuAnnotation},
    {"python_function", EventClass::kPythonFunction},
    {"cuda_graph_node", EventClass::kGraphNode},
    {"mtia_ccp_events", EventClass::kForeign},
}};

}  // namespace

EventClass ClassifyCategory(std::string_view cat) {
  std::string lower(cat);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const auto& [name, event_class] : kClasses) {
    if (name == lower) return event_class;
  }
  return lower.rfind("mtia_", 0) == 0 ? EventClass::kForeign : EventClass::kOther;
}

}  // namespace layerscope::ingest::kineto
