#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/analysis/rank_view.h"
#include "src/ingest/kineto/raw_event_reader.h"

namespace layerscope::document {

/// The part of a trace of several processes that --rank or --pid choose: what they did on the host
/// and what they ran. What belongs to no process that is left out is kept.
class ProcessChoice {
 public:
  /// `view` holds the rows of the chosen processes, and must outlive this.
  explicit ProcessChoice(const analysis::RankView& view);

  bool Keeps(const ingest::kineto::RawEvent& event);
  /// Part of it, or of none that is left out: only names stand there.
  bool KeepsProcess(trace::ProcessId process) const { return left_out_[process.index()] == 0; }

 private:
  bool KeepsAnnotation(size_t row) const;
  bool KeepsPid(std::string_view pid_token);

  const analysis::RankView& view_;
  std::vector<uint8_t> activity_;  ///< by row: selected
  std::vector<uint8_t> left_out_;  ///< by ProcessId
  /// Streams that run activities, as process and thread: 1 where a selected one does.
  std::unordered_map<std::string, uint8_t> streams_;
  std::unordered_map<std::string, trace::ProcessId> process_of_label_;
  std::string last_pid_;
  bool keeps_last_ = true;
};

}  // namespace layerscope::document
