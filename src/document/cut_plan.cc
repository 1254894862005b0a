#include "src/document/cut_plan.h"

#include <algorithm>
#include <limits>

#include "src/attribution/step.h"
#include "src/base/checked_sum.h"
#include "src/document/capture_calls.h"
#include "src/document/kept_nodes.h"
#include "src/ingest/kineto/decimal_time.h"
#include "src/ingest/kineto/event_class.h"
#include "src/ingest/kineto/token.h"

namespace layerscope::document {
namespace {

using base::AddClamped;
using ingest::kineto::RawEvent;
using ingest::kineto::RowKind;

int64_t EndOf(int64_t start_ns, int64_t dur_ns) {
  return AddClamped(start_ns, std::max<int64_t>(dur_ns, 0));
}

bool AnyIn(const std::vector<int64_t>& sorted, int64_t start_ns, int64_t end_ns) {
  const auto first = std::lower_bound(sorted.begin(), sorted.end(), start_ns);
  return first != sorted.end() && *first <= end_ns;
}

void SortUnique(std::vector<int64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

bool IsFlow(std::string_view ph) {
  return ph == "s" || ph == "t" || ph == "f";
}

}  // namespace

CutPlan::CutPlan(const analysis::RankView& view, const analysis::Selection& selection)
    : view_(view), selection_(selection), host_(view), threads_(view.trace()) {
  MarkActivities();
  MarkCaptures();
  MarkSteps();
  MarkCalls();
  MarkGraphNodes();
  MarkAnnotations();
  CollectInstants();
  CollectSpans();
  CollectStreams();
}

void CutPlan::MarkActivities() {
  activity_.assign(trace().activities.size(), 0);
  op_.assign(trace().ops.size(), 0);
  for (const uint32_t row : view_.rows()) {
    const trace::OpId op = attr().op[row];
    // Ops that a graph replayed stand in no thread of this trace.
    if (op.valid() && op.index() < op_.size()) op_[op.index()] = 1;
    if (view_.cpu_only()) continue;
    activity_[row] = 1;
    correlations_.Add(attr().host_process[row], trace().activities.correlation[row]);
  }
  correlations_.Freeze();
}

/// Captures ran no kernels, so no row stands for them: a selected pass does, where nothing else is
/// asked for that only kernels have.
void CutPlan::MarkCaptures() {
  const layers::LayerStructure* const structure = view_.input().layers;
  const bool by_kernels = selection_.device || selection_.stream || selection_.steps ||
                          selection_.phase || selection_.layer || selection_.module;
  if (structure == nullptr || !selection_.passes || by_kernels) return;
  const CaptureCalls calls(trace());
  captures_.resize(trace().threads.size());
  const auto n_passes = static_cast<int64_t>(structure->passes.size());
  const int64_t last = std::min(selection_.passes->second, n_passes - 1);
  for (int64_t i = std::max<int64_t>(selection_.passes->first, 0); i <= last; ++i) {
    const layers::Pass& pass = structure->passes[static_cast<size_t>(i)];
    if (pass.kind != layers::PassKind::kCapture) continue;
    const std::optional<CapturedTime> of = calls.Around(pass);
    if (!of) continue;
    const bool is_before = selection_.from_ns && of->end_ns < *selection_.from_ns;
    const bool is_after = selection_.to_ns && of->start_ns >= *selection_.to_ns;
    if (is_before || is_after) continue;
    captures_[of->thread.index()].Add(of->start_ns, of->end_ns);
    spans_.Add(of->start_ns, of->end_ns);
    ++n_captures_;
  }
  for (TimeSpans& of_thread : captures_) of_thread.Freeze();
}

/// Steps of selected rows, and those that are selected whole.
void CutPlan::MarkSteps() {
  step_.assign(attr().steps.size(), 0);
  for (const uint32_t row : view_.rows()) {
    const attribution::StepId step = attr().step[row];
    if (step.valid()) step_[step.index()] = 1;
  }
  for (size_t step = 0; step < step_.size(); ++step) {
    if (host_.IsWhole(attribution::StepId(step))) step_[step] = 1;
  }
}

/// A call is kept for a kept activity, or with its step; in a selected time those that launched
/// nothing else.
void CutPlan::MarkCalls() {
  const trace::Calls& calls = trace().calls;
  call_.assign(calls.size(), 0);
  ProcessCorrelations all;
  for (size_t row = 0; row < activity_.size(); ++row) {
    if (view_.cpu_only()) break;
    all.Add(attr().host_process[row], trace().activities.correlation[row]);
  }
  all.Freeze();
  for (size_t i = 0; i < calls.size(); ++i) {
    const trace::ProcessId process = trace().threads[calls.thread[i].index()].process;
    const int64_t correlation = calls.correlation[i];
    const bool launches = correlations_.Has(process, correlation);
    const Span span{calls.start_ns[i], EndOf(calls.start_ns[i], calls.dur_ns[i])};
    const bool keep = launches || host_.InWholeStep(calls.thread[i], span.start_ns) ||
                      (host_.InTime(calls.thread[i], span.start_ns, span.end_ns) &&
                       !all.Has(process, correlation)) ||
                      InCapture(calls.thread[i], span);
    call_[i] = keep ? 1 : 0;
    if (launches) flows_.push_back(correlation);
  }
  SortUnique(flows_);
}

/// Nodes of kept activities, and those that were captured in what is selected of the host: without
/// them a capture is taken for calls that ran.
void CutPlan::MarkGraphNodes() {
  graph_node_ = NodesOfRows(view_);
  const trace::GraphNodes& nodes = trace().graph_nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes.original[i] != trace::kNoGraphNode || !nodes.thread[i].valid()) continue;
    if (host_.Holds(nodes.thread[i], nodes.start_ns[i], nodes.start_ns[i])) graph_node_[i] = 1;
  }
}

