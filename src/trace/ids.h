#pragma once

#include <cstdint>

#include "src/base/id.h"

namespace layerscope::trace {

using StringId = base::Id<struct StringTag>;          ///< into StringPool
using ProcessId = base::Id<struct ProcessTag>;        ///< into Trace::processes
using ThreadId = base::Id<struct ThreadTag>;          ///< into Trace::threads
using DeviceId = base::Id<struct DeviceTag>;          ///< into Trace::devices
using StreamId = base::Id<struct StreamTag>;          ///< into Trace::streams
using ArgsId = base::Id<struct ArgsTag>;              ///< into Trace::args
using ActivityId = base::Id<struct ActivityTag>;      ///< row of Activities
using CallId = base::Id<struct CallTag>;              ///< row of Calls
using OpId = base::Id<struct OpTag>;                  ///< row of Ops
using ScopeId = base::Id<struct ScopeTag>;            ///< row of Scopes
using AnnotationId = base::Id<struct AnnotationTag>;  ///< row of Annotations

}  // namespace layerscope::trace
