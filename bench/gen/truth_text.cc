#include "bench/gen/truth_text.h"

#include "bench/gen/json_text.h"
#include "bench/gen/structure_text.h"

namespace layerscope::gen {
namespace {

// Writes the sections one after the other into one JSON object.
class TruthText {
 public:
  TruthText(const Options& options, const TruthContext& context, const WrittenCounts& written,
            const ModuleTable& modules, const TruthData& data, const StructureData* structure,
            std::string* out)
      : o_(options),
        context_(context),
        written_(written),
        modules_(modules),
        d_(data),
        structure_(structure),
        json_(out, Layout::kIndent) {}

  void Render() {
    json_.Object();
    File();
    Device();
    Launches();
    Modules();
    Unattributed();
    Ops();
    Steps();
    Kernels();
    if (structure_ != nullptr) RenderStructure(o_, *structure_, &json_);
    json_.EndObject();
  }

 private:
  template <typename Map>
  void Counts(const char* key, const Map& map) {
    json_.Key(key).Object();
    for (const auto& [name, n] : map) json_.Key(name).Int(n);
    json_.EndObject();
  }

  void Field(const char* key, int64_t value) { json_.Key(key).Int(value); }

  // A field that is null where the trace does not say.
  void Known(const char* key, int64_t value) {
    if (value >= 0) {
      Field(key, value);
    } else {
      json_.Key(key).Raw("null");
    }
  }

  int64_t Relative(int64_t ns) const { return ns - o_.start_ns; }

  void File() {
    json_.Key("trace").String(context_.trace);
    Field("bytes", context_.bytes);
    Field("seed", static_cast<int64_t>(o_.seed));
    Known("rank", context_.rank);
    if (context_.rank >= 0) {
      Field("world_size", o_.ranks);
    } else {
      json_.Key("world_size").Raw("null");
    }
    Field("t0_ns", o_.start_ns);
    Field("n_events", written_.events);
    Counts("by_ph", written_.by_ph);
    Counts("by_cat", written_.by_cat);
    json_.Key("sum_ts_ns").String(std::to_string(written_.sum_ts_ns));
    Field("sum_dur_ns", static_cast<int64_t>(written_.sum_dur_ns));
    Field("sum_correlation", static_cast<int64_t>(written_.sum_correlation));
    const int64_t activities = d_.kernels.n + d_.memcpys.n + d_.memsets.n;
    const int64_t calls = d_.runtime_calls + d_.driver_calls;
    Field("kept_rows", activities + calls + d_.ops + d_.scopes + d_.annotations);
  }

  void Device() {
    Field("n_kernels", d_.kernels.n);
    Field("n_memcpy", d_.memcpys.n);
    Field("n_memset", d_.memsets.n);
    Field("kernel_sum_ns", d_.kernels.sum_ns);
    Field("memcpy_sum_ns", d_.memcpys.sum_ns);
    Field("memset_sum_ns", d_.memsets.sum_ns);
    json_.Key("devices").Array();
    for (const auto& [number, device] : d_.devices) {
      json_.Object();
      Field("device", number + (context_.rank < 0 ? 0 : context_.rank));
      Field("busy_ns", device.busy.covered_ns());
      Field("first_ns", Relative(device.first_ns));
      Field("last_ns", Relative(device.last_ns));
      json_.Key("streams").Array();
      for (const auto& [id, stream] : device.streams) Stream(id, stream);
      json_.EndArray().EndObject();
    }
    json_.EndArray();
  }

  void Stream(int64_t id, const StreamTruth& stream) {
    json_.Object();
    Field("stream", id);
    Field("n", stream.n);
    Field("sum_ns", stream.sum_ns);
    Field("busy_ns", stream.busy.covered_ns());
    Field("n_overlap", stream.busy.overlaps());
    json_.EndObject();
  }

  void Launches() {
    json_.Key("launches").Object();
    Field("n", d_.launches);
    Field("graph", d_.graph_launches);
    Field("without_activity", d_.launches_without_activity);
    Field("without_kernel", d_.launches_without_kernel);
    Field("max_kernels", d_.max_kernels);
    Field("graph_kernels", d_.graph_kernels.n);
    Field("graph_kernel_sum_ns", d_.graph_kernels.sum_ns);
    json_.EndObject();
    Counts("calls", d_.calls);
    Field("n_runtime_calls", d_.runtime_calls);
    Field("n_driver_calls", d_.driver_calls);
    Field("kernels_without_launch", d_.kernels_without_launch);
    Field("activities_without_call", d_.activities_without_call);
  }

