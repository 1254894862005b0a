#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/table/result.h"

namespace layerscope::document {

inline constexpr std::string_view kRequestMetadataName = "request_metadata.json";

/// What request_metadata.json says of one request (formats/outputs.md); absent: not said.
struct RequestEntry {
  std::string file;                  ///< as written, relative to the metadata
  std::optional<std::string> label;  ///< "Fast", "Typical" or "Slow"
  std::optional<double> percentile;
  std::optional<int64_t> prompt_tokens;
  std::optional<int64_t> output_tokens;
  std::optional<int64_t> latency_ns;
  std::optional<int64_t> source_index;
};

struct RequestMetadata {
  std::string path;
  std::string model;   ///< empty: not said
  std::string engine;  ///< empty: not said
  std::string mode;    ///< "eager" or "compiled"; empty: not said
  std::vector<RequestEntry> requests;
  std::vector<table::HealthEntry> health;  ///< entries that could not be used, each kind once
};

/// Reads the text of a request_metadata.json; `path` names it in messages. kInvalidInput when it is
/// no JSON object with a list `requests`, or of another version. Entries without a file and second
/// entries of one file are left out, and said; labels that are none of the three are dropped.
base::Result<RequestMetadata> ParseRequestMetadata(std::string_view text, const std::string& path);

/// The same from a file.
base::Result<RequestMetadata> LoadRequestMetadata(const std::string& path);

}  // namespace layerscope::document
