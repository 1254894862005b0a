#include "src/document/workload/workload_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/model_summary.h"
#include "src/analysis/row_table.h"
#include "src/base/format_number.h"
#include "src/document/workload/figures.h"
#include "src/document/workload/health.h"
#include "src/document/workload/people.h"
#include "src/document/workload/tables.h"
#include "src/table/or_null.h"
#include "src/workload/statistics.h"

namespace layerscope::document {
namespace {

using table::Array;
using table::HealthEntry;
using table::Object;
using table::Value;
using workload::Request;

constexpr std::string_view kSchema = "layerscope/workload/1";

int64_t FirstStart(const std::vector<Request>& requests) {
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const Request& request : requests) {
    if (request.start_ns) first = std::min(first, *request.start_ns);
  }
  return first;
}

/// The distance of a point in time from the first request.
Value Relative(const std::optional<int64_t>& ns, int64_t first) {
  int64_t distance = 0;
  if (!ns || __builtin_sub_overflow(*ns, first, &distance)) return {};
  return distance;
}

Value ItlValue(const Request& request, bool token_times) {
  if (!token_times || !request.has_itls) return {};
  Array times;
  times.reserve(request.itl_ns.size());
  for (const int64_t ns : request.itl_ns) {
    times.emplace_back(ns == workload::kUnknown ? Value() : Value(ns));
  }
  return times;
}

Array RequestArray(const WorkloadFigures& figures) {
  Array array;
  const std::vector<Request>& requests = figures.run->requests;
  const int64_t first = FirstStart(requests);
  array.reserve(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    const Request& request = requests[i];
    Object object = {{"index", i},
                     {"start_ns", Relative(request.start_ns, first)},
                     {"ttft_ns", table::OrNull(request.ttft_ns)},
                     {"itl_ns", ItlValue(request, figures.choice.token_times)},
                     {"tpot_ns", table::OrNull(request.TpotNs())},
                     {"decode_ns", table::OrNull(request.DecodeNs())},
                     {"e2e_ns", table::OrNull(request.e2e_ns)},
                     {"queue_ns", table::OrNull(request.queue_ns)},
                     {"input_tokens", table::OrNull(request.input_tokens)},
                     {"output_tokens", table::OrNull(request.output_tokens)},
                     {"ok", request.ok},
                     {"error", table::TextOrNull(request.error)}};
    if (!figures.links.steps.empty()) {
      const RequestSteps& steps = figures.links.steps[i];
      object.emplace_back(
          "steps",
          steps.n == 0
              ? Value()
              : Value(Object{{"first", steps.first}, {"last", steps.last}, {"n", steps.n}}));
    }
    array.emplace_back(std::move(object));
  }
  return array;
}

table::Table ConcurrencyTable(const workload::Run& run) {
  std::vector<workload::ConcurrencyStep> steps = workload::ConcurrencyOf(run.requests);
  const int64_t first = FirstStart(run.requests);
  for (workload::ConcurrencyStep& step : steps) step.t_ns -= first;
  analysis::RowTable<workload::ConcurrencyStep> table(std::move(steps));
  table.AddInt(analysis::Key("t_ns"), &workload::ConcurrencyStep::t_ns)
      .AddInt(analysis::Key("n"), &workload::ConcurrencyStep::n);
  return table.Take();
}

Array SourceArray(const WorkloadInput& input) {
  Array array;
  for (const WorkloadSource& source : input.sources) {
    array.emplace_back(Object{{"path", source.path},
                              {"kind", source.kind},
                              {"version", table::TextOrNull(source.version)},
                              {"role", source.role},
                              {"runs", source.n_runs},
                              {"requests", source.n_requests}});
  }
  return array;
}

/// The benchmark names the model as the server does; the config knows what it is.
Object ModelObject(const WorkloadInput& input, const WorkloadFigures& figures,
                   const model::ModelConfig* config) {
  std::string name;
  if (figures.run != nullptr) name = figures.run->model;
  if (name.empty() && input.server && !input.server->models.empty()) {
    name = input.server->models.front();
  }
  if (name.empty() && config != nullptr) name = config->name;
  Object object = {{"name", table::TextOrNull(name)},
                   {"num_layers", config == nullptr ? Value() : Value(config->num_layers)},
                   {"config", config == nullptr ? Value() : Value(config->path)}};
  if (config == nullptr) return object;
  for (auto& [key, value] : analysis::ModelToObject(*config)) {
    const bool there = std::any_of(object.begin(), object.end(),
                                   [&key = key](const auto& have) { return have.first == key; });
    if (!there) object.emplace_back(key, value);
  }
  return object;
}

Value ParameterValue(const workload::Scalar& scalar) {
  switch (scalar.kind) {
    case workload::Scalar::Kind::kNull:
      return {};
    case workload::Scalar::Kind::kBool:
      return scalar.text == "true";
    case workload::Scalar::Kind::kText:
      return scalar.text;
    case workload::Scalar::Kind::kNumber:
      break;
  }
  // JSON has no infinity: it stays the word that the file writes.
  const std::optional<double> real = workload::RealOf(scalar.text);
  if (!real || !std::isfinite(*real)) return scalar.text;
  const bool whole = scalar.text.find_first_of(".eE") == std::string::npos;
  if (whole && std::abs(*real) < 9e15) return static_cast<int64_t>(*real);
  return *real;
}

Array RunArray(const WorkloadInput& input, const WorkloadFigures& figures) {
  const std::vector<std::string> labels = RunLabels(input);
  Array array;
  for (size_t i = 0; i < input.runs.size(); ++i) {
    const workload::Run& run = input.runs[i].run;
    Object parameters;
    for (const auto& [key, scalar] : run.parameters) {
      parameters.emplace_back(key, ParameterValue(scalar));
    }
    const RunSummary of_file = SummaryOfFile(run);
    array.emplace_back(
        Object{{"index", i},
               {"source", input.runs[i].source},
               {"label", table::TextOrNull(labels[i])},
               {"model", table::TextOrNull(run.model)},
               {"backend", table::TextOrNull(run.backend)},
               {"requests", run.requests.size()},
               {"summary", SummaryObject(figures.summaries[i])},
               {"file_summary", run.requests.empty() ? Value() : Value(SummaryObject(of_file))},
               {"comparison", ComparisonArray(figures.file[i])},
               {"parameters", std::move(parameters)}});
  }
  return array;
}

Array HealthArray(const std::vector<HealthEntry>& health) {
  Array array;
  for (const HealthEntry& entry : health) {
    array.emplace_back(Object{{"code", entry.code},
                              {"severity", table::ToString(entry.severity)},
                              {"count", entry.count},
                              {"message", entry.message}});
  }
  return array;
}

Value SplitValue(const WorkloadFigures& figures) {
  if (!figures.split) return {};
  return Object{{"of", "ttft_ns"},
                {"below", figures.split->n_below},
                {"above", figures.split->n_above},
                {"explained_ppm", static_cast<int64_t>(figures.split->explained * 1e6)}};
}

Object RootOf(const WorkloadInput& input, const WorkloadFigures& figures,
              const model::ModelConfig* config) {
  Object root = {{"schema", kSchema},
                 {"sources", SourceArray(input)},
                 {"model", ModelObject(input, figures, config)}};
  const bool runs = figures.run != nullptr;
  root.emplace_back("run", runs ? Value(*figures.choice.run) : Value());
  root.emplace_back("requests", runs ? Value(RequestArray(figures)) : Value(Array()));
  root.emplace_back("summary", runs ? Value(SummaryObject(*figures.summary)) : Value());
  root.emplace_back("runs", RunArray(input, figures));
  root.emplace_back("concurrency", runs ? Value(ConcurrencyTable(*figures.run)) : Value(Array()));
  root.emplace_back("server", input.server ? Value(ServerObject(*input.server)) : Value(Object()));
  root.emplace_back(
      "server_summary",
      input.server ? Value(ServerSummary(*input.server, input.server_difference)) : Value());
  root.emplace_back("differences", DifferenceArray(figures.differences));
  root.emplace_back("queue_threshold_ns",
                    figures.split ? Value(figures.split->threshold_ns) : Value());
  root.emplace_back("queue_split", SplitValue(figures));
  root.emplace_back("links", LinksObject(figures.links));
  return root;
}

/// What the envelope says of the document as a whole.
Object FindingsOf(const WorkloadInput& input, const WorkloadFigures& figures) {
  const bool runs = figures.run != nullptr;
  return {{"run", runs ? Value(*figures.choice.run) : Value()},
          {"requests", runs ? figures.run->requests.size() : size_t{0}},
          {"summary", runs ? Value(SummaryObject(*figures.summary)) : Value()},
          {"percentiles", runs ? Value(PercentileTable(*figures.summary)) : Value(Array())},
          {"runs", RunTable(input, figures.summaries)},
          {"differences", DifferenceArray(figures.differences)},
          {"queue_threshold_ns", figures.split ? Value(figures.split->threshold_ns) : Value()},
          {"links", LinksObject(figures.links)}};
}

table::RankResult SourceResult(const WorkloadSource& source) {
  table::RankResult result;
  result.input = source.path;
  result.data = {
      {"kind", source.kind}, {"version", table::TextOrNull(source.version)}, {"role", source.role}};
  result.main_table = "percentiles";
  return result;
}

}  // namespace

