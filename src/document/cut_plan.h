#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "src/analysis/rank_view.h"
#include "src/analysis/selected_host.h"
#include "src/analysis/selection.h"
#include "src/document/host_threads.h"
#include "src/document/process_correlations.h"
#include "src/document/time_spans.h"
#include "src/ingest/kineto/raw_event_reader.h"

namespace layerscope::document {

/// Which events belong to a selection (docs/documents.md, "What cut keeps"): its activities and the
/// calls that launched them; of the host what encloses those calls, what begins in a step that was
/// selected, and what lies in the selected time; of a capture what its thread did from its begin to
/// its end; of replayed work where its graph nodes were captured and what encloses that;
/// annotations of steps as far as they are steps of
/// the selection; flows of kept correlations; all metadata.
class CutPlan {
 public:
  /// `view` has the selection applied and must outlive this.
  CutPlan(const analysis::RankView& view, const analysis::Selection& selection);

  bool Keeps(const ingest::kineto::RawEvent& event);
  /// By row of GraphNodes: a kept activity is a replay of it, or of a clone of it; or it was
  /// captured in what is selected of the host.
  bool KeepsGraphNode(size_t row) const { return graph_node_[row] != 0; }
  /// Nothing of the trace is selected: neither an activity nor a step nor a captured launch.
  bool IsEmpty() const;

 private:
  struct Span {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
  };

  const trace::Trace& trace() const { return view_.trace(); }
  const attribution::Attribution& attr() const { return view_.attribution(); }
  void MarkActivities();
  void MarkCaptures();
  void MarkSteps();
  void MarkCalls();
  void MarkGraphNodes();
  void MarkAnnotations();
  bool WrapsOneKeptStep(size_t annotation) const;
  void CollectInstants();
  void CollectSpans();
  void CollectStreams();

  bool InCapture(trace::ThreadId thread, Span span) const;
  bool EnclosesLaunch(trace::ThreadId thread, Span span) const;
  bool KeepsHost(trace::ThreadId thread, Span span);
  bool KeepsGpuAnnotation(size_t annotation) const;
  bool KeepsOther(const ingest::kineto::RawEvent& event);
  std::optional<Span> SpanOf(const ingest::kineto::RawEvent& event) const;

  const analysis::RankView& view_;
  const analysis::Selection& selection_;
  analysis::SelectedHost host_;
  HostThreads threads_;
  std::vector<uint8_t> activity_;  ///< by row: 1 = kept
  std::vector<uint8_t> call_;
  std::vector<uint8_t> op_;
  std::vector<uint8_t> graph_node_;       ///< by row of GraphNodes
  std::vector<uint8_t> annotation_;       ///< step annotations alone
  std::vector<uint8_t> is_step_;          ///< by annotation: 1 = its name is a step's
  std::vector<uint8_t> step_;             ///< by step: 1 = its annotation is kept
  std::vector<uint8_t> is_host_process_;  ///< 1 = calls or ops stand in it
  std::vector<TimeSpans> captures_;       ///< by thread: times of selected captures
  size_t n_captures_ = 0;
  ProcessCorrelations correlations_;            ///< of kept activities
  std::vector<int64_t> flows_;                  ///< of these, those whose call is kept too, sorted
  std::vector<std::vector<int64_t>> instants_;  ///< by thread: starts of kept launches, sorted
  std::vector<std::vector<uint32_t>> steps_of_process_;  ///< by start
  /// Starts of kept activities, by the process and the stream's label that they are written under.
  std::map<std::tuple<trace::ProcessId, int64_t, trace::StringId>, std::vector<int64_t>> streams_;
  TimeSpans spans_;  ///< times of the selection, for events that stand on no host thread
};

}  // namespace layerscope::document
