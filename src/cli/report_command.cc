#include "src/cli/report_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "src/base/format_number.h"
#include "src/io/atomic_output.h"
#include "src/render/health_lines.h"
#include "src/server/one_file_report.h"
#include "src/session/input_files.h"
#include "src/session/registry.h"
#include "src/session/view_source.h"
#include "src/table/or_null.h"

namespace layerscope::cli {
namespace {

using session::ViewCut;

bool IsPageName(std::string_view name) {
  return name.ends_with(".html") || name.ends_with(".htm");
}

/// The written report is of one pass; the page shows them all.
base::Status CheckOptions(const session::RawOptions& raw) {
  for (const char* name : {"pass", "phase", "stream", "rows", "table"}) {
    if (raw.count(name) == 0) continue;
    return base::UsageError(
        fmt::format("--{} is of the written report: the page holds all of it", name),
        "leave it out, or write the report with -o report.md");
  }
  return {};
}

std::string CutText(const ViewCut& cut) {
  if (cut.kept == 0 && cut.of == 1) return fmt::format("{} ({})", cut.what, cut.why);
  return fmt::format("{}: {} of {} ({})", cut.what, cut.kept, cut.of, cut.why);
}

table::Object DescribePage(const std::optional<std::string>& path,
                           const server::OneFileReport& report) {
  table::Array cuts;
  for (const ViewCut& cut : report.cuts) {
    cuts.emplace_back(
        table::Object{{"what", cut.what}, {"kept", cut.kept}, {"of", cut.of}, {"why", cut.why}});
  }
  return {{"document", "report"},
          {"path", table::TextOrNull(path.value_or(""))},
          {"compression", "none"},
          {"bytes", static_cast<int64_t>(report.html.size())},
          {"slices", static_cast<int64_t>(report.n_slices)},
          {"cuts", std::move(cuts)}};
}

/// What people are told of the page.
table::Block PageBlock(const std::optional<std::string>& path,
                       const server::OneFileReport& report) {
  table::Block block;
  block.kind = table::Block::Kind::kFacts;
  block.title = "report";
  block.facts = {
      {"written", fmt::format("{}, {}", path.value_or("standard output"),
                              base::FormatBytes(static_cast<int64_t>(report.html.size())))},
      {"opens", "in any browser, without a network"}};
  for (const ViewCut& cut : report.cuts) block.facts.emplace_back("left out", CutText(cut));
  return block;
}

/// The page is one document, however many files it is made of.
table::Result AsOne(const table::Result& result, table::Block page) {
  table::Result one;
  one.command = result.command;
  // Several would be told apart by headings.
  if (result.inputs.size() == 1) one.inputs = result.inputs;
  one.health = render::CollectHealth(result);
  one.ranks.emplace_back().blocks.push_back(std::move(page));
  return one;
}

base::Status WritePage(const std::optional<std::string>& path, const std::string& html,
                       io::ByteSink& standard_output) {
  if (!path) {
    if (base::Status written = standard_output.Write(html); !written.ok()) return written;
    return standard_output.Finish();
  }
  base::Result<io::AtomicOutput> file = io::AtomicOutput::Create(*path);
  if (!file.ok()) return std::move(file).error();
  if (base::Status written = file->Write(html); !written.ok()) return written;
  return file->Commit();
}

/// One result for all inputs: what is wrong with them stands in its health.
base::Result<session::Outcome> OutcomeOf(const session::ViewSource& source,
                                         const session::OptionValues& options) {
  session::Outcome outcome;
  if (source.run() == nullptr) {
    outcome.run = std::make_shared<const session::LoadedRun>();
    outcome.result.ranks.emplace_back();
  } else {
    base::Result<session::Outcome> summary = source.run()->Summarise();
    if (!summary.ok()) return summary;
    outcome = *std::move(summary);
    for (table::RankResult& rank : outcome.result.ranks) {
      rank.data.clear();
      rank.blocks.clear();
      rank.main_table.clear();
      rank.abstained.reset();
    }
    outcome.result.reduced.reset();
  }
  outcome.result.command = "report";
  const session::AnalysisSpec* const spec = session::FindAnalysis("report");
  outcome.result.options = session::EnvelopeOptions(session::AllOptions(*spec), options);
  return outcome;
}

}  // namespace

void ChooseReportFormat(session::RawOptions& raw) {
  const auto output = raw.find("output");
  if (output == raw.end() || raw.count("format") != 0) return;
  constexpr std::array<std::pair<std::string_view, const char*>, 5> kFormats = {
      {{".md", "markdown"},
       {".markdown", "markdown"},
       {".txt", "markdown"},
       {".json", "json"},
       {".csv", "csv"}}};
  const std::string name = output->second;
  const auto* const known = std::find_if(kFormats.begin(), kFormats.end(), [&](const auto& format) {
    return name.ends_with(format.first);
  });
  raw["format"] = known == kFormats.end() ? "html" : known->second;
}

bool WritesPage(const session::OptionValues& options) {
  const std::string format = options.TextOr("format", {});
  return format == "html" || (format == "json" && IsPageName(options.TextOr("output", {})));
}

base::Result<session::Outcome> RunPageReport(const std::vector<std::string>& inputs,
                                             const session::RawOptions& raw,
                                             const session::OptionValues& options,
                                             const session::Hooks& hooks,
                                             io::ByteSink& standard_output,
                                             base::StageClock& clock) {
  if (base::Status good = CheckOptions(raw); !good.ok()) return std::move(good).error();
  const std::optional<std::string> path = options.Text("output");
  const session::ViewRequest request = session::ViewRequestOf(inputs, raw);
  for (const std::string& file : session::FilesOf(request)) {
    if (base::Status safe = session::CheckNotOverwritten(file, path); !safe.ok()) {
      return std::move(safe).error();
    }
  }
  base::Result<std::unique_ptr<session::ViewSource>> source =
      session::ViewSource::Open(request, hooks, clock);
  if (!source.ok()) return std::move(source).error();
  clock.Start("report");
  const size_t max_bytes = static_cast<size_t>(
      options.Number("max-size").value_or(static_cast<int64_t>(server::kDefaultReportBytes)));
  base::Result<server::OneFileReport> report = server::BuildReport(**source, max_bytes, hooks.stop);
  if (!report.ok()) return std::move(report).error();
  base::Result<session::Outcome> outcome = OutcomeOf(**source, options);
  if (!outcome.ok()) return outcome;
  clock.Start("write");
  base::Status written = WritePage(path, report->html, standard_output);
  clock.Stop();
  if (!written.ok()) return std::move(written).error();
  const table::Object data = DescribePage(path, *report);
  for (table::RankResult& rank : outcome->result.ranks) rank.data = data;
  if (!report->cuts.empty()) {
    std::string left_out;
    for (const ViewCut& cut : report->cuts) {
      left_out += (left_out.empty() ? "" : "; ") + CutText(cut);
    }
    outcome->result.health.push_back({"report_cut", table::Severity::kWarning,
                                      static_cast<int64_t>(report->cuts.size()),
                                      "The page does not hold all: " + left_out + "."});
  }
  outcome->for_people = AsOne(outcome->result, PageBlock(path, *report));
  return outcome;
}

}  // namespace layerscope::cli