JsonDocument BuildWorkloadData(const WorkloadInput& input, const WorkloadChoice& choice,
                               const analysis::AnalysisInput& traces) {
  JsonDocument document;
  document.name = "workload_data";
  const WorkloadFigures figures = ComputeFigures(input, choice, traces);
  document.health = WorkloadHealth(input, figures);
  Object root = RootOf(input, figures, traces.config);
  root.emplace_back("health", HealthArray(document.health));
  document.root = std::move(root);
  for (const WorkloadSource& source : input.sources) {
    document.ranks.push_back(SourceResult(source));
    document.inputs.push_back({source.path, source.kind, std::nullopt, 0, 0});
  }
  for (const analysis::RankInput& rank : traces.ranks) {
    table::RankResult& result = document.ranks.emplace_back();
    result.input = rank.path;
    result.rank = rank.rank;
    result.data = {{"kind", "trace"}, {"version", Value()}, {"role", "trace"}};
    result.main_table = "percentiles";
  }
  Object findings = FindingsOf(input, figures);
  if (document.ranks.size() == 1) {
    Object& data = document.ranks.front().data;
    data.insert(data.end(), findings.begin(), findings.end());
  } else {
    document.reduced = std::move(findings);
  }
  document.blocks = WorkloadBlocks(input, figures);
  return document;
}

}  // namespace layerscope::document