/// What a step annotation makes of the cut when it is read: kept where it is a step of the
/// selection or its fields were merged into one; a wrapper of several steps would be merged into
/// the one that is left, so it goes.
void CutPlan::MarkAnnotations() {
  const trace::Annotations& annotations = trace().annotations;
  annotation_.assign(annotations.size(), 0);
  is_step_.assign(annotations.size(), 0);
  for (size_t i = 0; i < attr().steps.size(); ++i) {
    const trace::AnnotationId annotation = attr().steps[i].annotation;
    if (step_[i] != 0 && annotation.valid()) annotation_[annotation.index()] = 1;
  }
  std::vector<uint8_t> own(annotations.size(), 0);
  steps_of_process_.resize(trace().processes.size());
  for (size_t i = 0; i < attr().steps.size(); ++i) {
    const attribution::Step& step = attr().steps[i];
    if (step.annotation.valid()) own[step.annotation.index()] = 1;
    const trace::ProcessId process = trace().threads[step.thread.index()].process;
    steps_of_process_[process.index()].push_back(static_cast<uint32_t>(i));
  }
  for (size_t i = 0; i < annotations.size(); ++i) {
    if (annotations.is_gpu[i] != 0) continue;
    const attribution::StepFamily family =
        attribution::ParseStepName(trace().strings[annotations.name[i]]).family;
    is_step_[i] =
        family != attribution::StepFamily::kNone && family != attribution::StepFamily::kCapture ? 1
                                                                                                : 0;
    if (is_step_[i] != 0 && own[i] == 0 && WrapsOneKeptStep(i)) annotation_[i] = 1;
  }
}

bool CutPlan::WrapsOneKeptStep(size_t annotation) const {
  const trace::Annotations& annotations = trace().annotations;
  const int64_t start_ns = annotations.start_ns[annotation];
  const int64_t end_ns = EndOf(start_ns, annotations.dur_ns[annotation]);
  const trace::ProcessId process = trace().threads[annotations.thread[annotation].index()].process;
  const std::vector<attribution::Step>& steps = attr().steps;
  const std::vector<uint32_t>& candidates = steps_of_process_[process.index()];
  const auto before = [&](uint32_t step, int64_t t_ns) { return steps[step].start_ns < t_ns; };
  const auto first = std::lower_bound(candidates.begin(), candidates.end(), start_ns, before);
  const auto last = std::lower_bound(first, candidates.end(), end_ns, before);
  if (last - first != 1 || step_[*first] == 0) return false;
  const attribution::Step& inside = steps[*first];
  return inside.thread == annotations.thread[annotation] &&
         EndOf(inside.start_ns, inside.dur_ns) <= end_ns;
}

