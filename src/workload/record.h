#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/string_map.h"
#include "src/json/scanner.h"

namespace layerscope::workload {

/// A number that a list should hold and does not: null, NaN, no number, out of every range.
inline constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();

/// A plain value as the file writes it.
struct Scalar {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kText };
  Kind kind = Kind::kNull;
  std::string text;  ///< "true", digits, or decoded text; empty for null
};

/// Lists of numbers, one behind the other: one a request.
struct NestedList {
  std::vector<int64_t> values;
  std::vector<size_t> ends;  ///< of each list in `values`
};

/// One JSON object of a benchmark's result. Plain values have the path of their keys
/// ("successes/latency/request_latency/mean"); of lists only those of single requests are kept, by
/// their path, so that one of another depth is not taken for the run's own: times in integer
/// nanoseconds, lengths in tokens.
struct Record {
  std::vector<std::string> keys;  ///< of the object itself, in order
  std::vector<std::pair<std::string, Scalar>> scalars;
  std::map<std::string, std::vector<int64_t>, std::less<>> lists;
  NestedList itls;
  std::vector<std::string> errors;
  int64_t n_bad_numbers = 0;  ///< entries of lists that are kUnknown and not null

  bool HasKey(std::string_view key) const;
  /// The last value of that path; null where there is none.
  const Scalar* Find(std::string_view path) const;
  std::optional<std::string_view> Text(std::string_view path) const;
  /// A number (also one in quotes) times 10^power.
  std::optional<int64_t> Number(std::string_view path, int power) const;
  std::optional<double> Real(std::string_view path) const;
  /// The list of that path; empty where there is none.
  const std::vector<int64_t>& List(std::string_view path) const;
};

/// Reads the object whose opening bracket was the scanner's last token. False at its error.
bool ReadRecord(json::Scanner& scanner, Record& record);

/// The value of a number as a double; nullopt where the text is none (NaN and infinities are).
std::optional<double> RealOf(std::string_view text);

}  // namespace layerscope::workload
