#include "src/cli/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "src/base/result.h"
#include "src/cli/command_line.h"
#include "src/cli/help.h"
#include "src/cli/progress_bar.h"
#include "src/cli/terminal.h"
#include "src/io/atomic_output.h"
#include "src/render/display_text.h"
#include "src/render/render.h"
#include "src/session/session.h"
#include "src/session/shared_options.h"

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

render::RenderOptions RenderOptionsOf(const session::OptionValues& options) {
  render::RenderOptions render;
  render.format = static_cast<render::Format>(options.Choice("format").value_or(0));
  render.verbose = options.Flag("verbose");
  render.table = options.TextOr("table", {});
  const TerminalStyle style = StyleOf(options, options.Has("output"));
  render.width = style.width;
  render.color = style.color;
  return render;
}

base::Result<session::Outcome> RunSession(const session::Request& request,
                                          const base::StopFlag& stop, base::StageClock& clock) {
  const bool quiet = request.options.Flag("quiet") || request.options.Flag("no-progress");
  ProgressBar bar(!quiet && StderrIsTerminal());
  session::Hooks hooks;
  hooks.stop = &stop;
  hooks.progress = [&bar](int64_t done, int64_t total) { bar.Update(done, total); };
  return session::RunAnalysis(request, hooks, clock);
}

/// Writing the answer over the trace would lose the trace.
base::Status CheckOutput(const session::Request& request) {
  const std::optional<std::string> output = request.options.Text("output");
  if (!output) return {};
  for (const std::string& input : request.inputs) {
    std::error_code absent;
    if (!std::filesystem::equivalent(input, *output, absent)) continue;
    return base::Error{base::ErrorCode::kUsage,
                       fmt::format("-o {} would overwrite the input", *output),
                       "name another file"};
  }
  return {};
}

/// Everything after the arguments are understood: the exit status, or what failed.
base::Result<int> RunRequest(const session::Request& request, const base::StopFlag& stop) {
  if (base::Status safe = CheckOutput(request); !safe.ok()) return std::move(safe).error();
  base::StageClock clock;
  base::Result<session::Outcome> outcome = RunSession(request, stop, clock);
  if (!outcome.ok()) return std::move(outcome).error();
  const session::OptionValues& options = request.options;
  const render::RenderOptions render = RenderOptionsOf(options);
  const bool for_people =
      render.format == render::Format::kTable || render.format == render::Format::kMarkdown;
  if (for_people && options.Flag("quiet")) DropWarnings(outcome->result);
  clock.Start("render");
  base::Result<std::string> text = render::Render(outcome->result, render);
  if (!text.ok()) return std::move(text).error();
  clock.Start("write");
  const std::optional<std::string> path = options.Text("output");
  base::Status written = path ? WriteFile(*path, *text) : WriteStdout(*text);
  if (!written.ok()) return std::move(written).error();
  clock.Stop();
  if (render.format == render::Format::kCsv && !options.Flag("quiet")) {
    PrintHealth(outcome->result);
  }
  if (options.Flag("stats")) std::fputs(session::StatsText(*outcome, clock).c_str(), stderr);
  if (!outcome->verdict) return 0;
  // The data stands on stdout already; only the reason for the status is missing.
  return Fail(request.analysis->name, *outcome->verdict, false);
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
    const std::string text = line->analysis == nullptr ? ProgramHelp() : VerbHelp(*line->analysis);
    return WriteStdout(text).ok() ? 0 : 1;
  }
  base::Result<session::OptionValues> options =
      session::ParseOptions(session::AllOptions(*line->analysis), line->options);
  if (!options.ok()) return Fail(command, options.error(), json);
  const session::Request request{line->analysis, std::move(line->inputs), *std::move(options)};
  try {
    base::Result<int> status = RunRequest(request, stop);
    return status.ok() ? *status : Fail(command, status.error(), json);
  } catch (const std::bad_alloc&) {
    return Fail(command,
                {base::ErrorCode::kFailed, "not enough memory",
                 "select fewer ranks, steps or rows, or give the process more memory"},
                json);
  }
}

}  // namespace layerscope::cli
