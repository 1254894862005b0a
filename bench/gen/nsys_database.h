#pragma once
// Writes a run as the SQLite database that `nsys export` would make of it.

#include <sqlite3.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/gen/nsys_options.h"
#include "bench/gen/nsys_rows.h"
#include "bench/gen/nsys_table_writer.h"
#include "bench/gen/nsys_truth.h"
#include "bench/gen/random.h"

namespace layerscope::gen {

// Absolute time of the session's begin.
inline constexpr int64_t kNsysSessionStart = 1775078550000000000;
std::string_view NsysGpuName();

class NsysDatabase {
 public:
  NsysDatabase() = default;
  NsysDatabase(const NsysDatabase&) = delete;
  NsysDatabase& operator=(const NsysDatabase&) = delete;
  ~NsysDatabase();

  bool Open(const NsysOptions& options, const NsysNames& names, std::string* error);
  // Rows of all processes since the last call, in order of time.
  void Write(const std::vector<NsysRowsOf>& all);
  // The small tables, and the names.
  bool Finish(const NsysTruth& truth, std::string* error);

 private:
  NsysTableWriter& Table(std::string_view name, const std::vector<std::string_view>& columns);
  bool Has(std::string_view table) const;
  void WriteRanges(const NsysPlace& place, const NsysRange& range);
  void WriteCall(const NsysPlace& place, const NsysCall& call);
  void WriteActivity(const NsysPlace& place, const NsysActivity& activity);
  void WriteNode(const NsysPlace& place, const NsysNode& node);
  void WriteKernel(const NsysPlace& place, const NsysActivity& activity);
  void WriteCopy(const NsysPlace& place, const NsysActivity& activity);
  void WriteDomains(const NsysRankTruth& rank);
  void WriteProcess(const NsysRankTruth& rank);
  void WriteSession(const NsysTruth& truth);
  void WriteGpu(const NsysRankTruth& rank);
  void WriteNames();
  int64_t ShortName(int32_t name);

  const NsysOptions* o_ = nullptr;
  const NsysNames* names_ = nullptr;
  sqlite3* database_ = nullptr;
  std::vector<NsysTable> tables_;
  std::map<std::string, std::unique_ptr<NsysTableWriter>, std::less<>> writers_;
  std::map<std::string, int64_t, std::less<>> own_names_;  // beside those of the run
  std::vector<int64_t> short_names_;                       // by name, 0: not asked for yet
  Random random_{1};
};

}  // namespace layerscope::gen
