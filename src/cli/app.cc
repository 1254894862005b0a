#include "src/cli/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "src/base/result.h"
#include "src/cli/command_line.h"
#include "src/cli/help.h"
#include "src/cli/progress_bar.h"
#include "src/cli/report_command.h"
#include "src/cli/terminal.h"
#include "src/cli/verb.h"
#include "src/cli/view_command.h"
#include "src/io/atomic_output.h"
#include "src/io/byte_sink.h"
#include "src/render/display_text.h"
#include "src/render/render.h"
#include "src/session/documents.h"
#include "src/session/input_files.h"
#include "src/session/profiles_verb.h"
#include "src/session/session.h"
#include "src/session/shared_options.h"
#include "src/session/stats.h"

namespace layerscope::cli {
namespace {

/// A reader that has gone away (`| head`) is no failure.
base::Status WriteStdout(std::string_view text) {
  const size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written == text.size() && std::fflush(stdout) == 0) return {};
  if (errno == EPIPE) return {};
  return base::Error{base::ErrorCode::kFailed, "standard output cannot be written", {}};
}

base::Status WriteFile(const std::string& path, std::string_view text) {
  base::Result<io::AtomicOutput> file = io::AtomicOutput::Create(path);
  if (!file.ok()) return std::move(file).error();
  if (base::Status written = file->Write(text); !written.ok()) return written;
  return file->Commit();
}

/// The message for people; the JSON envelope too when the caller reads JSON.
int Fail(const std::string& command, const base::Error& error, bool json) {
  // Names of files and modules stand in messages: a terminal must not obey them.
  std::string text = fmt::format("layerscope: error: {}\n", render::VisibleText(error.message));
  if (!error.hint.empty()) text += fmt::format("  hint: {}\n", render::VisibleText(error.hint));
  std::fputs(text.c_str(), stderr);
  if (json) static_cast<void>(WriteStdout(render::RenderError(command, error)));
  return base::ExitStatus(error.code);
}

/// CSV has no place for health: it goes to stderr.
void PrintHealth(const table::Result& result) {
  const auto print = [](const table::HealthEntry& entry) {
    if (entry.severity < table::Severity::kWarning) return;
    std::fputs(fmt::format("layerscope: {}: {} [{} × {}]\n", table::ToString(entry.severity),
                           render::VisibleText(entry.message), entry.code, entry.count)
                   .c_str(),
               stderr);
  };
  for (const table::HealthEntry& entry : result.health) print(entry);
  for (const table::RankResult& rank : result.ranks) {
    for (const table::HealthEntry& entry : rank.warnings) print(entry);
  }
}

/// -q for people: an error stays, for the exit status comes from it.
void DropWarnings(table::Result& result) {
  const auto drop = [](std::vector<table::HealthEntry>& health) {
    health.erase(std::remove_if(health.begin(), health.end(),
                                [](const table::HealthEntry& entry) {
                                  return entry.severity < table::Severity::kError;
                                }),
                 health.end());
  };
  drop(result.health);
  for (table::RankResult& rank : result.ranks) drop(rank.warnings);
}

/// A document on standard output.
class StdoutSink : public io::ByteSink {
 public:
  base::Status Write(std::string_view bytes) override {
    const size_t written = std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    return written == bytes.size() ? base::Status() : Failure();
  }
  base::Status Finish() override { return std::fflush(stdout) == 0 ? base::Status() : Failure(); }
  /// The reader has gone away: what is missing was not wanted.
  bool reader_left() const { return reader_left_; }

 private:
  base::Status Failure() {
    reader_left_ = errno == EPIPE;
    return base::Error{base::ErrorCode::kFailed, "standard output cannot be written", {}};
  }
  bool reader_left_ = false;
};

constexpr std::string_view kReport = "report";

/// A verb with what it is to work on.
struct Invocation {
  const Verb& verb;
  std::vector<std::string> inputs;
  session::RawOptions raw;  ///< `options` as they were given
  session::OptionValues options;