  void Modules() {
    json_.Key("modules").Object();
    Field("n_scopes", d_.scopes);
    Field("n_classes", modules_.classes());
    Field("n_instances", static_cast<int64_t>(modules_.all().size()));
    Field("max_depth", d_.max_depth);
    json_.Key("by_name").Object();
    for (const Module& module : modules_.all()) {
      const auto found = d_.modules.find(module.id);
      if (found == d_.modules.end()) continue;
      const ModuleTruth& truth = found->second;
      json_.Key(module.name()).Object();
      Field("calls", truth.calls);
      Field("kernel_incl_ns", truth.kernel_inclusive.sum_ns);
      Field("kernel_excl_ns", truth.kernel_exclusive.sum_ns);
      Field("kernels_incl", truth.kernel_inclusive.n);
      Field("kernels_excl", truth.kernel_exclusive.n);
      Field("gpu_incl_ns", truth.gpu_inclusive.sum_ns);
      Field("gpu_excl_ns", truth.gpu_exclusive.sum_ns);
      if (o_.cpu_only) Field("op_self_ns", truth.op_self_ns);
      json_.EndObject();
    }
    json_.EndObject().EndObject();
  }

  void Unattributed() {
    json_.Key("unattributed").Object();
    Field("gpu_ns", d_.unattributed_gpu.sum_ns);
    Field("kernels", d_.unattributed_kernels.n);
    Field("kernel_ns", d_.unattributed_kernels.sum_ns);
    Counts("by_reason", d_.unattributed_reasons);
    json_.EndObject();
  }

  void Sum(const Count& count) {
    json_.Object();
    Field("n", count.n);
    Field("sum_ns", count.sum_ns);
    json_.EndObject();
  }

  void Ops() {
    json_.Key("ops").Object();
    Field("n", d_.ops);
    Field("kernels_outside", d_.kernels_outside_ops);
    json_.Key("kernels_by_op").Object();
    for (const auto& [name, count] : d_.kernels_of_op) {
      json_.Key(name);
      Sum(count);
    }
    json_.EndObject();
    if (o_.cpu_only) OpSelf();
    json_.EndObject();
    Field("n_annotations", d_.annotations);
  }

  void OpSelf() {
    Field("self_outside_modules_ns", d_.op_self_outside_ns);
    json_.Key("self").Array();
    for (const auto& [op, count] : d_.op_self) {
      json_.Object().Key("name").String(op.first).Key("args").Object().Members(op.second);
      json_.EndObject();
      Field("n", count.n);
      Field("sum_ns", count.sum_ns);
      json_.EndObject();
    }
    json_.EndArray();
  }

  void Steps() {
    json_.Key("steps").Array();
    for (const StepTruth& step : d_.steps) Step(step);
    json_.EndArray();
    json_.Key("outside").Object();
    Field("gpu_ns", d_.outside_gpu.sum_ns);
    Field("kernels", d_.outside_kernels.n);
    json_.EndObject();
  }

  void Step(const StepTruth& step) {
    const StepFields& fields = step.fields;
    json_.Object().Key("name").String(step.name);
    Field("thread", step.tid + (context_.rank < 0 ? 0 : context_.rank));
    json_.Key("phase");
    if (fields.phase.empty()) {
      json_.Raw("null");
    } else {
      json_.String(fields.phase);
    }
    Known("requests", fields.requests);
    Known("query_tokens", fields.query_tokens);
    Known("context_tokens", fields.context_tokens);
    Known("generation_tokens", fields.generation_tokens);
    Field("start_ns", Relative(step.start_ns));
    Field("cpu_ns", step.cpu_ns);
    Field("n_kernels", step.kernels.n);
    Field("n_kernels_same_thread", step.kernels_same_thread);
    Field("kernel_sum_ns", step.kernels.sum_ns);
    Field("n_copies", step.copies.n);
    Field("sum_ns", step.kernels.sum_ns + step.copies.sum_ns);
    Field("n_launches", step.launches);
    Field("wall_ns", step.last_ns - step.first_ns);
    Field("busy_ns", step.busy_ns);
    Field("idle_ns", step.last_ns - step.first_ns - step.busy_ns);
    json_.EndObject();
  }

  void Kernels() {
    json_.Key("kernels").Object();
    for (const auto& [name, count] : d_.kernel_names) {
      json_.Key(name).Object();
      Field("n", count.n);
      Field("sum_ns", count.sum_ns);
      Field("min_ns", count.min_ns);
      Field("max_ns", count.max_ns);
      json_.EndObject();
    }
    json_.EndObject();
  }

  const Options& o_;
  const TruthContext& context_;
  const WrittenCounts& written_;
  const ModuleTable& modules_;
  const TruthData& d_;
  const StructureData* structure_;  // null without a family
  JsonText json_;
};

}  // namespace

std::string RenderTruth(const Options& options, const TruthContext& context,
                        const WrittenCounts& written, const ModuleTable& modules,
                        const TruthData& data, const StructureData* structure) {
  std::string text;
  TruthText(options, context, written, modules, data, structure, &text).Render();
  return text + "\n";
}

}  // namespace layerscope::gen
