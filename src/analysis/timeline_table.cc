#include "src/analysis/timeline_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/row_table.h"
#include "src/base/format_number.h"
#include "src/kernel_names/short_name.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

using layers::LayerStructure;
using table::Cell;

/// A lane's strip: nothing, an eighth, …, all of a part busy.
std::string Strip(const LaneUse& use, const TimelineRange& range) {
  constexpr std::array<std::string_view, 9> kLevels = {"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const int64_t cell_ns = TimelineCellNs(range);
  const int64_t span_ns = range.to_ns - range.from_ns;
  std::string strip;
  for (size_t cell = 0; cell < kTimelineCells; ++cell) {
    const int64_t left_ns = span_ns - std::min(span_ns, static_cast<int64_t>(cell) * cell_ns);
    const int64_t whole_ns = std::min(cell_ns, left_ns);
    const int64_t ppm = base::PartsPerMillion(use.cell_busy_ns[cell], whole_ns);
    const int64_t level = use.cell_busy_ns[cell] == 0 ? 0 : std::clamp<int64_t>(ppm / 125000, 1, 8);
    strip += kLevels[static_cast<size_t>(level)];
  }
  return strip;
}

struct LaneRow {
  int64_t id = 0;
  TimelineLane lane;
  LaneUse use;
  int64_t share_ppm = 0;
  std::string strip;
};

/// What one slice shows beside its times. Texts live as long as the trace, or as `names`.
struct SliceRow {
  TimelineSlice slice;
  std::string_view name;
  std::string_view category;
  std::string_view evidence;
  std::optional<int64_t> pass;
  std::optional<int64_t> layer;
};

/// Describes slices by the interval that stands for each.
class SliceWriter {
 public:
  SliceWriter(const RankView& view, const LayerStructure* structure, const TimelineParts& parts,
              std::deque<std::string>& names)
      : view_(view),
        structure_(structure),
        parts_(parts),
        names_(names),
        short_names_(view.trace().strings.size()) {}

  SliceRow Row(LaneKind kind, const TimelineSlice& slice) {
    SliceRow row;
    row.slice = slice;
    switch (kind) {
      case LaneKind::kStream:
        DescribeActivity(slice.source, row);
        break;
      case LaneKind::kSteps:
        row.name = view_.trace().strings[view_.attribution().steps[slice.source].name];
        break;
      case LaneKind::kPasses:
        row.name = layers::ToString(structure_->passes[slice.source].kind);
        row.pass = slice.source;
        row.evidence = EvidenceOf(parts_.passes[slice.source]);
        break;
      case LaneKind::kLayers:
        row.name = DescribeLayer(slice.source, row);
        row.evidence = EvidenceOf(parts_.layers[slice.source]);
        break;
      case LaneKind::kBlocks: {
        const BlockSpan& block = parts_.blocks[slice.source];
        DescribeLayer(block.layer.index(), row);
        row.name = BlockName(block.block);
        row.evidence = EvidenceOf(block);
        break;
      }
    }
    return row;
  }

 private:
  void DescribeActivity(uint32_t source, SliceRow& row) {
    const trace::StringId name = view_.activities().name[source];
    row.name = ShortName(name);
    row.category = view_.rules().category(view_.attribution().category_of_name[name.index()]).name;
    row.evidence = attribution::ToString(attribution::Evidence::kUnresolved);
    if (structure_ == nullptr) return;
    row.evidence = attribution::ToString(structure_->evidence[source]);
    const layers::PassId pass = structure_->pass[source];
    if (!pass.valid()) return;
    row.pass = static_cast<int64_t>(pass.index());
    if (const layers::LayerId layer = structure_->layer[source]; layer.valid()) {
      row.layer = structure_->layers[layer.index()].index;
    }
  }
  /// Returns the layer's type.
  std::string_view DescribeLayer(size_t index, SliceRow& row) const {
    const layers::Layer& layer = structure_->layers[index];
    row.pass = static_cast<int64_t>(layer.pass.index());
    row.layer = layer.index;
    return structure_->types[layer.type];
  }
  /// Captures have no activities: their layers are known as all others are.
  std::string_view EvidenceOf(const PartSpan& part) const {
    return attribution::ToString(part.span.empty() ? structure_->anchor.evidence
                                                   : structure_->evidence[part.longest_row]);
  }
  std::string_view ShortName(trace::StringId name) {
    if (!name.valid()) return {};
    std::string_view& text = short_names_[name.index()];
    if (text.data() == nullptr) {
      names_.push_back(kernel_names::ShortName(view_.trace().strings[name]));
      text = names_.back();
    }
    return text;
  }
  std::string_view BlockName(uint8_t block) {
    std::string_view& text = block_names_[block];
    if (text.data() == nullptr) {
      names_.push_back(fmt::format("block {}", block));
      text = names_.back();
    }
    return text;
  }

  const RankView& view_;
  const LayerStructure* structure_;
  const TimelineParts& parts_;
  std::deque<std::string>& names_;
  std::vector<std::string_view> short_names_;  ///< by StringId, as they are asked for
  std::array<std::string_view, 256> block_names_{};
};

}  // namespace

