#include "bench/gen/structure_text.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/gen/family.h"

namespace layerscope::gen {
namespace {

// What a program that reads the trace should say of its layers.
std::string_view Expectation(const Options& o) {
  if (o.expect == Expect::kExact) return "exact";
  if (o.expect == Expect::kAbstain) return "abstain";
  if (o.expect == Expect::kReject) return "reject";
  if (o.together != Together::kNone || o.residue != 0) return "reject";
  const bool two_readings = o.ambiguous != Ambiguity::kNone;
  return two_readings || o.neutral != Hidden::kNothing ? "abstain" : "exact";
}

class StructureText {
 public:
  StructureText(const Options& options, const StructureData& data, JsonText* json)
      : o_(options), d_(data), json_(*json) {}

  void Render() {
    const Family& family = ChosenFamily(o_);
    const std::vector<const Form*> forms = LayerForms(family, o_);
    json_.Key("structure").Object();
    json_.Key("family").String(family.name);
    json_.Key("profile").String(family.profile);
    // Of names that are replaced nothing is known.
    json_.Key("anchor");
    if (o_.inductor || o_.neutral != Hidden::kNothing) {
      json_.Raw("null");
    } else {
      json_.String(family.anchor);
    }
    json_.Key("config").Raw(RenderConfig(family, forms));
    Field("layers_per_pass", static_cast<int64_t>(forms.size()));
    json_.Key("passes").Array();
    for (size_t i = 0; i < d_.passes.size(); ++i) Pass(static_cast<int64_t>(i), d_.passes[i]);
    json_.EndArray();
    Known("steady_pass", d_.steady_pass);
    Clusters(forms);
    Field("outside_kernels", d_.outside_kernels);
    Field("outside_ns", d_.outside_ns);
    Field("foreign_kernels", d_.foreign_kernels);
    json_.Key("ambiguous").Raw(o_.ambiguous == Ambiguity::kNone ? "false" : "true");
    json_.Key("expect").String(Expectation(o_));
    json_.EndObject();
  }

 private:
  void Field(const char* key, int64_t value) { json_.Key(key).Int(value); }
  void Known(const char* key, int64_t value) {
    if (value < 0) {
      json_.Key(key).Raw("null");
    } else {
      Field(key, value);
    }
  }
  int64_t Relative(int64_t ns) const { return ns - o_.start_ns; }

  void Pass(int64_t index, const PassTruth& pass) {
    json_.Object();
    Field("index", index);
    json_.Key("kind").String(pass.kind);
    Known("batch", pass.batch);
    json_.Key("complete").Raw(pass.complete ? "true" : "false");
    Field("start_ns", Relative(pass.start_ns));
    Field("end_ns", Relative(pass.end_ns));
    Field("n_kernels", pass.kernels);
    Field("sum_ns", pass.sum_ns);
    Field("n_copies", pass.copies);
    Field("copy_ns", pass.copy_ns);
    json_.Key("layers").Array();
    for (const LayerTruth& layer : pass.layers) Layer(layer);
    json_.EndArray();
    Field("head_kernels", pass.head_kernels);
    Field("head_sum_ns", pass.head_sum_ns);
    Field("tail_kernels", pass.tail_kernels);
    Field("tail_sum_ns", pass.tail_sum_ns);
    json_.Key("note").String(pass.note);
    json_.EndObject();
  }

  void Layer(const LayerTruth& layer) {
    json_.Object();
    Field("index", layer.index);
    json_.Key("type").String(layer.type);
    json_.Key("form").String(std::string_view(&layer.form, 1));
    json_.Key("flags").Array();
    if (layer.first) json_.String("FIRST");
    if (layer.final) json_.String("FINAL");
    if (layer.cut) json_.String("CUT");
    json_.EndArray();
    Known("ratio", layer.ratio);
    Field("first_kernel", layer.first_kernel);
    Field("n_kernels", layer.kernels);
    Field("sum_ns", layer.sum_ns);
    Field("n_copies", layer.copies);
    Field("copy_ns", layer.copy_ns);
    Field("start_ns", Relative(layer.start_ns));
    Field("end_ns", Relative(layer.end_ns));
    Field("wall_ns", layer.end_ns - layer.start_ns);
    Field("n_foreign", layer.foreign);
    Field("foreign_ns", layer.foreign_ns);
    Field("n_allreduce", layer.reduces);
    json_.Key("blocks").Array();
    for (const int64_t n : layer.block_kernels) json_.Int(n);
    json_.EndArray().EndObject();
  }

  void Clusters(const std::vector<const Form*>& forms) {
    std::vector<std::pair<std::string_view, int64_t>> clusters;
    for (const Form* form : forms) {
      const auto found = std::find_if(clusters.begin(), clusters.end(),
                                      [form](const auto& c) { return c.first == form->type; });
      if (found == clusters.end()) {
        clusters.emplace_back(form->type, 1);
      } else {
        ++found->second;
      }
    }
    json_.Key("clusters").Array();
    for (const auto& [type, n] : clusters) {
      json_.Object().Key("type").String(type).Key("n").Int(n).EndObject();
    }
    json_.EndArray();
  }

  const Options& o_;
  const StructureData& d_;
  JsonText& json_;
};

}  // namespace

void RenderStructure(const Options& options, const StructureData& data, JsonText* json) {
  StructureText(options, data, json).Render();
}

}  // namespace layerscope::gen
