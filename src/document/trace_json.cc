#include "src/document/trace_json.h"

#include <fmt/format.h>

#include "src/base/checked_sum.h"
#include "src/base/format_number.h"
#include "src/json/writer.h"

namespace layerscope::document {

std::string Quoted(std::string_view text) {
  std::string quoted;
  json::AppendQuoted(text, &quoted);
  return quoted;
}

std::string MicrosecondText(int64_t ns) {
  return base::FormatDecimal(ns, 3);
}

int64_t AbsoluteNs(const trace::Trace& trace, int64_t start_ns) {
  return base::AddClamped(trace.zero_ns, start_ns);
}

std::string LabelJson(const trace::Trace& trace, const trace::Label& label) {
  return label.text.valid() ? Quoted(trace.strings[label.text]) : fmt::format("{}", label.number);
}

}  // namespace layerscope::document
