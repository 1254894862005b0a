#include "bench/gen/step_scope.h"

#include <string>
#include <utility>

#include "bench/gen/event_text.h"

namespace layerscope::gen {

StepScope::StepScope(Process* process, CpuThread* thread, std::string_view name,
                     const StepFields& fields, int64_t main_stream, Origin origin)
    : p_(*process),
      thread_(*thread),
      name_(name),
      main_stream_(main_stream),
      origin_(origin),
      annotation_(thread->Annotation(name)),
      external_id_(p_.recording.next_external_id - 1) {
  StepTruth truth;
  truth.name = std::string(name);
  truth.tid = thread_.tid() + kProcessStride * origin.process;
  truth.start_ns = thread_.now_ns();
  truth.fields = fields;
  p_.step = p_.truth.OpenStep(std::move(truth));
  p_.step_tid = thread_.tid();
}

StepScope::~StepScope() {
  AddGpuAnnotation();
  annotation_.Close();
  p_.truth.CloseStep(p_.step, thread_.now_ns());
  p_.step = -1;
}

void StepScope::AddGpuAnnotation() {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  if (p_.options.old_format || !p_.truth.StepSpan(main_stream_, &start_ns, &end_ns)) return;
  Event& event = p_.recording.Add(EventKind::kGpuAnnotation);
  event.name = name_;
  event.external_id = external_id_;
  event.start_ns = start_ns;
  event.duration_ns = end_ns - start_ns;
  event.tid = main_stream_;
  event.device = origin_.device;
  event.process = origin_.process;
  p_.truth.AddAnnotation();
}

}  // namespace layerscope::gen
