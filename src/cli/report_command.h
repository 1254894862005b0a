#pragma once

#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/base/stage_clock.h"
#include "src/io/byte_sink.h"
#include "src/session/option.h"
#include "src/session/session.h"

namespace layerscope::cli {

/// `report -o NAME` without --format: the name says what is written. NAME.md, .markdown and .txt
/// are the written report, .json and .csv its figures, everything else is the page. Sets "format".
void ChooseReportFormat(session::RawOptions& raw);

/// `report` writes a page: --format html, or an envelope is asked for of a page that -o names.
bool WritesPage(const session::OptionValues& options);

/// Writes the viewer with the data of the inputs into one HTML file, to -o or to
/// `standard_output`, and returns what was written: `data` is `document`, `path`, `compression`,
/// `bytes`, `slices`, `cuts`. `raw` are the options as they were given. kUsage for options that
/// only the written report has.
base::Result<session::Outcome> RunPageReport(const std::vector<std::string>& inputs,
                                             const session::RawOptions& raw,
                                             const session::OptionValues& options,
                                             const session::Hooks& hooks,
                                             io::ByteSink& standard_output,
                                             base::StageClock& clock);

}  // namespace layerscope::cli
