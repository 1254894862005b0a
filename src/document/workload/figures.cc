#include "src/document/workload/figures.h"

#include <utility>

namespace layerscope::document {

WorkloadFigures ComputeFigures(const WorkloadInput& input, const WorkloadChoice& choice,
                               const analysis::AnalysisInput& traces) {
  WorkloadFigures figures;
  figures.choice = choice;
  for (const WorkloadRun& run : input.runs) {
    const RunSummary of_file = SummaryOfFile(run.run);
    std::optional<RunSummary> ours = SummaryOfRequests(run.run);
    figures.file.push_back(ours ? CompareSummaries(*ours, of_file) : std::vector<Comparison>());
    figures.summaries.push_back(ours ? *std::move(ours) : of_file);
  }
  if (!choice.run) {
    figures.links.reason = "no benchmark is given";
    return figures;
  }
  figures.run = &input.runs[*choice.run].run;
  figures.summary = &figures.summaries[*choice.run];
  if (input.server) {
    figures.differences = CompareWithServer(*figures.summary, *input.server);
  }
  figures.links = LinkRequests(figures.run->requests, traces);
  figures.split =
      workload::SplitQueue(workload::ValuesOf(figures.run->requests, workload::Measure::kTtft));
  return figures;
}

}  // namespace layerscope::document
