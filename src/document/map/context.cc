#include "src/document/map/context.h"

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "src/analysis/device_rows.h"
#include "src/analysis/model_summary.h"
#include "src/analysis/module_nodes.h"
#include "src/analysis/workload_guess.h"
#include "src/document/map/values.h"
#include "src/json/document.h"
#include "src/table/or_null.h"

namespace layerscope::document {
namespace {

using table::Array;
using table::Object;
using table::Value;

Value ToValue(const analysis::LabelValue& label) {
  return std::visit([](const auto& value) { return Value(value); }, label);
}

/// PyTorch's device type by whose runtime launched: AMD's calls are hip*, NVIDIA's cuda* and cu*.
Value Device(const ExecutionRank& rank) {
  if (rank.view->cpu_only()) return "cpu";
  const trace::Trace& trace = rank.trace();
  for (const uint32_t row : rank.rows) {
    const trace::CallId call = rank.attribution().launch[row];
    if (!call.valid()) continue;
    const std::string_view name = trace.strings[trace.calls.name[call.index()]];
    if (name.starts_with("hip")) return "hip";
    if (name.starts_with("cu")) return "cuda";
  }
  const std::string names = analysis::DeviceNames(trace);
  if (names.find("NVIDIA") != std::string::npos) return "cuda";
  if (names.find("AMD") != std::string::npos) return "hip";
  return {};
}

/// The element type of the first tensor of an op; empty without one.
std::string FirstDtype(const trace::Trace& trace, trace::ArgsId args) {
  if (!args.valid() || !trace.args[args.index()].input_types.valid()) return {};
  base::Result<json::Node> types =
      json::ParseDocument(trace.strings[trace.args[args.index()].input_types]);
  if (!types.ok() || types->items().empty()) return {};
  return DtypeName(types->items().front().AsString().value_or(std::string_view()));
}

bool IsFloat(std::string_view dtype) {
  return dtype.find("float") != std::string_view::npos;
}

/// The floating type that most GPU time is spent on: of the first argument of the ops.
Value TraceDtype(const ExecutionRank& rank) {
  const attribution::Attribution& attr = rank.attribution();
  std::vector<int64_t> ns_of_args(rank.trace().args.size(), 0);
  for (const uint32_t row : rank.rows) {
    if (!attr.op[row].valid()) continue;
    const trace::ArgsId args = attr.OpArgs(rank.trace(), attr.op[row]);
    if (args.valid()) ns_of_args[args.index()] += rank.view->activities().dur_ns[row];
  }
  std::map<std::string, int64_t> ns_of;
  for (size_t i = 0; i < ns_of_args.size(); ++i) {
    if (ns_of_args[i] == 0) continue;
    const std::string dtype = FirstDtype(rank.trace(), trace::ArgsId(i));
    if (IsFloat(dtype)) ns_of[dtype] += ns_of_args[i];
  }
  const auto most = std::max_element(
      ns_of.begin(), ns_of.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == ns_of.end() ? Value() : Value(most->first);
}

/// Forwards by the phase that their step, else the layers' pass of that step, says.
std::map<std::string, int64_t> PhasesOf(const Execution& execution) {
  std::map<std::string, int64_t> phases;
  for (const Forwards::Forward& forward : execution.forwards.list()) {
    if (!forward.step.valid()) continue;
    const attribution::Phase phase =
        execution.rank.attribution().steps[forward.step.index()].fields.phase;
    if (phase != attribution::Phase::kUnknown) ++phases[std::string(ToString(phase))];
  }
  if (!phases.empty()) return phases;
  const attribution::Attribution& attr = execution.rank.attribution();
  for (const uint32_t step : execution.rank.view->steps()) {
    if (!execution.rank.HoldsThread(attr.steps[step].thread)) continue;
    const attribution::Phase phase = attr.steps[step].fields.phase;
    if (phase != attribution::Phase::kUnknown) ++phases[std::string(ToString(phase))];
  }
  return phases;
}

Value Engine(const ExecutionRank& rank) {
  const analysis::Guess engine = analysis::GuessEngine(*rank.view);
  if (engine.value.empty()) return {};
  const std::string& version = rank.trace().metadata.vllm_version;
  return Object{{"name", engine.value},
                {"version", engine.value == "vllm" ? table::TextOrNull(version) : Value()},
                {"source", table::TextOrNull(engine.source)}};
}

Value Model(const analysis::AnalysisInput& input, const Execution& execution) {
  if (input.config != nullptr && !input.config->name.empty()) return input.config->name;
  const analysis::ModuleNodes nodes = analysis::BuildModuleNodes(*execution.rank.view);
  return table::TextOrNull(analysis::GuessModel(nodes.nodes, nodes.total_ns).value);
}

}  // namespace

Value RankValue(const ExecutionRank& rank) {
  if (rank.process.valid()) return ToValue(rank.view->RankLabel(rank.process));
  return table::OrNull(rank.view->input().rank);
}

Value PidValue(const ExecutionRank& rank) {
  return rank.process.valid() ? ToValue(rank.view->PidLabel(rank.process)) : Value();
}

void AddContext(const analysis::AnalysisInput& input, const Execution& execution, Object& root) {
  const ExecutionRank& rank = execution.rank;
  const model::ModelConfig* const config = input.config;
  const std::map<std::string, int64_t> phases = PhasesOf(execution);
  root.emplace_back("model", Model(input, execution));
  root.emplace_back("device", Device(rank));
  root.emplace_back("gpu_name", table::TextOrNull(analysis::DeviceNames(rank.trace())));
  root.emplace_back("dtype", config != nullptr && !config->dtype.empty() ? Value(config->dtype)
                                                                         : TraceDtype(rank));
  root.emplace_back("engine", Engine(rank));
  root.emplace_back("config",
                    config != nullptr ? Value(analysis::ModelToObject(*config)) : Value());
  root.emplace_back("mode", phases.empty()       ? Value()
                            : phases.size() == 1 ? Value(phases.begin()->first)
                                                 : Value("mixed"));
  Object counts;
  for (const auto& [phase, n] : phases) counts.emplace_back(phase, n);
  root.emplace_back("phases", std::move(counts));
  const size_t n = execution.forwards.size();
  root.emplace_back("iterations", n == 0 ? Value() : Value(n));
}

Array PassList(const Execution& execution) {
  const attribution::Attribution& attr = execution.rank.attribution();
  const std::vector<Forwards::Forward>& forwards = execution.forwards.list();
  Array array;
  for (size_t i = 0; i < forwards.size(); ++i) {
    Object object{{"index", i},
                  {"start_ns", forwards[i].start_ns},
                  {"cpu_ns", forwards[i].end_ns - forwards[i].start_ns}};
    const attribution::StepId step = forwards[i].step;
    object.emplace_back(
        "step", step.valid()
                    ? Value(execution.rank.view->StepLabel(static_cast<uint32_t>(step.index())))
                    : Value());
    const attribution::StepFields fields =
        step.valid() ? attr.steps[step.index()].fields : attribution::StepFields();
    object.emplace_back("phase", table::TextOrNull(std::string(ToString(fields.phase))));
    object.emplace_back("requests", table::OrNull(fields.requests));
    execution.map.passes[i].WriteTo(object);
    array.emplace_back(std::move(object));
  }
  if (execution.map.outside_passes.gpu_ns != 0 || execution.map.outside_passes.kernels != 0) {
    Object object{{"index", Value()}, {"start_ns", Value()}, {"cpu_ns", Value()},
                  {"step", Value()},  {"phase", Value()},    {"requests", Value()}};
    execution.map.outside_passes.WriteTo(object);
    array.emplace_back(std::move(object));
  }
  return array;
}

}  // namespace layerscope::document
