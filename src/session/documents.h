#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/base/result.h"
#include "src/base/stage_clock.h"
#include "src/document/json_document.h"
#include "src/document/trace_document.h"
#include "src/io/byte_sink.h"
#include "src/session/input_files.h"
#include "src/session/option.h"
#include "src/session/registry.h"
#include "src/session/session.h"

namespace layerscope::session {

/// One verb that writes a document, as data and one function; the counterpart of AnalysisSpec.
struct DocumentSpec {
  /// A copy of one trace. `input` holds one rank; the file behind it is read a second time.
  using BuildTrace = std::function<base::Result<document::TraceDocument>(
      const analysis::AnalysisInput&, const OptionValues&)>;
  /// One JSON value of all inputs; `inputs` as the user named them. With `traces_optional` those
  /// that are no traces are its own to read, and there may be no traces.
  using BuildJson = std::function<base::Result<document::JsonDocument>(
      const analysis::AnalysisInput&, const OptionValues&, const std::vector<std::string>& inputs)>;

  std::string name;
  std::string group;
  std::string summary;
  std::string usage;  ///< what it takes, as help says it: "INPUT"
  /// Its own options, selection and ModelOptionSpecs included; CommonOptions come on top.
  std::vector<OptionSpec> options;
  std::vector<std::string> examples;  ///< two command lines that the tests run
  LayerNeed layer_need = LayerNeed::kNever;
  InputSet input_set = InputSet::kRanks;
  /// Only the traces among the inputs (PartInputs) are opened before it is built.
  bool traces_optional = false;
  std::variant<BuildTrace, BuildJson> build;
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

/// Reads the inputs, writes the document made of them to --output or standard output, and returns
/// what was written as a result: the `data` of every input starts with `document`, `path` (null on
/// standard output), `compression` and `bytes` (null on standard output); of a copy of a trace
/// `events`{`input`, `kept`, `added`, `written`} follow, then the verb's own keys. A copy reads its
/// input twice, so that is a file, and a copy that was written to one is read again before it
/// appears under its name: other counts than were meant are an error (kFailed). kUsage when the
/// output would replace an input, or a copy is to be made of several ranks and none is selected.
/// Under --strict the verdict comes before the writing.
base::Result<Outcome> RunDocument(const DocumentRequest& request, const Hooks& hooks,
                                  base::StageClock& clock);

}  // namespace layerscope::session
