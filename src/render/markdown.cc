#include "src/render/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <vector>

#include "src/render/display_text.h"
#include "src/render/folded_ranks.h"
#include "src/render/health_lines.h"
#include "src/render/text_table.h"
#include "src/render/value_blocks.h"

namespace layerscope::render {
namespace {

bool IsWordByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

/// Text that Markdown shows as it stands. An underscore inside a word is no markup and stays
/// readable.
std::string Escaped(std::string_view text) {
  const std::string visible = VisibleText(text);
  std::string out;
  for (size_t i = 0; i < visible.size(); ++i) {
    const char c = visible[i];
    const bool inside_word =
        i > 0 && i + 1 < visible.size() && IsWordByte(visible[i - 1]) && IsWordByte(visible[i + 1]);
    const bool is_markup = std::string_view("\\`*<>[]|~&#").find(c) != std::string_view::npos;
    if (is_markup || (c == '_' && !inside_word)) out += '\\';
    out += c;
  }
  return out;
}

/// A code span; the fence is one backtick longer than the longest run inside.
std::string Code(std::string_view text, bool in_table) {
  const std::string visible = VisibleText(text);
  if (visible.empty()) return {};
  std::string body;
  size_t run = 0;
  size_t longest = 0;
  for (const char c : visible) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|' && in_table) body += '\\';
    body += c;
  }
  const std::string fence(longest + 1, '`');
  const std::string space = body.front() == '`' || body.back() == '`' ? " " : "";
  return fence + space + body + space + fence;
}

/// Deeper levels are shown at this one, as in terminals.
constexpr int kMaxIndent = 64;

std::string CellText(const TextTable& table, const TextColumn& column, size_t row,
                     int least_depth) {
  const std::string& cell = column.cells[row];
  switch (column.kind) {
    case TextColumn::Kind::kName:
      return Code(cell, true);
    case TextColumn::Kind::kTree: {
      if (table.depths.empty()) return Code(cell, true);
      const int indent = std::min(table.depths[row] - least_depth, kMaxIndent);
      return Repeated("&nbsp;&nbsp;", indent) + Code(cell, true);
    }
    case TextColumn::Kind::kText:
    case TextColumn::Kind::kNumber:
    case TextColumn::Kind::kShare:
      break;
  }
  return Escaped(cell);
}

std::string Heading(int level, std::string_view text) {
  return fmt::format("{} {}\n\n", Repeated("#", level), Escaped(text));
}

std::string TableText(const table::Table& source) {
  const TextTable table = BuildTextTable(source);
  std::string out;
  if (table.n_rows == 0) {
    out += "(no rows)\n\n";
  } else if (!table.columns.empty()) {
    std::string heading = "|";
    std::string rule = "|";
    for (const TextColumn& column : table.columns) {
      heading += ' ' + Escaped(column.title) +
                 (column.unit.empty() ? "" : " (" + column.unit + ')') + " |";
      rule += column.right() ? "---:|" : "---|";
    }
    out += heading + '\n' + rule + '\n';
    const int least_depth =
        table.depths.empty() ? 0 : *std::min_element(table.depths.begin(), table.depths.end());
    for (size_t row = 0; row < table.n_rows; ++row) {
      out += '|';
      for (const TextColumn& column : table.columns)
        out += ' ' + CellText(table, column, row, least_depth) + " |";
      out += '\n';
    }
    out += '\n';
  }
  for (const std::string& note : table.notes) out += Escaped(note) + "\n\n";
  if (table.n_rows == 0) return out;
  for (const std::string& note : NotesOf(table.columns)) out += Escaped(note) + "\n\n";
  return out;
}

std::string BlockText(const table::Block& block, int level) {
  const bool is_table = block.kind == table::Block::Kind::kTable;
  const std::string& title = block.title.empty() && is_table ? block.table.title : block.title;
  std::string out = title.empty() ? "" : Heading(level, title);
  switch (block.kind) {
    case table::Block::Kind::kTable:
      return out + TableText(block.table);
    case table::Block::Kind::kFacts:
      for (const auto& [label, text] : block.facts) {
        out += fmt::format("- **{}:** {}\n", Escaped(label), Escaped(text));
      }
      return out + '\n';
    case table::Block::Kind::kText:
      for (const std::string& line : WrapText(block.text, 0)) out += Escaped(line) + "  \n";
      return out + '\n';
  }
  return out;
}

std::string RankText(const table::RankResult& rank, int level) {
  std::string out;
  if (rank.abstained) {
    out += fmt::format("**Withheld:** {}; {}\n\n", Escaped(rank.abstained->why),
                       Escaped(rank.abstained->how));
  }
  const bool shows_data = rank.blocks.empty() && !rank.abstained;
  const std::vector<table::Block> blocks = shows_data ? BlocksOf(rank.data) : rank.blocks;
  for (const table::Block& block : blocks) out += BlockText(block, level);
  return out;
}

std::string CoverageText(const table::Coverage& coverage) {
  std::string out;
  for (const std::string& line : CoverageLines(coverage)) out += Escaped(line) + "\n\n";
  return out;
}

std::string ReducedText(const table::Result& result) {
  std::string out = Heading(2, result.reduced_title);
  const bool chosen = !result.reduced_blocks.empty();
  const std::vector<table::Block> blocks =
      chosen ? result.reduced_blocks : BlocksOf(*result.reduced);
  for (const table::Block& block : blocks) out += BlockText(block, 3);
  return out;
}

}  // namespace

std::string RenderMarkdown(const table::Result& result, bool verbose) {
  std::string out = Heading(1, "layerscope " + result.command);
  for (const table::InputInfo& input : result.inputs) {
    out += fmt::format("- {} ({})\n", Code(input.path, false), Escaped(input.kind));
  }
  if (!result.inputs.empty()) out += '\n';

  const bool several = HasSeveralRanks(result);
  const bool by_input = HasRankTwice(result);
  FoldedRanks folded;
  for (const table::RankResult& rank : result.ranks) {
    if (IsFolded(rank, result)) {
      folded.Add(rank);
      continue;
    }
    if (several) out += Heading(2, by_input ? rank.input : RankName(rank));
    out += RankText(rank, several ? 3 : 2);
    // Of one input the evidence is that of its reduction too.
    if (!several && result.reduced) out += ReducedText(result);
    if (rank.shows_modules) out += CoverageText(rank.coverage);
  }
  if (folded.text != nullptr) out += BlockText(*folded.text, 2);
  if (several && result.reduced) out += ReducedText(result);
  out += CoverageText(folded.coverage);
  const std::vector<table::HealthEntry> health = HealthForPeople(result, verbose);
  if (!health.empty()) out += Heading(2, "Health");
  for (const table::HealthEntry& entry : health) {
    out += fmt::format("- **{}:** {}\n", SeverityWords(entry.severity), Escaped(HealthText(entry)));
  }
  out.erase(out.find_last_not_of('\n') + 1);
  return out + '\n';
}

}  // namespace layerscope::render
