#include "src/document/cut.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/coverage.h"
#include "src/base/format_number.h"
#include "src/document/copied_modules.h"
#include "src/document/copied_ranks.h"
#include "src/document/cut_plan.h"

namespace layerscope::document {
namespace {

using ingest::kineto::RawEvent;
using ingest::kineto::RowKind;

constexpr std::array<std::pair<RowKind, const char*>, 6> kClasses = {{
    {RowKind::kActivity, "activity"},
    {RowKind::kCall, "call"},
    {RowKind::kOp, "op"},
    {RowKind::kScope, "scope"},
    {RowKind::kAnnotation, "annotation"},
    {RowKind::kNone, "other"},
}};

/// The view, the plan over it, and what it kept so far.
struct State {
  State(analysis::RankView chosen, const analysis::Selection& wanted)
      : view(std::move(chosen)), selection(wanted), plan(view, selection) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  analysis::RankView view;
  analysis::Selection selection;
  CutPlan plan;
  std::array<int64_t, kClasses.size()> n_input{};
  std::array<int64_t, kClasses.size()> n_kept{};
};

bool Decide(State& state, const RawEvent& event) {
  size_t at = 0;
  while (at + 1 < kClasses.size() && kClasses[at].first != event.kind) ++at;
  ++state.n_input[at];
  const bool keep = state.plan.Keeps(event);
  if (keep) ++state.n_kept[at];
  return keep;
}

/// Read while the copy runs on: cells are computed when the result is rendered.
table::Table KeptTable(const std::shared_ptr<State>& state) {
  table::Table table;
  table.n_rows = kClasses.size();
  table.owned.push_back(state);
  const State* const seen = state.get();
  table.columns.push_back({{.name = "class"}, [](size_t row) {
                             return table::Cell(std::string_view(kClasses[row].second));
                           }});
  table.columns.push_back(
      {{.name = "n_input", .title = "in the input", .unit = table::Unit::kCount},
       [seen](size_t row) { return table::Cell(seen->n_input[row]); }});
  table.columns.push_back({{.name = "n_kept", .title = "kept", .unit = table::Unit::kCount},
                           [seen](size_t row) { return table::Cell(seen->n_kept[row]); }});
  return table;
}

}  // namespace

base::Result<TraceDocument> BuildCut(const analysis::AnalysisInput& input,
                                     const analysis::Selection& selection) {
  if (selection.All()) {
    return base::Error{base::ErrorCode::kUsage, "nothing says what to keep",
                       "give --step, --pass, --from and --to, or another selection"};
  }
  base::Result<std::vector<analysis::RankView>> views = analysis::Select(input, selection);
  if (!views.ok()) return std::move(views).error();
  const auto state = std::make_shared<State>(std::move(views->front()), selection);
  if (state->plan.IsEmpty()) {
    return base::Error{base::ErrorCode::kNotFound, "nothing is selected",
                       "all conditions hold at once: leave one out"};
  }
  TraceDocument document;
  document.result = analysis::StartResult(state->view);
  const auto n_rows = static_cast<int64_t>(state->view.rows().size());
  const auto n_steps = static_cast<int64_t>(state->view.steps().size());
  document.result.data = {{"selection", table::Object{{"gpu_ns", state->view.total_ns()},
                                                      {"n_activities", n_rows},
                                                      {"n_steps", n_steps}}},
                          {"kept", KeptTable(state)}};
  document.result.main_table = "kept";
  document.result.blocks.push_back(
      {.kind = table::Block::Kind::kText, .text = analysis::SelectionText(state->view, selection)});
  table::Block block = table::TableBlock(KeptTable(state));
  block.title = "events";
  document.result.blocks.push_back(std::move(block));
  NoteCopiedModules(state->view, document.result);
  document.plan.trace = &state->view.trace();
  document.plan.members = RankMembers(state->view);
  document.plan.keeps_graph_node = [state](size_t row) { return state->plan.KeepsGraphNode(row); };
  document.plan.keeps = [state](const RawEvent& event) { return Decide(*state, event); };
  return document;
}

}  // namespace layerscope::document
