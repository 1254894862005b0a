#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/base/stop_flag.h"
#include "src/session/view_source.h"

namespace layerscope::server {

inline constexpr size_t kDefaultReportBytes = size_t{20} << 20;

/// The viewer with its data in one page, and what was left out so that it stays within its size.
struct OneFileReport {
  std::string html;
  size_t n_slices = 0;  ///< envelopes (also of errors) and documents in it
  std::vector<session::ViewCut> cuts;
};

/// Asks for what the viewer asks for (docs/view.md lists it), in the order of how much a reader
/// would miss it, while the page stays within `max_bytes`. Errors of single figures and
/// documents stand in the page in their place, as the envelope that a server would answer; kFailed
/// without a viewer in the program, or when not even the first figures fit.
base::Result<OneFileReport> BuildReport(const session::ViewSource& source, size_t max_bytes,
                                        const base::StopFlag* stop);

/// A JSON text without the white space between its tokens.
std::string WithoutSpaces(std::string_view json);

}  // namespace layerscope::server
