#include "src/analysis/process_ranks.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace layerscope::analysis {
namespace {

/// Processes on whose threads the host side of the program runs; of an Nsight Systems trace those
/// that used a GPU, for there every process of the machine has a host side.
std::vector<trace::ProcessId> HostProcesses(const trace::Trace& trace) {
  std::vector<uint8_t> thread_used(trace.threads.size(), 0);
  const auto mark = [&](const std::vector<trace::ThreadId>& threads) {
    for (const trace::ThreadId thread : threads) {
      if (thread.valid()) thread_used[thread.index()] = 1;
    }
  };
  mark(trace.calls.thread);
  mark(trace.ops.thread);
  mark(trace.scopes.thread);
  std::vector<uint8_t> process_used(trace.processes.size(), 0);
  for (size_t i = 0; i < thread_used.size(); ++i) {
    const trace::ProcessId process = trace.threads[i].process;
    if (thread_used[i] != 0 && process.valid()) process_used[process.index()] = 1;
  }
  if (trace.format == trace::TraceFormat::kNsys && trace.activities.size() > 0) {
    std::fill(process_used.begin(), process_used.end(), uint8_t{0});
    for (const trace::ProcessId process : trace.activities.process) {
      process_used[process.index()] = 1;
    }
  }
  std::vector<trace::ProcessId> hosts;
  for (size_t i = 0; i < process_used.size(); ++i) {
    if (process_used[i] != 0) hosts.emplace_back(i);
  }
  // Numbers first, then text.
  std::stable_sort(hosts.begin(), hosts.end(), [&](trace::ProcessId a, trace::ProcessId b) {
    const trace::Label& x = trace.processes[a.index()].pid;
    const trace::Label& y = trace.processes[b.index()].pid;
    return std::tuple(x.text.valid(), x.number, trace.strings[x.text]) <
           std::tuple(y.text.valid(), y.number, trace.strings[y.text]);
  });
  return hosts;
}

}  // namespace

std::optional<int64_t> RankInLabel(std::string_view label) {
  const size_t at = label.find("TP-");
  if (at == std::string_view::npos) return std::nullopt;
  int64_t rank = 0;
  const char* const begin = label.data() + at + 3;
  const auto [end, error] = std::from_chars(begin, label.data() + label.size(), rank);
  if (error != std::errc() || end == begin || rank < 0) return std::nullopt;
  return rank;
}

ProcessRanks RanksOfProcesses(const RankInput& input) {
  const trace::Trace& trace = *input.trace;
  ProcessRanks result;
  result.hosts = HostProcesses(trace);
  result.rank_of.assign(trace.processes.size(), input.rank);
  bool any_told = false;
  for (const trace::ProcessId host : result.hosts) {
    const std::optional<int64_t>& told = trace.processes[host.index()].rank;
    if (!told) continue;
    result.rank_of[host.index()] = told;
    any_told = true;
  }
  if (any_told || input.rank || !result.many()) return result;
  std::vector<std::optional<int64_t>> labelled;
  for (const trace::ProcessId host : result.hosts) {
    labelled.push_back(RankInLabel(trace.LabelText(trace.processes[host.index()].pid)));
  }
  const bool all_labelled = std::all_of(labelled.begin(), labelled.end(),
                                        [](const auto& rank) { return rank.has_value(); });
  for (size_t i = 0; i < result.hosts.size(); ++i) {
    result.rank_of[result.hosts[i].index()] = all_labelled ? labelled[i] : static_cast<int64_t>(i);
  }
  return result;
}

}  // namespace layerscope::analysis
