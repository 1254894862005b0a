#include <string_view>

#include "src/server/page.h"

// The file that cmake/ViewerBundle.cmake leaves in the build folder: the viewer, or nothing.
__asm__(
    ".section .rodata\n"
    ".global layerscope_viewer_begin\n"
    ".global layerscope_viewer_end\n"
    "layerscope_viewer_begin:\n"
    ".incbin \"" LAYERSCOPE_BUNDLE
    "\"\n"
    "layerscope_viewer_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
extern const char layerscope_viewer_begin[];  // NOLINT(*-avoid-c-arrays)
extern const char layerscope_viewer_end[];    // NOLINT(*-avoid-c-arrays)
}

namespace layerscope::server {

std::string_view ViewerBundle() {
  return {layerscope_viewer_begin,
          static_cast<size_t>(layerscope_viewer_end - layerscope_viewer_begin)};
}

}  // namespace layerscope::server