table::Table LaneTable(const RankView& view, const Timeline& timeline) {
  const int64_t span_ns = timeline.range.to_ns - timeline.range.from_ns;
  std::vector<LaneRow> rows;
  rows.reserve(timeline.lanes.lanes.size());
  for (size_t i = 0; i < timeline.lanes.lanes.size(); ++i) {
    const LaneUse& use = timeline.drawn.lanes[i];
    rows.push_back({static_cast<int64_t>(i), timeline.lanes.lanes[i], use,
                    base::PartsPerMillion(use.busy_ns, span_ns), Strip(use, timeline.range)});
  }
  const PlaceColumns places = PlacesToShow(view);
  const auto place = [](LabelValue Place::*member) {
    return [member](const LaneRow& row) { return ToCell(row.lane.place.*member); };
  };
  const auto shown = [](std::string name, bool people) {
    table::ColumnSpec spec{.name = std::move(name), .priority = 2};
    return people ? spec : ForMachines(spec);
  };
  RowTable<LaneRow> table(std::move(rows));
  table.AddInt(ForMachines({.name = "id"}), &LaneRow::id)
      .Add(ForMachines({.name = "kind"}),
           [](const LaneRow& row) { return Cell(ToString(row.lane.kind)); })
      .Add(shown("device", places.device), place(&Place::device))
      .Add(ForMachines({.name = "stream"}),
           [](const LaneRow& row) { return ToCell(row.lane.stream); })
      .Add(shown("rank", places.rank), place(&Place::rank))
      .Add(shown("pid", places.pid), place(&Place::pid))
      .Add(Key("name", "lane"),
           [](const LaneRow& row) { return Cell(std::string_view(row.lane.name)); })
      .Add(Count("n", "n"), [](const LaneRow& row) { return Cell(row.use.n); })
      .Add(Nanoseconds("busy_ns", "busy", 1),
           [](const LaneRow& row) { return Cell(row.use.busy_ns); });
  table::ColumnSpec share{.name = "share", .unit = table::Unit::kPartsPerMillion, .priority = 1};
  share.audience = table::Audience::kPeople;
  table::ColumnSpec strip{.name = "strip", .title = "busy over time"};
  strip.audience = table::Audience::kPeople;
  table.AddInt(share, &LaneRow::share_ppm).AddText(strip, &LaneRow::strip);
  return table.Take();
}

table::Table SliceTable(const RankView& view, const LayerStructure* structure,
                        const Timeline& timeline) {
  auto names = std::make_shared<std::deque<std::string>>();
  SliceWriter writer(view, structure, timeline.lanes.parts, *names);
  std::vector<SliceRow> rows;
  rows.reserve(timeline.drawn.slices.size());
  for (const TimelineSlice& slice : timeline.drawn.slices) {
    rows.push_back(writer.Row(timeline.lanes.lanes[slice.lane].kind, slice));
  }
  const auto number = [](int64_t TimelineSlice::*member) {
    return [member](const SliceRow& row) { return Cell(row.slice.*member); };
  };
  const auto text = [](std::string_view SliceRow::*member) {
    return [member](const SliceRow& row) -> Cell {
      if ((row.*member).empty()) return table::Null();
      return row.*member;
    };
  };
  RowTable<SliceRow> table(std::move(rows));
  table.Add({.name = "lane"}, [](const SliceRow& row) { return Cell(int64_t{row.slice.lane}); })
      .Add(Nanoseconds("start_ns", "start"), number(&TimelineSlice::start_ns))
      .Add(Nanoseconds("end_ns", "end"), number(&TimelineSlice::end_ns))
      .Add(Count("n", "n"), number(&TimelineSlice::n))
      .Add(Nanoseconds("busy_ns", "busy"), number(&TimelineSlice::busy_ns))
      .Add(Key("name"), [](const SliceRow& row) { return Cell(row.name); })
      .Add({.name = "pass"}, [](const SliceRow& row) { return table::CellOrNull(row.pass); })
      .Add({.name = "layer"}, [](const SliceRow& row) { return table::CellOrNull(row.layer); })
      .Add({.name = "category"}, text(&SliceRow::category))
      .Add({.name = "evidence"}, text(&SliceRow::evidence));
  table::Table result = table.Take();
  result.owned.push_back(std::move(names));
  return result;
}

}  // namespace layerscope::analysis
