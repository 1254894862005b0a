#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/ingest/nsys/database.h"

namespace layerscope::ingest::nsys {

/// Which tables of an export there are, and which columns of those that are read. Exports leave
/// out tables without rows, and versions differ in columns: whoever reads a table asks here first.
class Schema {
 public:
  /// kDamaged when the list of tables cannot be read to its end; what was read of it is kept.
  Step Load(const Database& database);

  bool HasTable(std::string_view table) const { return columns_.contains(table); }
  bool HasColumn(std::string_view table, std::string_view column) const;
  /// True when SQLite's own row number can be read, by the name kRowNumber.
  bool HasRowNumbers(std::string_view table) const;
  /// All tables that hold rows of their own (no views), in the file's order, the first few.
  const std::vector<std::string>& tables() const { return tables_; }
  int64_t n_tables() const { return n_tables_; }
  /// Tables that are listed but whose columns cannot be read: their place in the file is damaged.
  const std::vector<std::string>& damaged_tables() const { return damaged_tables_; }
  bool IsExport() const;

 private:
  void LoadColumns(const Database& database, const std::string& table);

  std::vector<std::string> tables_;
  std::vector<std::string> damaged_tables_;
  int64_t n_tables_ = 0;
  /// Of the tables that are read.
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> columns_;
  std::set<std::string, std::less<>> without_row_numbers_;
};

inline constexpr std::string_view kRowNumber = "_rowid_";

inline constexpr std::string_view kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
inline constexpr std::string_view kMemcpys = "CUPTI_ACTIVITY_KIND_MEMCPY";
inline constexpr std::string_view kMemsets = "CUPTI_ACTIVITY_KIND_MEMSET";
inline constexpr std::string_view kGraphTraces = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
inline constexpr std::string_view kRuntimeCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";
inline constexpr std::string_view kNvtxEvents = "NVTX_EVENTS";
inline constexpr std::string_view kGraphNodeEvents = "CUDA_GRAPH_NODE_EVENTS";
/// In 2022 the table of graph nodes; later, with other columns, of whole graphs.
inline constexpr std::string_view kGraphEvents = "CUDA_GRAPH_EVENTS";
inline constexpr std::string_view kStrings = "StringIds";
inline constexpr std::string_view kThreadNames = "ThreadNames";
inline constexpr std::string_view kProcesses = "PROCESSES";
inline constexpr std::string_view kMpiRanks = "MPI_RANKS";
inline constexpr std::string_view kExportMetadata = "META_DATA_EXPORT";
/// The same until 2023.1.
inline constexpr std::string_view kOldExportMetadata = "EXPORT_META_DATA";
inline constexpr std::string_view kCaptureMetadata = "META_DATA_CAPTURE";
inline constexpr std::string_view kSessionStart = "TARGET_INFO_SESSION_START_TIME";
inline constexpr std::string_view kGpus = "TARGET_INFO_GPU";
inline constexpr std::string_view kCudaDevices = "TARGET_INFO_CUDA_DEVICE";
inline constexpr std::string_view kSystemEnv = "TARGET_INFO_SYSTEM_ENV";
inline constexpr std::string_view kDiagnostics = "DIAGNOSTIC_EVENT";

}  // namespace layerscope::ingest::nsys