  const session::DocumentSpec* document() const {
    const auto* const spec = std::get_if<const session::DocumentSpec*>(&verb.spec);
    return spec == nullptr ? nullptr : *spec;
  }
  bool writes_page() const { return verb.name == kReport && WritesPage(options); }
  /// A document takes -o for itself; what is said about it then goes to standard output.
  bool writes_document() const { return document() != nullptr || writes_page(); }
  bool prints_document() const { return writes_document() && !options.Has("output"); }
  std::optional<std::string> result_path() const {
    return writes_document() ? std::nullopt : options.Text("output");
  }
};

render::RenderOptions RenderOptionsOf(const Invocation& invocation) {
  const session::OptionValues& options = invocation.options;
  render::RenderOptions render;
  const auto* const analysis = std::get_if<const session::AnalysisSpec*>(&invocation.verb.spec);
  const bool writes_markdown =
      analysis != nullptr && !invocation.writes_page() && (*analysis)->default_format == "markdown";
  render.format = session::FormatOf(
      options, writes_markdown ? render::Format::kMarkdown : render::Format::kTable);
  render.verbose = options.Flag("verbose");
  render.table = options.TextOr("table", {});
  const TerminalStyle style = StyleOf(options, invocation.result_path().has_value());
  render.width = style.width;
  render.color = style.color;
  render.to_terminal = !invocation.result_path() && StdoutIsTerminal();
  return render;
}

base::Result<session::Outcome> RunSession(const Invocation& invocation, StdoutSink& sink,
                                          const base::StopFlag& stop, base::StageClock& clock) {
  const session::OptionValues& options = invocation.options;
  const bool quiet = options.Flag("quiet") || options.Flag("no-progress");
  ProgressBar bar(!quiet && StderrIsTerminal());
  session::Hooks hooks;
  hooks.stop = &stop;
  hooks.progress = [&bar](int64_t done, int64_t total) { bar.Update(done, total); };
  if (invocation.writes_page()) {
    return RunPageReport(invocation.inputs, invocation.raw, options, hooks, sink, clock);
  }
  if (const auto* const analysis =
          std::get_if<const session::AnalysisSpec*>(&invocation.verb.spec)) {
    return session::RunAnalysis({*analysis, invocation.inputs, options}, hooks, clock);
  }
  if (invocation.document() != nullptr) {
    return session::RunDocument({invocation.document(), invocation.inputs, options, &sink}, hooks,
                                clock);
  }
  return session::RunProfiles(invocation.inputs, options);
}

/// Writing the answer over the trace would lose the trace; compressed bytes upset a terminal.
base::Status CheckOutput(const Invocation& invocation) {
  const std::optional<std::string> output = invocation.options.Text("output");
  if (!output) {
    if (invocation.writes_page() && StdoutIsTerminal()) {
      return base::UsageError("a terminal cannot show a page",
                              "give -o report.html, or --format markdown for the written report");
    }
    const bool packed = invocation.prints_document() && invocation.options.Flag("gzip");
    if (!packed || !StdoutIsTerminal()) return {};
    return base::Error{base::ErrorCode::kUsage, "--gzip: a terminal cannot show compressed data",
                       "give -o FILE, or pipe the output"};
  }
  for (const std::string& input : invocation.inputs) {
    if (base::Status safe = session::CheckNotOverwritten(input, output); !safe.ok()) return safe;
  }
  return {};
}

/// The result as text, to where the arguments say.
base::Status PrintResult(const Invocation& invocation, session::Outcome& outcome,
                         base::StageClock& clock) {
  const bool quiet = invocation.options.Flag("quiet");
  const render::RenderOptions render = RenderOptionsOf(invocation);
  const bool for_people =
      render.format == render::Format::kTable || render.format == render::Format::kMarkdown;
  table::Result& result = for_people && outcome.for_people ? *outcome.for_people : outcome.result;
  if (for_people && quiet) DropWarnings(result);
  clock.Start("render");
  base::Result<std::string> text = render::Render(result, render);
  if (!text.ok()) return std::move(text).error();
  clock.Start("write");
  const std::optional<std::string> path = invocation.result_path();
  base::Status written = path ? WriteFile(*path, *text) : WriteStdout(*text);
  clock.Stop();
  if (written.ok() && render.format == render::Format::kCsv && !quiet) PrintHealth(result);
  return written;
}

/// Everything after the arguments are understood: the exit status, or what failed.
base::Result<int> RunInvocation(const Invocation& invocation, const base::StopFlag& stop) {
  if (std::holds_alternative<const session::ViewSpec*>(invocation.verb.spec)) {
    return RunView(invocation.inputs, invocation.raw, invocation.options, stop);
  }
  if (base::Status safe = CheckOutput(invocation); !safe.ok()) return std::move(safe).error();
  base::StageClock clock;
  StdoutSink sink;
  base::Result<session::Outcome> outcome = RunSession(invocation, sink, stop, clock);
  if (sink.reader_left()) return 0;
  if (!outcome.ok()) return std::move(outcome).error();
  if (!invocation.prints_document()) {
    if (base::Status printed = PrintResult(invocation, *outcome, clock); !printed.ok()) {
      return std::move(printed).error();
    }
  } else if (!invocation.options.Flag("quiet")) {
    PrintHealth(outcome->result);
  }
  if (invocation.options.Flag("stats")) {
    std::fputs(session::StatsText(*outcome, clock).c_str(), stderr);
  }
  if (!outcome->verdict) return 0;
  // The data stands on stdout already; only the reason for the status is missing.
  return Fail(invocation.verb.name, *outcome->verdict, false);
}

}  // namespace

int RunApp(const std::vector<std::string>& arguments, const base::StopFlag& stop) {
  const bool json = AsksForJson(arguments);
  const std::string command = CommandName(arguments);
  base::Result<CommandLine> line = ParseCommandLine(arguments);
  if (!line.ok()) return Fail(command, line.error(), json);
  if (line->action == CommandLine::Action::kVersion) {
    return WriteStdout(VersionText()).ok() ? 0 : 1;
  }
  if (line->action == CommandLine::Action::kHelp) {
    const std::string text = line->verb == nullptr ? ProgramHelp() : VerbHelp(*line->verb);
    return WriteStdout(text).ok() ? 0 : 1;
  }
  if (line->verb->name == kReport) ChooseReportFormat(line->options);
  base::Result<session::OptionValues> options =
      session::ParseOptions(line->verb->AllOptions(), line->options);
  if (!options.ok()) return Fail(command, options.error(), json);
  const Invocation invocation{*line->verb, std::move(line->inputs), std::move(line->options),
                              *std::move(options)};
  try {
    base::Result<int> status = RunInvocation(invocation, stop);
    return status.ok() ? *status : Fail(command, status.error(), json);
  } catch (const std::bad_alloc&) {
    return Fail(command,
                {base::ErrorCode::kFailed, "not enough memory",
                 "select fewer ranks, steps or rows, or give the process more memory"},
                json);
  }
}

}  // namespace layerscope::cli
