#include "src/attribution/host_processes.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "src/attribution/process_tag.h"
#include "src/base/string_map.h"

namespace layerscope::attribution {
namespace {

/// 1 for the processes whose threads have rows in one of `columns`.
std::vector<uint8_t> ProcessesOf(const trace::Trace& trace,
                                 const std::vector<const std::vector<trace::ThreadId>*>& columns) {
  std::vector<uint8_t> thread_has(trace.threads.size(), 0);
  for (const auto* const column : columns) {
    for (const trace::ThreadId thread : *column) thread_has[thread.index()] = 1;
  }
  std::vector<uint8_t> has(trace.processes.size(), 0);
  for (size_t i = 0; i < thread_has.size(); ++i) {
    if (thread_has[i] != 0) has[trace.threads[i].process.index()] = 1;
  }
  return has;
}

}  // namespace

HostProcesses::HostProcesses(const trace::Trace& trace)
    : own_hosts_(trace.format == trace::TraceFormat::kNsys) {
  FindFamilies(trace);
  FindHosts(trace);
}

void HostProcesses::FindFamilies(const trace::Trace& trace) {
  base::StringMap<trace::ProcessId> first_of_tag;
  for (size_t i = 0; i < trace.processes.size(); ++i) {
    const trace::Label& pid = trace.processes[i].pid;
    const std::string_view tag =
        own_hosts_ ? std::string_view() : ProcessTag(trace.strings[pid.text]);
    const trace::ProcessId self(i);
    family_.push_back(tag.empty() ? self : first_of_tag.try_emplace(tag, self).first->second);
    has_tag_.push_back(tag.empty() ? 0 : 1);
    has_bracket_tag_.push_back(IsBracketTag(tag) ? 1 : 0);
  }
}

void HostProcesses::FindHosts(const trace::Trace& trace) {
  const std::vector<uint8_t> calls = ProcessesOf(trace, {&trace.calls.thread});
  const std::vector<uint8_t> hosts =
      ProcessesOf(trace, {&trace.calls.thread, &trace.ops.thread, &trace.scopes.thread});
  family_calls_.resize(trace.processes.size(), 0);
  first_host_.resize(trace.processes.size());
  size_t n_callers = 0;
  size_t n_hosts = 0;
  for (size_t i = 0; i < trace.processes.size(); ++i) {
    const size_t family = family_[i].index();
    if (calls[i] != 0) {
      ++n_callers;
      family_calls_[family] = 1;
      all_callers_bracketed_ = all_callers_bracketed_ && has_bracket_tag_[i] != 0;
    }
    if (hosts[i] != 0) {
      only_host_ = n_hosts++ == 0 ? trace::ProcessId(i) : trace::ProcessId();
      if (!first_host_[family].valid()) first_host_[family] = trace::ProcessId(i);
    }
  }
  several_callers_ = n_callers > 1;
}

void HostProcesses::LearnOwnHosts(const trace::Trace& trace,
                                  const std::vector<trace::CallId>& launch) {
  enum : uint8_t { kUnknown, kOwn, kOthers };
  std::vector<uint8_t> launched_by(trace.processes.size(), kUnknown);
  for (size_t row = 0; row < launch.size(); ++row) {
    if (!launch[row].valid()) continue;
    const trace::ThreadId thread = trace.calls.thread[launch[row].index()];
    const trace::ProcessId process = trace.activities.process[row];
    const bool is_own = trace.threads[thread.index()].process == process;
    uint8_t& by = launched_by[process.index()];
    by = std::max<uint8_t>(by, is_own ? kOwn : kOthers);
  }
  is_own_host_.assign(trace.processes.size(), 0);
  for (size_t i = 0; i < launched_by.size(); ++i) is_own_host_[i] = launched_by[i] == kOwn ? 1 : 0;
}

bool HostProcesses::FamilyIsKnown(trace::ProcessId process) const {
  const size_t i = process.index();
  return own_hosts_ || (has_tag_[i] != 0 && family_calls_[family_[i].index()] != 0) ||
         (has_bracket_tag_[i] != 0 && all_callers_bracketed_);
}

trace::ProcessId HostProcesses::HostOf(trace::ProcessId process) const {
  if (own_hosts_) return process;
  if (!is_own_host_.empty() && is_own_host_[process.index()] != 0) return process;
  if (only_host_.valid() || has_tag_[process.index()] == 0) return only_host_;
  return first_host_[family_[process.index()].index()];
}

}  // namespace layerscope::attribution