void CutPlan::CollectInstants() {
  const trace::Calls& calls = trace().calls;
  instants_.resize(trace().threads.size());
  is_host_process_.assign(trace().processes.size(), 0);
  const auto mark = [&](trace::ThreadId thread) {
    is_host_process_[trace().threads[thread.index()].process.index()] = 1;
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    mark(calls.thread[i]);
    const trace::ProcessId process = trace().threads[calls.thread[i].index()].process;
    const bool launches = correlations_.Has(process, calls.correlation[i]);
    if (call_[i] != 0 && launches) {
      instants_[calls.thread[i].index()].push_back(calls.start_ns[i]);
    }
  }
  const trace::GraphNodes& nodes = trace().graph_nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const bool captured = graph_node_[i] != 0 && nodes.original[i] == trace::kNoGraphNode;
    if (captured && nodes.thread[i].valid()) {
      instants_[nodes.thread[i].index()].push_back(nodes.start_ns[i]);
    }
  }
  for (const trace::ThreadId thread : trace().ops.thread) mark(thread);
  if (view_.cpu_only()) {
    for (const uint32_t row : view_.rows()) {
      const trace::ThreadId thread = attr().thread[row];
      if (!thread.valid()) continue;
      instants_[thread.index()].push_back(view_.activities().start_ns[row]);
    }
  }
  for (std::vector<int64_t>& instants : instants_) SortUnique(instants);
}

/// The times of whole steps and of what each kept step ran on the GPU, the selected time, and kept
/// activities of no step.
void CutPlan::CollectSpans() {
  const std::vector<attribution::Step>& steps = attr().steps;
  std::vector<std::optional<Span>> gpu(steps.size());
  const trace::Activities& activities = view_.activities();
  for (const uint32_t row : view_.rows()) {
    const Span span{activities.start_ns[row],
                    EndOf(activities.start_ns[row], activities.dur_ns[row])};
    const attribution::StepId step = attr().step[row];
    if (!step.valid()) {
      spans_.Add(span.start_ns, span.end_ns);
      continue;
    }
    std::optional<Span>& of_step = gpu[step.index()];
    if (!of_step) of_step = span;
    of_step->start_ns = std::min(of_step->start_ns, span.start_ns);
    of_step->end_ns = std::max(of_step->end_ns, span.end_ns);
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    if (gpu[i]) spans_.Add(gpu[i]->start_ns, gpu[i]->end_ns);
    if (host_.IsWhole(attribution::StepId(i))) {
      spans_.Add(steps[i].start_ns, EndOf(steps[i].start_ns, steps[i].dur_ns));
    }
  }
  if (selection_.from_ns || selection_.to_ns) {
    spans_.Add(selection_.from_ns.value_or(std::numeric_limits<int64_t>::min()),
               selection_.to_ns.value_or(std::numeric_limits<int64_t>::max()));
  }
  spans_.Freeze();
}

void CutPlan::CollectStreams() {
  if (view_.cpu_only()) return;
  const trace::Activities& activities = trace().activities;
  for (const uint32_t row : view_.rows()) {
    const trace::Label& stream = trace().streams[activities.stream[row].index()].id;
    streams_[{activities.process[row], stream.number, stream.text}].push_back(
        activities.start_ns[row]);
  }
  for (auto& [key, starts] : streams_) SortUnique(starts);
}

/// What touches a capture on the thread that it was recorded on.
bool CutPlan::InCapture(trace::ThreadId thread, Span span) const {
  return !captures_.empty() && captures_[thread.index()].Overlaps(span.start_ns, span.end_ns);
}

bool CutPlan::EnclosesLaunch(trace::ThreadId thread, Span span) const {
  return AnyIn(instants_[thread.index()], span.start_ns, span.end_ns);
}

bool CutPlan::KeepsHost(trace::ThreadId thread, Span span) {
  return host_.Holds(thread, span.start_ns, span.end_ns) || EnclosesLaunch(thread, span) ||
         InCapture(thread, span);
}

