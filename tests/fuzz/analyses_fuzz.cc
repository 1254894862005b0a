// Everything behind the reader over any trace that can be read: attribution, every analysis, every
// way of showing it. Conservation is checked inside by LS_CHECK.
#include <string>
#include <string_view>
#include <utility>

#include "src/attribution/attribution.h"
#include "src/base/check.h"
#include "src/ingest/kineto/reader.h"
#include "src/io/byte_source.h"
#include "src/model/rules.h"
#include "src/render/render.h"
#include "src/session/registry.h"

#include "tests/fuzz/target.h"

namespace {

using namespace layerscope;

void RenderAll(const std::string& command, const analysis::Output& output) {
  table::Result result;
  result.command = command;
  result.ranks = output.ranks;
  for (const render::Format format : {render::Format::kTable, render::Format::kJson,
                                      render::Format::kCsv, render::Format::kMarkdown}) {
    render::RenderOptions options;
    options.format = format;
    options.width = 80;
    (void)render::Render(result, options);
  }
}

void AnalyseAll(const analysis::AnalysisInput& input) {
  for (const session::AnalysisSpec& spec : session::Analyses()) {
    for (const bool for_people : {true, false}) {
      analysis::Presentation presentation;
      presentation.for_people = for_people;
      const auto output = spec.compute(input, session::OptionValues(), presentation);
      if (output.ok()) RenderAll(spec.name, *output);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto rules = model::LoadRuleSet("");
  LS_CHECK(rules.ok(), "the rules that are built in load");
  const auto source = io::OpenMemory({reinterpret_cast<const char*>(data), size});
  ingest::kineto::ReadOptions options;
  options.threads = 1;
  options.chunk_bytes = size_t{16} << 10;
  auto trace = ingest::kineto::ReadTrace(*source, options);
  if (!trace.ok()) return 0;
  const attribution::Attribution attribution = attribution::Attribute(*trace, *rules);
  const analysis::RankInput rank{&*trace, &attribution, trace->metadata.rank, "fuzz.json"};
  AnalyseAll({{&rank, 1}, &*rules});
  return 0;
}
