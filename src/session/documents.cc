#include "src/session/documents.h"

#include <algorithm>
#include <set>
#include <utility>

#include "src/document/annotate.h"
#include "src/document/cut.h"
#include "src/session/shared_options.h"

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
  spec.summary = "the trace with pass, layer, block and module tracks added, for Perfetto";
  OptionSpec modules = FlagOption("modules", "also tracks of modules, where the trace has them");
  modules.negation = "no-modules";
  modules.fallback = "with them";
  std::vector<OptionSpec> chosen = SelectionOptions();
  const std::set<std::string> wanted = {"rank", "pid", "device", "stream"};
  chosen.erase(std::remove_if(chosen.begin(), chosen.end(),
                              [&](const OptionSpec& o) { return wanted.count(o.name) == 0; }),
               chosen.end());
  spec.options = JoinOptions({{GzipOption(), std::move(modules)}, chosen, LayerOptionSpecs()});
  spec.examples = {HelpExample("annotate", "-o out.json.gz"),
                   HelpExample("annotate", "--no-modules")};
  spec.layer_need = LayerNeed::kRequired;
  spec.build = [](const analysis::AnalysisInput& input, const OptionValues& values) {
    document::AnnotateOptions options;
    options.modules = values.OptionalFlag("modules").value_or(true);
    return document::BuildAnnotation(input, options);
  };
  return spec;
}

DocumentSpec Cut() {
  DocumentSpec spec;
  spec.name = "cut";
  spec.group = "convert";
  spec.summary = "a smaller trace: some steps, passes or a time, with all that belongs to them";
  spec.options =
      JoinOptions({{GzipOption()}, SelectionOptions(), PassOptions(), LayerOptionSpecs()});
  spec.examples = {HelpExample("cut", "--step 0 -o out.json.gz"),
                   HelpExample("cut", "--from 0ms --to 20ms")};
  spec.build = [](const analysis::AnalysisInput& input, const OptionValues& values) {
    return document::BuildCut(input, SelectionOf(values));
  };
  return spec;
}

}  // namespace

const std::vector<DocumentSpec>& Documents() {
  static const std::vector<DocumentSpec> kDocuments = {Annotate(), Cut()};
  return kDocuments;
}

std::vector<OptionSpec> AllOptions(const DocumentSpec& spec) {
  return JoinOptions({spec.options, CommonOptions()});
}

}  // namespace layerscope::session
