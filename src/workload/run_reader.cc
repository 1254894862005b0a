#include "src/workload/run_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "src/workload/aggregates.h"
#include "src/workload/decimal.h"

namespace layerscope::workload {
namespace {

/// Parameters kept of one run, and the length of one: a result has about thirty.
constexpr size_t kMostParameters = 200;
constexpr size_t kMostAggregates = 1000;
constexpr size_t kLongestText = 200;

/// What ListNumber of record.cc takes; a longer time is more likely another unit.
constexpr const char* kBadNumbers =
    "Entries of lists are no number from 0 on, or a time above 115 days; their value is unknown.";

/// The beginning of a text that a run keeps.
std::string ShortText(std::string_view text, LossCounter& losses) {
  if (text.size() > kLongestText) {
    losses.Add(
        "texts_cut", false,
        fmt::format("Texts are kept up to {} bytes: the rest of them is left out.", kLongestText));
  }
  return std::string(text.substr(0, kLongestText));
}

std::optional<int64_t> Known(const std::vector<int64_t>& list, size_t index) {
  if (index >= list.size() || list[index] == kUnknown) return std::nullopt;
  return list[index];
}

std::optional<int64_t> Duration(const Record& record, std::string_view path, int power = kSeconds) {
  const std::optional<int64_t> ns = record.Number(path, power);
  return ns && *ns >= 0 && *ns <= kLongestNs ? ns : std::nullopt;
}

std::optional<int64_t> Whole(const Record& record, std::string_view path) {
  const std::optional<int64_t> number = record.Number(path, 0);
  return number && *number >= 0 ? number : std::nullopt;
}

/// The lists of a record that hold a value of each request.
struct RequestLists {
  const std::vector<int64_t>& ttfts;
  const std::vector<int64_t>& latencies;
  const std::vector<int64_t>& starts;
  const std::vector<int64_t>& queues;
  const std::vector<int64_t>& inputs;
  const std::vector<int64_t>& outputs;
};

const std::vector<int64_t>& Either(const Record& record, std::string_view one,
                                   std::string_view other) {
  const std::vector<int64_t>& first = record.List(one);
  return first.empty() ? record.List(other) : first;
}

RequestLists ListsOf(const Record& record) {
  return {record.List("ttfts"),
          Either(record, "latencies", "e2e_latencies"),
          record.List("start_times"),
          record.List("queue_times"),
          Either(record, "input_lens", "prompt_lens"),
          record.List("output_lens")};
}

/// The longest list says how many requests there are; shorter ones are said.
size_t CountRequests(const Record& record, const RequestLists& lists, LossCounter& losses) {
  std::set<size_t> sizes;
  for (const auto* list : {&lists.ttfts, &lists.latencies, &lists.starts, &lists.queues,
                           &lists.inputs, &lists.outputs}) {
    if (!list->empty()) sizes.insert(list->size());
  }
  if (!record.itls.ends.empty()) sizes.insert(record.itls.ends.size());
  if (!record.errors.empty()) sizes.insert(record.errors.size());
  if (sizes.empty()) return 0;
  if (sizes.size() > 1) {
    losses.Add("lists_differ", true,
               fmt::format("The lists of a run have different lengths ({} to {}); requests that "
                           "some of them lack have unknown values.",
                           *sizes.begin(), *sizes.rbegin()));
  }
  return *sizes.rbegin();
}

/// The sum of the times between pieces; absent where one of them is unknown or it does not fit.
std::optional<int64_t> SumOf(const std::vector<int64_t>& times) {
  int64_t sum = 0;
  for (const int64_t ns : times) {
    if (ns == kUnknown || __builtin_add_overflow(sum, ns, &sum)) return std::nullopt;
  }
  return sum <= kLongestNs ? std::optional(sum) : std::nullopt;
}

/// A failed request has an error; files without errors have zeros in its place.
void JudgeSuccess(const Record& record, size_t index, Request& request, LossCounter& losses) {
  if (index < record.errors.size() && !record.errors[index].empty()) {
    request.ok = false;
    request.error = ShortText(record.errors[index], losses);
  }
  const bool nothing = request.output_tokens.value_or(1) == 0 && request.ttft_ns.value_or(0) == 0 &&
                       request.itl_ns.empty();
  if (nothing) request.ok = false;
  if (request.ok) return;
  // Zero is what the client writes where nothing came.
  if (request.ttft_ns == 0) request.ttft_ns.reset();
  if (request.e2e_ns == 0) request.e2e_ns.reset();
}

Request RequestOf(const Record& record, const RequestLists& lists, size_t index,
                  LossCounter& losses) {
  Request request;
  request.start_ns = Known(lists.starts, index);
  request.ttft_ns = Known(lists.ttfts, index);
  request.e2e_ns = Known(lists.latencies, index);
  request.queue_ns = Known(lists.queues, index);
  request.input_tokens = Known(lists.inputs, index);
  request.output_tokens = Known(lists.outputs, index);
  const NestedList& itls = record.itls;
  if (index < itls.ends.size()) {
    const auto begin = static_cast<std::ptrdiff_t>(index == 0 ? 0 : itls.ends[index - 1]);
    const auto end = static_cast<std::ptrdiff_t>(itls.ends[index]);
    request.itl_ns.assign(itls.values.begin() + begin, itls.values.begin() + end);
    request.has_itls = true;
  }
  if (!request.e2e_ns && request.ttft_ns && request.has_itls) {
    const std::optional<int64_t> decode = SumOf(request.itl_ns);
    if (decode) request.e2e_ns = *request.ttft_ns + *decode;
  }
  JudgeSuccess(record, index, request, losses);
  return request;
}

void AddRequests(Record& record, Run& run, LossCounter& losses) {
  const RequestLists lists = ListsOf(record);
  const size_t n = CountRequests(record, lists, losses);
  // A list of lengths alone is no list of requests: nothing is timed.
  const bool timed = !lists.ttfts.empty() || !lists.latencies.empty() ||
                     !record.itls.ends.empty() || !lists.starts.empty();
  if (!timed) return;
  run.requests.reserve(n);
  for (size_t i = 0; i < n; ++i) run.requests.push_back(RequestOf(record, lists, i, losses));
  record.itls = {};
}

/// One batch of SGLang: every request has the batch's times.
void AddBatch(const Record& record, Run& run) {
  const auto add = [&](std::string_view key, const char* metric, const char* stat) {
    const std::optional<int64_t> ns = Duration(record, key);
    const auto same = [&](const Aggregate& a) { return a.metric == metric && a.stat == stat; };
    if (!ns || std::any_of(run.aggregates.begin(), run.aggregates.end(), same)) return;
    run.aggregates.push_back({metric, stat, *ns, std::string(key)});
  };
  add("prefill_latency", "ttft", "mean");
  add("ttft", "ttft", "mean");
  add("last_ttft", "ttft", "mean");
  add("median_decode_latency", "itl", "p50");
  add("total_latency", "e2e", "mean");
  add("latency", "e2e", "mean");
  const std::optional<int64_t> batch = Whole(record, "batch_size");
  const auto tokens = [&](std::string_view key) -> std::optional<int64_t> {
    const std::optional<int64_t> length = Whole(record, key);
    int64_t product = 0;
    if (!batch || !length || __builtin_mul_overflow(*batch, *length, &product)) return std::nullopt;
    return product;
  };
  run.completed = batch;
  run.input_tokens = tokens("input_len");
  run.output_tokens = tokens("output_len");
  run.duration_ns = Duration(record, "total_latency");
  if (!run.duration_ns) run.duration_ns = Duration(record, "latency");
}

void AddLifecycle(const Record& record, Run& run) {
  run.completed = Whole(record, "successes/count");
  run.failed = Whole(record, "failures/count");
  run.request_throughput = record.Real("successes/throughput/requests_per_sec");
  run.output_token_throughput = record.Real("successes/throughput/output_tokens_per_sec");
}

void AddServing(const Record& record, Run& run) {
  run.completed = Whole(record, "completed");
  run.failed = Whole(record, "failed");
  run.duration_ns = Duration(record, "duration");
  run.input_tokens = Whole(record, "total_input_tokens");
  run.output_tokens = Whole(record, "total_output_tokens");
  run.request_throughput = record.Real("request_throughput");
  run.output_token_throughput = record.Real("output_throughput");
}

/// Plain values that stand in fields of Run.
bool IsField(std::string_view path) {
  constexpr std::array<std::string_view, 11> kFields = {
      "completed",
      "failed",
      "duration",
      "total_input_tokens",
      "total_output_tokens",
      "request_throughput",
      "output_throughput",
      "successes/count",
      "failures/count",
      "successes/throughput/requests_per_sec",
      "successes/throughput/output_tokens_per_sec"};
  return std::find(kFields.begin(), kFields.end(), path) != kFields.end();
}

void AddAggregate(const std::string& path, const Scalar& scalar, const AggregateKey& key, Run& run,
                  LossCounter& losses) {
  const std::optional<int64_t> ns = ScaledDecimal(scalar.text, key.power);
  if (!ns || std::abs(*ns) > kLongestNs) {
    losses.Add("not_finite", false,
               fmt::format("A figure of the file is no finite time and is left out: {} is {}.",
                           path, scalar.text.substr(0, kLongestText)));
  } else if (run.aggregates.size() < kMostAggregates) {
    run.aggregates.push_back({key.metric, key.stat, *ns, path});
  } else {
    losses.Add("figures_left_out", true,
               fmt::format("A run has more than {} figures of its own: the rest is left out.",
                           kMostAggregates));
  }
}

/// The last value of a key that stands there twice. `places`: of each in the run's parameters.
void AddParameter(std::string path, Scalar scalar, std::map<std::string, size_t>& places, Run& run,
                  LossCounter& losses) {
  scalar.text = ShortText(scalar.text, losses);
  if (const auto found = places.find(path); found != places.end()) {
    run.parameters[found->second].second = std::move(scalar);
    return;
  }
  if (run.parameters.size() < kMostParameters) {
    places.emplace(path, run.parameters.size());
    run.parameters.emplace_back(std::move(path), std::move(scalar));
    return;
  }
  losses.Add(
      "parameters_left_out", false,
      fmt::format("A run has more than {} parameters: the rest is left out.", kMostParameters));
}

/// Figures of times become aggregates, all else parameters.
void SortScalars(Record& record, Kind kind, Run& run, LossCounter& losses) {
  std::map<std::string, size_t> places;
  for (auto& [path, scalar] : record.scalars) {
    const std::optional<AggregateKey> key =
        kind == Kind::kInferencePerf ? ParseLifecyclePath(path) : ParseAggregateKey(path);
    if (key && scalar.kind == Scalar::Kind::kNumber) {
      AddAggregate(path, scalar, *key, run, losses);
    } else if (!key && !IsField(path)) {
      AddParameter(std::move(path), std::move(scalar), places, run, losses);
    }
  }
}

std::string FirstText(const Record& record, std::initializer_list<const char*> keys,
                      LossCounter& losses) {
  for (const char* const key : keys) {
    const std::optional<std::string_view> text = record.Text(key);
    if (text && !text->empty()) return ShortText(*text, losses);
  }
  return {};
}

}  // namespace

Run RunOf(Record record, Kind kind, LossCounter& losses) {
  Run run;
  run.model =
      FirstText(record, {"model_id", "model", "model_name", "server_info/model_path"}, losses);
  run.backend = FirstText(record, {"backend", "endpoint_type", "framework"}, losses);
  if (kind == Kind::kSglangOneBatch) {
    AddBatch(record, run);
  } else if (kind == Kind::kInferencePerf) {
    AddLifecycle(record, run);
  } else {
    AddServing(record, run);
    AddRequests(record, run, losses);
  }
  if (record.n_bad_numbers > 0) {
    losses.Add("bad_numbers", true, kBadNumbers, record.n_bad_numbers);
  }
  SortScalars(record, kind, run, losses);
  return run;
}

Request LifecycleRequest(const Record& record, LossCounter& losses) {
  Request request;
  request.start_ns = record.Number("start_time", kSeconds);
  const std::optional<int64_t> end = record.Number("end_time", kSeconds);
  int64_t length = 0;
  if (request.start_ns && end) {
    const bool known = !__builtin_sub_overflow(*end, *request.start_ns, &length) && length >= 0 &&
                       length <= kLongestNs;
    if (known) {
      request.e2e_ns = length;
    } else {
      losses.Add("bad_times", true,
                 "Requests end before they start, or take more than 115 days; how long they took "
                 "is unknown.");
    }
  }
  request.input_tokens = Whole(record, "info/input_tokens");
  request.output_tokens = Whole(record, "info/output_tokens");
  const std::vector<int64_t>& times = record.List("info/output_token_times");
  for (size_t i = 0; i < times.size(); ++i) {
    int64_t step = kUnknown;
    const int64_t before = i == 0 ? request.start_ns.value_or(kUnknown) : times[i - 1];
    const bool known = times[i] != kUnknown && before != kUnknown &&
                       !__builtin_sub_overflow(times[i], before, &step) && step >= 0 &&
                       step <= kLongestNs;
    if (!known) step = kUnknown;
    if (i > 0) {
      request.itl_ns.push_back(step);
    } else if (known) {
      request.ttft_ns = step;
    }
  }
  request.has_itls = !times.empty();
  const Scalar* const error = record.Find("error");
  const bool failed = (error != nullptr && error->kind != Scalar::Kind::kNull) ||
                      record.Find("error/error_msg") != nullptr ||
                      record.Find("error/error_type") != nullptr;
  if (failed) {
    request.ok = false;
    request.error = FirstText(record, {"error/error_msg", "error", "error/error_type"}, losses);
  }
  if (record.n_bad_numbers > 0) {
    losses.Add("bad_numbers", true, kBadNumbers, record.n_bad_numbers);
  }
  return request;
}

}  // namespace layerscope::workload
