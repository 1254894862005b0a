#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/trace/trace.h"

namespace layerscope::document {

/// The pieces of which an event's text is made.

/// `text` as a JSON string.
std::string Quoted(std::string_view text);
/// Nanoseconds as the decimal microseconds of traces, exactly.
std::string MicrosecondText(int64_t ns);
/// The time of a row as its file writes it, of the time relative to the trace's zero.
int64_t AbsoluteNs(const trace::Trace& trace, int64_t start_ns);
/// A pid, tid, device or stream: a number, or a JSON string.
std::string LabelJson(const trace::Trace& trace, const trace::Label& label);

}  // namespace layerscope::document
