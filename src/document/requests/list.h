#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/base/result.h"
#include "src/document/requests/metadata.h"
#include "src/table/result.h"

namespace layerscope::document {

/// One trace, and what the metadata says of it.
struct Request {
  const analysis::RankInput* trace = nullptr;
  std::optional<RequestEntry> entry;
  std::string name() const;  ///< of the file, without its directory
};

struct RequestList {
  std::vector<RequestMetadata> metadata;  ///< of each directory that has one
  std::vector<Request> requests;  ///< in the order of the metadata, then the others as they come
  std::vector<table::HealthEntry> health;
};

/// Finds the request_metadata.json in each directory of `inputs`, or beside the files, and brings
/// the traces that were read into its order. What it names and is not there, and traces that it
/// does not name, are said in `health`. kInvalidInput for metadata that cannot be read.
base::Result<RequestList> ListRequests(const analysis::AnalysisInput& input,
                                       const std::vector<std::string>& inputs);

/// The metadata that ListRequests would read, whether it exists or not.
std::vector<std::string> RequestMetadataPaths(const std::vector<std::string>& inputs);

}  // namespace layerscope::document
