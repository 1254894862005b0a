#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/base/result.h"
#include "src/base/stage_clock.h"
#include "src/document/trace_document.h"
#include "src/io/byte_sink.h"
#include "src/session/option.h"
#include "src/session/registry.h"
#include "src/session/session.h"

namespace layerscope::session {

/// One verb that writes a document, as data and one function; the counterpart of AnalysisSpec.
struct DocumentSpec {
  std::string name;
  std::string group;
  std::string summary;
  /// Its own options, selection included; CommonOptions come on top.
  std::vector<OptionSpec> options;
  std::vector<std::string> examples;  ///< two command lines that the tests run
  LayerNeed layer_need = LayerNeed::kNever;
  /// `input` holds one rank.
  std::function<base::Result<document::TraceDocument>(const analysis::AnalysisInput&,
                                                      const OptionValues&)>
      build;
};

/// All of them, in the order of help.
const std::vector<DocumentSpec>& Documents();
/// A verb's own options and the common ones.
std::vector<OptionSpec> AllOptions(const DocumentSpec& spec);

struct DocumentRequest {
  const DocumentSpec* document = nullptr;
  std::vector<std::string> inputs;
  OptionValues options;  ///< of AllOptions(*document)
  /// Where the document goes without --output.
  io::ByteSink* standard_output = nullptr;
};

/// Reads one trace, writes the document made of it to --output or standard output, and returns what
/// was written as a result: `data` holds `document`, `path` (null on standard output),
/// `compression`, `bytes` (null on standard output), `events`{`input`, `kept`, `added`, `written`}
/// and the verb's own keys. The input is read twice, so it is a file. A file that was written is
/// read again before it appears under its name: other counts than were meant are an error
/// (kFailed). kUsage when the output would replace an input, or several ranks are given and none is
/// selected.
base::Result<Outcome> RunDocument(const DocumentRequest& request, const Hooks& hooks,
                                  base::StageClock& clock);

}  // namespace layerscope::session
