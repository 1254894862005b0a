#include "src/render/terminal.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "src/render/display_text.h"
#include "src/render/folded_ranks.h"
#include "src/render/health_lines.h"
#include "src/render/style.h"
#include "src/render/terminal_table.h"
#include "src/render/value_blocks.h"

namespace layerscope::render {
namespace {

constexpr int kFactGap = 2;
constexpr int kWideLabels = 20;  ///< beyond it a text that does not fit beside its label goes below
constexpr int kTextBelow = 4;    ///< indentation of a text that stands below its label
constexpr int kMaxLabel =
    24;  ///< cells of a fact's label; longer ones push their text to the right

/// Lays out sections one below the other, an empty line between them.
class Page {
 public:
  Page(int width, bool color) : width_(width), style_(color) {}

  void AddRankHeading(const table::RankResult& rank) {
    std::string text = RankName(rank);
    if (rank.rank && !rank.input.empty()) text += "  " + rank.input;
    AddHeading(text);
  }

  void AddHeading(std::string_view text) {
    const std::string title = Shown(text);
    const int rule =
        std::max(0, (width_ > 0 ? std::min(width_, 100) : 100) - DisplayWidth(title) - 1);
    Section(style_.Bold(title) + ' ' + style_.Dim(Repeated("═", rule)) + '\n');
  }

  void AddBlock(const table::Block& block) {
    switch (block.kind) {
      case table::Block::Kind::kTable:
        AddTable(block);
        break;
      case table::Block::Kind::kFacts:
        AddFacts(block);
        break;
      case table::Block::Kind::kText:
        AddText(block);
        break;
    }
  }

  void AddAbstention(const table::Abstention& abstained) {
    std::string text = Marked(style_.Warning("withheld:"), "withheld:", abstained.why);
    if (!abstained.how.empty()) text += Marked("  →", "  →", abstained.how);
    Section(text);
  }

  void AddCoverage(const table::Coverage& coverage) {
    std::string text;
    for (const std::string& line : CoverageLines(coverage)) {
      for (const std::string& part : WrapText(line, width_)) text += style_.Dim(part) + '\n';
    }
    if (!text.empty()) Section(text);
  }

  void AddHealth(const std::vector<table::HealthEntry>& health) {
    std::string text;
    for (const table::HealthEntry& entry : health) {
      const std::string mark = SeverityWords(entry.severity) + ':';
      text += Marked(StyledMark(entry.severity, mark), mark, HealthText(entry));
    }
    if (!text.empty()) Section(text);
  }

  std::string Take() { return std::move(text_); }

 private:
  void Section(const std::string& text) {
    if (!text_.empty()) text_ += '\n';
    text_ += text;
  }

  std::string Shown(std::string_view text) const {
    const std::string visible = VisibleText(text);
    return width_ > 0 ? ElideMiddle(visible, width_) : visible;
  }

  std::string StyledMark(table::Severity severity, const std::string& mark) const {
    switch (severity) {
      case table::Severity::kInfo:
        return style_.Dim(mark);
      case table::Severity::kError:
        return style_.Error(mark);
      case table::Severity::kWarning:
      case table::Severity::kDataLoss:
        break;
    }
    return style_.Warning(mark);
  }

  /// "mark text", with the text's further lines indented by two.
  std::string Marked(const std::string& styled_mark, std::string_view mark,
                     std::string_view text) const {
    // While lines are broken a word of the same width stands for the mark, which may hold spaces.
    const int first = DisplayWidth(mark) + 1;
    const std::string blank = Repeated("x", first - 1) + ' ' + std::string(text);
    const std::vector<std::string> lines =
        WrapText(blank, width_ > 0 ? std::max(20, width_ - 2) : 0);
    std::string out = styled_mark + lines.front().substr(static_cast<size_t>(first - 1)) + '\n';
    for (size_t i = 1; i < lines.size(); ++i) out += "  " + lines[i] + '\n';
    return out;
  }

  std::string Title(std::string_view title) const {
    return title.empty() ? std::string() : style_.Bold(Shown(title)) + '\n';
  }

  void AddTable(const table::Block& block) {
    if (block.title.empty()) {
      Section(RenderTerminalTable(block.table, width_, style_));
      return;
    }
    table::Table titled = block.table;
    titled.title = block.title;
    Section(RenderTerminalTable(titled, width_, style_));
  }

  /// The column of labels is as wide as the longest of them that leaves room for the texts.
  int LabelWidth(const table::Block& block) const {
    const int most = width_ > 0 ? width_ * 6 / 10 : kMaxLabel;
    int label_width = 0;
    for (const auto& [label, text] : block.facts) {
      const int cells = DisplayWidth(VisibleText(label));
      if (cells <= most) label_width = std::max(label_width, cells);
    }
    return label_width;
  }

  void AddFacts(const table::Block& block) {
    const int label_width = LabelWidth(block);
    std::string out = Title(block.title);
    for (const auto& [label, text] : block.facts) {
      const std::string shown = VisibleText(label);
      const int beside = label_width + kFactGap;
      const bool fits = width_ == 0 || beside + DisplayWidth(VisibleText(text)) <= width_;
      const bool below = DisplayWidth(shown) > label_width || (beside > kWideLabels && !fits);
      const int indent = below ? kTextBelow : beside;
      out += below ? shown + '\n' + Repeated(" ", indent) : PadRight(shown, indent);
      const int room = width_ > 0 ? std::max(20, width_ - indent) : 0;
      const std::vector<std::string> lines = WrapText(VisibleText(text), room);
      out += lines.front() + '\n';
      for (size_t i = 1; i < lines.size(); ++i) out += Repeated(" ", indent) + lines[i] + '\n';
    }
    Section(out);
  }

  void AddText(const table::Block& block) {
    std::string out = Title(block.title);
    for (const std::string& line : WrapText(block.text, width_)) out += line + '\n';
    Section(out);
  }

  int width_;
  Style style_;
  std::string text_;
};

void AddRank(const table::RankResult& rank, Page& page) {
  if (rank.abstained) page.AddAbstention(*rank.abstained);
  // What is withheld has no rows; its empty data says nothing.
  if (rank.blocks.empty() && !rank.abstained) {
    for (const table::Block& block : BlocksOf(rank.data)) page.AddBlock(block);
  }
  for (const table::Block& block : rank.blocks) page.AddBlock(block);
}

void AddReduced(const table::Result& result, Page& page) {
  page.AddHeading(result.reduced_title);
  const bool chosen = !result.reduced_blocks.empty();
  const std::vector<table::Block> blocks =
      chosen ? result.reduced_blocks : BlocksOf(*result.reduced);
  for (const table::Block& block : blocks) page.AddBlock(block);
}

}  // namespace

std::string RenderTerminal(const table::Result& result, int width, bool color, bool verbose) {
  Page page(width, color);
  const bool several = HasSeveralRanks(result);
  FoldedRanks folded;
  for (const table::RankResult& rank : result.ranks) {
    if (IsFolded(rank, result)) {
      folded.Add(rank);
      continue;
    }
    if (several) page.AddRankHeading(rank);
    AddRank(rank, page);
    // Of one input the evidence is that of its reduction too.
    if (!several && result.reduced) AddReduced(result, page);
    if (rank.shows_modules) page.AddCoverage(rank.coverage);
  }
  if (folded.text != nullptr) page.AddBlock(*folded.text);
  if (several && result.reduced) AddReduced(result, page);
  page.AddCoverage(folded.coverage);
  page.AddHealth(HealthForPeople(result, verbose));
  return page.Take();
}

}  // namespace layerscope::render
