#pragma once

namespace layerscope::attribution {

/// GraphAlignment::source of graphs that got their modules from eager steps of the same trace, and
/// of no file beside it.
inline constexpr char kOwnEagerSteps[] = "this trace's own eager steps";

}  // namespace layerscope::attribution
