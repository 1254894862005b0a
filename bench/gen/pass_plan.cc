#include "bench/gen/pass_plan.h"

#include <algorithm>
#include <map>

#include "bench/gen/family_names.h"
#include "bench/gen/kernel_names.h"

namespace layerscope::gen {
namespace {

constexpr int64_t kPromptPercent = 300;
constexpr int64_t kColdPercent = 500;

// A model that predicts ahead joins the last hidden state with the next token's embedding.
constexpr Row kDraftHead[] = {{kGather, 60, Work::kEmbed},
                              {kFlashinferNorm, 38, Work::kNorm},
                              {kFlashinferNorm, 36, Work::kNorm},
                              {kCat, 30},
                              {kGemmDown, 120, Work::kGemm}};

Place At(Part part, int64_t layer = -1, int32_t block = -1) {
  Place place;
  place.part = part;
  place.layer = static_cast<int32_t>(layer);
  place.block = block;
  return place;
}

std::map<int32_t, int64_t> RowsByLayer(const PassPlan& plan) {
  std::map<int32_t, int64_t> rows;
  for (const PlannedRow& row : plan) {
    if (row.place.part == Part::kLayer) ++rows[row.place.layer];
  }
  return rows;
}

}  // namespace

PassPlanner::PassPlanner(const Options& options, int64_t main_stream, int64_t side_stream)
    : o_(options),
      family_(ChosenFamily(options)),
      forms_(LayerForms(family_, options)),
      main_stream_(main_stream),
      side_stream_(side_stream) {}

bool PassPlanner::Applies(const Row& row, const Turn& turn) const {
  const bool first = turn.layer == 0;
  const bool last = turn.layer == turn.layers - 1;
  const bool parallel = o_.tp > 1;
  const bool fused = parallel && o_.fused_all_reduce;
  uint32_t excluded = first ? kNotFirstLayer : kFirstLayer;
  excluded |= last ? kNotLastLayer : kLastLayer;
  excluded |= turn.decode ? kPrefillOnly : kDecodeOnly;
  excluded |= fused ? kNotTpFused : kTpFused;
  if (!parallel) excluded |= kTp;
  if (!parallel || fused) excluded |= kTpPlain;
  return (row.flags & excluded) == 0;
}

void PassPlanner::Append(Rows rows, const Turn& turn, const Place& place, int32_t scope_block,
                         PassPlan* plan) const {
  for (const Row& row : rows) {
    if (!Applies(row, turn)) continue;
    PlannedRow planned;
    planned.row = &row;
    planned.place = place;
    planned.place.reduces = row.work == Work::kReduce || (row.flags & kReduces) != 0;
    planned.stream = turn.stream;
    const bool beside = (row.flags & kSide) != 0 || (o_.comm_stream && row.work == Work::kReduce);
    if (beside && side_stream_ != main_stream_ && place.part == Part::kLayer) {
      planned.stream = side_stream_;
      planned.place.lane = Lane::kSide;
      planned.place.after_stream = turn.stream;
    }
    planned.percent = turn.decode ? 200 : 200 * kPromptPercent / 100;
    if (turn.cold && turn.layer == 0 && place.part == Part::kLayer)
      planned.percent = planned.percent * kColdPercent / 100;
    planned.scope_layer = scope_block < 0 ? -1 : static_cast<int32_t>(turn.layer);
    planned.scope_block = scope_block;
    plan->push_back(planned);
  }
}

void PassPlanner::AppendLayer(const Form& form, const Turn& turn, PassPlan* plan) const {
  const auto last_block = static_cast<int32_t>(form.blocks.size()) - 1;
  const Place before =
      turn.layer == 0 ? At(Part::kHead) : At(Part::kLayer, turn.layer - 1, last_block);
  Append(family_.prelude, turn, before, 0, plan);
  for (int32_t block = 0; block <= last_block; ++block) {
    for (const Rows rows : form.blocks[static_cast<size_t>(block)])
      Append(rows, turn, At(Part::kLayer, turn.layer, block), block, plan);
  }
}

PassPlan PassPlanner::Whole(bool decode, bool cold, int64_t stream) const {
  PassPlan plan;
  const auto layers = static_cast<int64_t>(forms_.size());
  Append(family_.head, {0, layers, decode, false, stream}, At(Part::kHead), -1, &plan);
  for (int64_t i = 0; i < layers; ++i)
    AppendLayer(*forms_[static_cast<size_t>(i)], {i, layers, decode, cold, stream}, &plan);
  Append(family_.tail, {layers - 1, layers, decode, false, stream}, At(Part::kTail), -1, &plan);
  return plan;
}

PassPlan PassPlanner::Draft() const {
  PassPlan plan;
  const Turn turn{0, 1, true, false, main_stream_};
  Append(kDraftHead, turn, At(Part::kHead), -1, &plan);
  AppendLayer(*forms_.back(), turn, &plan);
  Append(family_.tail, turn, At(Part::kTail), -1, &plan);
  return plan;
}

void PassPlanner::AddResidue(PassPlan* plan) const {
  const auto middle = static_cast<int32_t>(forms_.size() / 2);
  const auto last = std::find_if(plan->rbegin(), plan->rend(), [middle](const PlannedRow& row) {
    return row.place.layer == middle && (row.row->flags & kAnchor) != 0;
  });
  if (last == plan->rend()) return;
  const auto at = std::prev(last.base());
  if (o_.residue < 0) {
    plan->erase(at);
  } else {
    const PlannedRow again = *at;
    plan->insert(std::next(at, 2), again);
  }
}

PassTruth PassPlanner::Describe(const PassPlan& whole, PassPlan* plan, bool draft) const {
  PassTruth pass;
  const auto planned = RowsByLayer(whole);
  const auto present = RowsByLayer(*plan);
  std::map<int32_t, int32_t> positions;
  for (const auto& [layer, rows] : present) {
    positions[layer] = static_cast<int32_t>(pass.layers.size());
    const auto i = static_cast<size_t>(layer);
    const Form& form = draft ? *forms_.back() : *forms_[i];
    LayerTruth truth;
    truth.index = layer;
    truth.type = form.type;
    truth.form = form.letter;
    truth.ratio = form.ratio;
    truth.first = layer == 0;
    truth.final = draft || i + 1 == forms_.size();
    const auto of_whole = planned.find(layer);
    truth.cut = of_whole != planned.end() && rows < of_whole->second;
    pass.complete = pass.complete && !truth.cut;
    pass.layers.push_back(truth);
  }
  // A draft model has none of the target's layers.
  pass.complete = pass.complete && !draft && present.size() == planned.size();
  for (PlannedRow& row : *plan) {
    if (row.place.part == Part::kLayer) row.place.layer = positions[row.place.layer];
  }
  return pass;
}

PassPlan PassPlanner::Interleave(const PassPlan& first, const PassPlan& second) {
  PassPlan merged;
  size_t at[2] = {0, 0};
  const PassPlan* plans[2] = {&first, &second};
  for (int turn = 0; at[0] < first.size() || at[1] < second.size(); turn = 1 - turn) {
    const PassPlan& plan = *plans[turn];
    size_t& i = at[turn];
    if (i == plan.size()) continue;
    const PlannedRow begin = plan[i];
    for (; i < plan.size() && plan[i].scope_layer == begin.scope_layer &&
           plan[i].scope_block == begin.scope_block;
         ++i)
      merged.push_back(plan[i]);
  }
  return merged;
}

}  // namespace layerscope::gen