/// The GPU's view of an annotation: kept when a kept activity of its stream starts in it.
bool CutPlan::KeepsGpuAnnotation(size_t annotation) const {
  const trace::Annotations& annotations = trace().annotations;
  const trace::Thread& thread = trace().threads[annotations.thread[annotation].index()];
  const int64_t start_ns = annotations.start_ns[annotation];
  const int64_t end_ns = EndOf(start_ns, annotations.dur_ns[annotation]);
  const auto stream = streams_.find({thread.process, thread.tid.number, thread.tid.text});
  return stream != streams_.end() && AnyIn(stream->second, start_ns, end_ns);
}

bool CutPlan::IsEmpty() const {
  return view_.rows().empty() && n_captures_ == 0 &&
         std::find(step_.begin(), step_.end(), 1) == step_.end();
}

bool CutPlan::Keeps(const RawEvent& event) {
  const size_t row = event.row;
  const auto host = [&](const auto& columns) {
    return KeepsHost(columns.thread[row],
                     {columns.start_ns[row], EndOf(columns.start_ns[row], columns.dur_ns[row])});
  };
  switch (event.kind) {
    case RowKind::kActivity:
      return activity_[row] != 0;
    case RowKind::kCall:
      return call_[row] != 0;
    case RowKind::kOp:
      return op_[row] != 0 || host(trace().ops);
    case RowKind::kScope:
      return host(trace().RecordedScopes());
    case RowKind::kAnnotation:
      if (trace().annotations.is_gpu[row] != 0) return KeepsGpuAnnotation(row);
      return is_step_[row] != 0 ? annotation_[row] != 0 : host(trace().annotations);
    case RowKind::kNone:
      break;
  }
  return KeepsOther(event);
}

std::optional<CutPlan::Span> CutPlan::SpanOf(const RawEvent& event) const {
  using ingest::kineto::DecimalTime;
  using ingest::kineto::TimeStatus;
  const auto parse = [](std::string_view token) -> std::optional<int64_t> {
    const DecimalTime time = ingest::kineto::ParseMicroseconds(token);
    const bool good = time.status == TimeStatus::kExact || time.status == TimeStatus::kRounded;
    return good ? std::optional<int64_t>(time.ns) : std::nullopt;
  };
  const std::optional<int64_t> ts_ns = parse(event.fields.ts);
  if (!ts_ns) return std::nullopt;
  int64_t start_ns = 0;
  if (__builtin_sub_overflow(*ts_ns, trace().zero_ns, &start_ns)) return std::nullopt;
  return Span{start_ns, EndOf(start_ns, parse(event.fields.dur).value_or(0))};
}

/// Events without a row: flows by what they join, frames of Python by the launches they enclose,
/// everything else by when it begins.
bool CutPlan::KeepsOther(const RawEvent& event) {
  const std::string_view ph = ingest::kineto::Unquoted(event.fields.ph);
  if (ph == "M") return true;
  const std::string_view cat = ingest::kineto::Unquoted(event.fields.cat);
  if (ingest::kineto::ClassifyCategory(cat) == ingest::kineto::EventClass::kGraphNode) return true;
  if (IsFlow(ph) && cat != "fwdbwd") {
    const std::optional<int64_t> id = ingest::kineto::ParseInteger(event.fields.id);
    return id && std::binary_search(flows_.begin(), flows_.end(), *id);
  }
  const std::optional<Span> span = SpanOf(event);
  if (!span) return false;
  const trace::ThreadId thread = threads_.Find(event.fields.pid, event.fields.tid);
  const bool on_host =
      thread.valid() && is_host_process_[trace().threads[thread.index()].process.index()] != 0;
  const bool is_frame =
      ingest::kineto::ClassifyCategory(cat) == ingest::kineto::EventClass::kPythonFunction;
  if (on_host && is_frame) return KeepsHost(thread, *span);
  if (on_host) {
    const Span begin{span->start_ns, span->start_ns};
    return host_.Holds(thread, span->start_ns, span->start_ns) || InCapture(thread, begin);
  }
  return spans_.Contains(span->start_ns);
}

}  // namespace layerscope::document
