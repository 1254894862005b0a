#pragma once
// A step while it is open: its annotation, and the step that Truth counts activities into.

#include <cstdint>
#include <string_view>

#include "bench/gen/cpu_thread.h"

namespace layerscope::gen {

class StepScope {
 public:
  // `name` must outlive the process's recording.
  StepScope(Process* process, CpuThread* thread, std::string_view name, const StepFields& fields,
            int64_t main_stream, Origin origin = {});
  StepScope(const StepScope&) = delete;
  StepScope& operator=(const StepScope&) = delete;
  ~StepScope();

 private:
  void AddGpuAnnotation();

  Process& p_;
  CpuThread& thread_;
  std::string_view name_;
  int64_t main_stream_;
  Origin origin_;
  CpuThread::Scope annotation_;
  int64_t external_id_;
};

}  // namespace layerscope::gen
