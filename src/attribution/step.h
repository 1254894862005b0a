#pragma once

#include <cstdint>

#include "src/attribution/step_name.h"
#include "src/base/id.h"
#include "src/trace/ids.h"

namespace layerscope::attribution {

using StepId = base::Id<struct StepTag>;

/// One engine step of one thread: bounds of the innermost engine annotation, fields of the nested
/// ones merged into it.
struct Step {
  trace::AnnotationId annotation;  ///< the innermost one: it gives name, thread, start and length
  StepFamily family = StepFamily::kNone;  ///< of that annotation
  trace::StringId name;
  trace::ThreadId thread;
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  StepFields fields;
  int64_t n_launches = 0;  ///< calls named Launch that belong to it, on all threads of the process
};

}  // namespace layerscope::attribution
