#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/workload/prometheus_text.h"

namespace layerscope::workload {

/// One line of a dump: name{label="value",…} value [timestamp] [# exemplar].
struct Sample {
  std::string_view name;
  Labels labels;
  std::string_view value;  ///< as written
  double number = 0;
};

/// nullopt where the line is no sample.
std::optional<Sample> ParseSample(std::string_view line);

/// A value as Prometheus writes it: a float, NaN, +Inf, -Inf, Inf.
std::optional<double> ParseValue(std::string_view text);

/// The text of HELP and of labels: \\, \n and \" stand for themselves escaped.
std::string Unescaped(std::string_view text);

}  // namespace layerscope::workload
