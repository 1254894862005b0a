#include "src/document/workload/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "src/base/checked_sum.h"
#include "src/base/format_number.h"
#include "src/table/or_null.h"

namespace layerscope::document {
namespace {

using workload::Request;

struct Span {
  int64_t begin = std::numeric_limits<int64_t>::max();
  int64_t end = std::numeric_limits<int64_t>::min();
  bool empty() const { return end < begin; }
  void Add(int64_t from, int64_t to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  }
  bool Meets(const Span& other) const { return begin <= other.end && other.begin <= end; }
};

Span SpanOf(const std::vector<Request>& requests) {
  Span span;
  for (const Request& request : requests) {
    if (!request.start_ns) continue;
    span.Add(*request.start_ns, base::AddClamped(*request.start_ns, request.e2e_ns.value_or(0)));
  }
  return span;
}

Span SpanOf(const trace::Trace& trace) {
  Span span;
  span.Add(trace.zero_ns, base::AddClamped(trace.zero_ns, trace.end_ns));
  return span;
}

/// Seconds from 1970 are 10 digits; clocks that start with a machine are shorter.
const char* ClockOf(int64_t ns) {
  constexpr int64_t kYear2001 = 1'000'000'000'000'000'000;
  return ns >= kYear2001 ? "from 1970" : "from a zero of its own, as the start of a machine";
}

std::string Seconds(int64_t ns) {
  return base::FormatDecimal(ns / 1'000'000, 3) + " s";
}

std::string Apart(const Span& requests, const Span& trace) {
  if (std::string(ClockOf(requests.begin)) == ClockOf(trace.begin)) {
    return fmt::format(
        "the requests run from {} to {} and the trace from {} to {}: they have no time in common "
        "(layerscope-capture serve-bench records its trace after the benchmark)",
        Seconds(requests.begin), Seconds(requests.end), Seconds(trace.begin), Seconds(trace.end));
  }
  return fmt::format("the benchmark counts time {} and the trace {}: nothing says how they relate",
                     ClockOf(requests.begin), ClockOf(trace.begin));
}

/// Steps come by start and may overlap across threads; their ends are made to ascend.
std::vector<RequestSteps> StepsOf(const std::vector<Request>& requests,
                                  const analysis::RankInput& rank) {
  std::vector<int64_t> starts;
  std::vector<int64_t> ends;  // the largest so far
  for (const attribution::Step& step : rank.attribution->steps) {
    const int64_t start = base::AddClamped(step.start_ns, rank.trace->zero_ns);
    const int64_t end = base::AddClamped(start, step.dur_ns);
    starts.push_back(start);
    ends.push_back(ends.empty() ? end : std::max(ends.back(), end));
  }
  std::vector<RequestSteps> steps(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    const Request& request = requests[i];
    if (!request.start_ns || !request.e2e_ns) continue;
    const int64_t end = base::AddClamped(*request.start_ns, *request.e2e_ns);
    const auto first = std::upper_bound(ends.begin(), ends.end(), *request.start_ns) - ends.begin();
    const auto last = std::lower_bound(starts.begin(), starts.end(), end) - starts.begin();
    if (last > first) steps[i] = {first, last - 1, last - first};
  }
  return steps;
}

}  // namespace

RequestLinks LinkRequests(const std::vector<Request>& requests,
                          const analysis::AnalysisInput& traces) {
  RequestLinks links;
  const Span of_requests = SpanOf(requests);
  if (traces.ranks.empty()) {
    links.reason = "no trace is given";
    links.advice = "name one beside the benchmark";
  } else if (requests.empty()) {
    links.reason = "the benchmark holds no single requests (record it with --save-detailed)";
  } else if (of_requests.empty()) {
    links.reason = "the benchmark does not say when its requests started";
    links.advice = "vllm bench serve --save-detailed does";
  }
  if (!links.reason.empty()) return links;
  for (const analysis::RankInput& rank : traces.ranks) {
    const Span of_trace = SpanOf(*rank.trace);
    if (!of_requests.Meets(of_trace)) {
      if (links.reason.empty()) {
        links.reason = Apart(of_requests, of_trace);
        links.advice = "look at each by its own time";
      }
      continue;
    }
    if (rank.attribution->steps.empty()) {
      links.reason = "the trace has no engine steps";
      links.advice = "profile the engine itself: its steps are ranges in the trace";
      continue;
    }
    links.steps = StepsOf(requests, rank);
    links.linked = std::count_if(links.steps.begin(), links.steps.end(),
                                 [](const RequestSteps& steps) { return steps.n > 0; });
    links.trace = rank.path;
    links.reason = links.linked > 0 ? "" : "no step of the trace ran while a request was in flight";
    links.advice.clear();
    return links;
  }
  return links;
}

table::Object LinksObject(const RequestLinks& links) {
  return {{"linked", links.linked},
          {"trace", table::TextOrNull(links.trace)},
          {"reason", table::TextOrNull(links.reason)}};
}

}  // namespace layerscope::document
