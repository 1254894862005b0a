#include "src/attribution/plain_ranges.h"

#include <cctype>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "src/attribution/path_parts.h"
#include "src/attribution/step_name.h"

namespace layerscope::attribution {
namespace {

enum class RangeName : uint8_t { kUnknown, kOther, kModule, kPath };

/// "model.layers.0.mlp": words joined by dots.
bool IsDotted(std::string_view name) {
  if (name.size() > kLongestPath) return false;
  bool after_dot = true;
  bool any_dot = false;
  for (const char c : name) {
    const bool is_dot = c == '.';
    const bool is_word = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (is_dot ? after_dot : !is_word) return false;
    any_dot |= is_dot;
    after_dot = is_dot;
  }
  return any_dot && !after_dot;
}

/// A dotted name is a whole path when what stands before one of its dots is a name of the file too:
/// "model.layers.0" beside "model". "layers.0" inside "model" is a part of one.
bool BeginsWithAnother(const trace::Trace& trace, const std::vector<uint8_t>& is_plain,
                       std::string_view name) {
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    const trace::StringId above = trace.strings.Find(name.substr(0, dot));
    if (above.valid() && is_plain[above.index()] != 0) return true;
  }
  return false;
}

RangeName Classify(const trace::Trace& trace, const std::vector<uint8_t>& is_plain,
                   std::string_view name) {
  if (name.empty() || ParseStepName(name).family != StepFamily::kNone) return RangeName::kOther;
  const bool is_path = IsDotted(name) && BeginsWithAnother(trace, is_plain, name);
  return is_path ? RangeName::kPath : RangeName::kModule;
}

/// By StringId, of the names of plain ranges.
std::vector<RangeName> ClassifyNames(const trace::Trace& trace) {
  std::vector<RangeName> names(trace.strings.size(), RangeName::kUnknown);
  const trace::Annotations& rows = trace.annotations;
  std::vector<uint8_t> is_plain(trace.strings.size(), 0);
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows.IsPlainRange(row)) is_plain[rows.name[row].index()] = 1;
  }
  for (size_t row = 0; row < rows.size(); ++row) {
    RangeName& name = names[rows.name[row].index()];
    if (!rows.IsPlainRange(row) || name != RangeName::kUnknown) continue;
    name = Classify(trace, is_plain, trace.strings[rows.name[row]]);
  }
  return names;
}

}  // namespace

void TakePlainRanges(trace::Trace& trace) {
  trace::Annotations& from = trace.annotations;
  if (trace.scopes.size() > 0 || from.is_plain_range.empty()) return;
  const std::vector<RangeName> names = ClassifyNames(trace);
  trace::Annotations kept;
  for (size_t row = 0; row < from.size(); ++row) {
    const RangeName name = names[from.name[row].index()];
    const bool names_a_module = name == RangeName::kModule || name == RangeName::kPath;
    if (from.IsPlainRange(row) && names_a_module) {
      trace.scopes.start_ns.push_back(from.start_ns[row]);
      trace.scopes.dur_ns.push_back(from.dur_ns[row]);
      trace.scopes.name.push_back(from.name[row]);
      trace.scopes.thread.push_back(from.thread[row]);
      trace.scopes.is_path.push_back(name == RangeName::kPath ? 1 : 0);
      continue;
    }
    kept.start_ns.push_back(from.start_ns[row]);
    kept.dur_ns.push_back(from.dur_ns[row]);
    kept.name.push_back(from.name[row]);
    kept.thread.push_back(from.thread[row]);
    kept.is_gpu.push_back(from.is_gpu[row]);
    kept.is_op.push_back(from.is_op[row]);
  }
  from = std::move(kept);
}

}  // namespace layerscope::attribution
