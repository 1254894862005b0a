#include "src/session/documents.h"

#include <algorithm>
#include <set>
#include <utility>

#include "src/document/annotate.h"
#include "src/document/cut.h"
#include "src/document/map/model_execution.h"
#include "src/document/requests/list.h"
#include "src/document/requests/profiles.h"
#include "src/session/shared_options.h"
#include "src/session/workload.h"

namespace layerscope::session {
namespace {

OptionSpec GzipOption() {
  OptionSpec spec = FlagOption("gzip", "compress the output");
  spec.fallback = "by the name: -o NAME.gz";
  spec.in_envelope = false;
  return spec;
}

DocumentSpec Annotate() {
  DocumentSpec spec;
  spec.name = "annotate";
  spec.group = "convert";
  spec.usage = "INPUT";
  spec.summary = "the trace with pass, layer, block and module tracks added, for Perfetto";
  OptionSpec modules = FlagOption("modules", "also tracks of modules, where the trace has them");
  modules.negation = "no-modules";
  modules.fallback = "with them";
  std::vector<OptionSpec> chosen = SelectionOptions();
  const std::set<std::string> wanted = {"rank", "pid", "device", "stream"};
  chosen.erase(std::remove_if(chosen.begin(), chosen.end(),
                              [&](const OptionSpec& o) { return wanted.count(o.name) == 0; }),
               chosen.end());
  spec.options = JoinOptions({{GzipOption(), std::move(modules)}, chosen, ModelOptionSpecs()});
  spec.examples = {HelpExample("annotate", "-o out.json.gz"),
                   HelpExample("annotate", "--no-modules")};
  spec.layer_need = LayerNeed::kIfPossible;
  spec.build = [](const analysis::AnalysisInput& input,
                  const OptionValues& values) -> base::Result<document::TraceDocument> {
    document::AnnotateOptions options;
    options.modules = values.OptionalFlag("modules").value_or(true);
    options.selection.rank = values.Number("rank");
    options.selection.pid = values.Text("pid");
    options.selection.device = values.Text("device");
    options.selection.stream = values.Text("stream");
    return document::BuildAnnotation(input, options);
  };
  return spec;
}

DocumentSpec Cut() {
  DocumentSpec spec;
  spec.name = "cut";
  spec.group = "convert";
  spec.usage = "INPUT";
  spec.summary = "a smaller trace: some steps, passes or a time, with all that belongs to them";
  spec.options =
      JoinOptions({{GzipOption()}, SelectionOptions(), PassOptions(), ModelOptionSpecs()});
  spec.examples = {HelpExample("cut", "--step 0 -o out.json.gz"),
                   HelpExample("cut", "--from 0ms --to 20ms")};
  spec.build = [](const analysis::AnalysisInput& input,
                  const OptionValues& values) -> base::Result<document::TraceDocument> {
    return document::BuildCut(input, SelectionOf(values));
  };
  return spec;
}

DocumentSpec Map() {
  DocumentSpec spec;
  spec.name = "map";
  spec.group = "convert";
  spec.usage = "INPUT…";
  spec.summary = "model_execution.json: modules, ops, kernels and layers over all forwards";
  OptionSpec collapse = FlagOption("collapse", "like layers as one node with each layer's values");
  collapse.negation = "no-collapse";
  collapse.fallback = "collapsed";
  spec.options = JoinOptions(
      {{GzipOption(), std::move(collapse)}, SelectionOptions(), PassOptions(), ModelOptionSpecs()});
  spec.examples = {HelpExample("map", "-o model_execution.json"),
                   HelpExample("map", "--phase decode")};
  spec.layer_need = LayerNeed::kIfPossible;
  spec.build = [](const analysis::AnalysisInput& input, const OptionValues& values,
                  const std::vector<std::string>&) -> base::Result<document::JsonDocument> {
    document::MapOptions options;
    options.selection = SelectionOf(values);
    options.collapse = values.OptionalFlag("collapse").value_or(true);
    return document::BuildModelExecution(input, options);
  };
  return spec;
}

DocumentSpec Requests() {
  DocumentSpec spec;
  spec.name = "requests";
  spec.group = "convert";
  spec.usage = "DIR|FILE…";
  spec.summary =
      "per_request_profiles.json: traces of one request each, aligned by module, phase and layer";
  spec.options = JoinOptions({{GzipOption()}, ModelOptionSpecs()});
  spec.examples = {
      "layerscope requests examples/qwen3_8b_mi300_sglang -o requests.json",
      "layerscope requests examples/qwen3_8b_h100_vllm.json.gz --format json -o requests.json.gz"};
  spec.layer_need = LayerNeed::kIfPossible;
  spec.input_set = InputSet::kRuns;
  spec.build = [](const analysis::AnalysisInput& input, const OptionValues& values,
                  const std::vector<std::string>& inputs) -> base::Result<document::JsonDocument> {
    for (const std::string& metadata : document::RequestMetadataPaths(inputs)) {
      base::Status safe = CheckNotOverwritten(metadata, values.Text("output"));
      if (!safe.ok()) return std::move(safe).error();
    }
    base::Result<document::RequestList> list = document::ListRequests(input, inputs);
    if (!list.ok()) return std::move(list).error();
    return document::BuildRequestProfiles(input, *list);
  };
  return spec;
}

std::vector<OptionSpec> WorkloadOptionSpecs() {
  std::vector<OptionSpec> config;
  for (OptionSpec& option : LayerOptionSpecs()) {
    if (option.name != "config") continue;
    option.fallback.clear();  // results of benchmarks lie beside many a model's files
    config.push_back(std::move(option));
  }
  return JoinOptions({BenchmarkOptions(), {GzipOption()}, config});
}

/// -o replaces none of the files that options name.
base::Status CheckWorkloadOutput(const WorkloadFiles& files, const OptionValues& values) {
  std::vector<std::string> named = files.bench;
  named.insert(named.end(), files.inputs.begin(), files.inputs.end());
  for (const auto& path : {files.prometheus, files.prometheus_before, values.Text("config")}) {
    if (path) named.push_back(*path);
  }
  for (const std::string& path : named) {
    if (base::Status safe = CheckNotOverwritten(path, values.Text("output")); !safe.ok())
      return safe;
  }
  return {};
}

DocumentSpec Workload() {
  DocumentSpec spec;
  spec.name = "workload";
  spec.group = "convert";
  spec.usage = "[INPUT…]";
  spec.summary =
      "workload_data.json: requests of a benchmark and the server's metrics, told apart by content";
  spec.options = WorkloadOptionSpecs();
  spec.examples = {"layerscope workload examples/vllm_bench.json -o workload_data.json",
                   "layerscope workload --bench examples/vllm_bench.json --prometheus "
                   "examples/vllm_metrics.txt"};
  spec.traces_optional = true;
  spec.build = [](const analysis::AnalysisInput& input, const OptionValues& values,
                  const std::vector<std::string>& inputs) -> base::Result<document::JsonDocument> {
    const WorkloadFiles files{PartInputs(inputs).workload, values.Texts("bench"),
                              values.Text("prometheus"), values.Text("prometheus-before")};
    if (base::Status safe = CheckWorkloadOutput(files, values); !safe.ok()) {
      return std::move(safe).error();
    }
    WorkloadOptions options;
    options.run = values.Number("run");
    options.memory_limit = values.Number("memory-limit");
    return BuildWorkload(files, options, input);
  };
  return spec;
}

}  // namespace

const std::vector<DocumentSpec>& Documents() {
  static const std::vector<DocumentSpec> kDocuments = {Annotate(), Cut(), Map(), Requests(),
                                                       Workload()};
  return kDocuments;
}

std::vector<OptionSpec> AllOptions(const DocumentSpec& spec) {
  return JoinOptions({spec.options, CommonOptions()});
}

}  // namespace layerscope::session
