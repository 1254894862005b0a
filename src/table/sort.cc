#include "src/table/sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "src/base/nearest.h"

namespace layerscope::table {
namespace {

/// The heading that people see beside the column of Role::kShare.
constexpr std::string_view kShare = "share";

/// Numbers before text before lists before unknown (no number among the numbers: NaN would break
/// the order).
int Rank(const Cell& cell) {
  const auto* real = std::get_if<double>(&cell);
  if (real != nullptr && std::isnan(*real)) return 3;
  switch (cell.index()) {
    case 0:
      return 3;
    case 4:
      return 1;
    case 6:
      return 2;
    default:
      return 0;
  }
}

double Number(const Cell& cell) {
  if (const auto* value = std::get_if<int64_t>(&cell)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<double>(&cell)) return *value;
  if (const auto* value = std::get_if<bool>(&cell)) return *value ? 1 : 0;
  double sum = 0;
  if (const auto* map = std::get_if<CellMap>(&cell)) {
    for (const auto& [name, value] : *map) sum += static_cast<double>(value);
  }
  return sum;
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

/// The number at the front without its leading zeros; it is taken off the text.
std::string_view TakeNumber(std::string_view& text) {
  size_t zeros = 0;
  while (zeros < text.size() && text[zeros] == '0') ++zeros;
  size_t end = zeros;
  while (end < text.size() && IsDigit(text[end])) ++end;
  const std::string_view number = text.substr(zeros, end - zeros);
  text.remove_prefix(end);
  return number;
}

/// Numbers inside a text count as numbers; texts that differ in leading zeros alone are ordered by
/// bytes.
bool NaturalLess(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (IsDigit(a.front()) && IsDigit(b.front())) {
      const std::string_view x = TakeNumber(a);
      const std::string_view y = TakeNumber(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      continue;
    }
    if (a.front() != b.front()) {
      return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
    }
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;
}

bool Less(const Cell& a, const Cell& b) {
  const auto* text_a = std::get_if<std::string_view>(&a);
  const auto* text_b = std::get_if<std::string_view>(&b);
  if (text_a != nullptr && text_b != nullptr) return NaturalLess(*text_a, *text_b);
  if (a.index() == b.index() && !std::holds_alternative<CellMap>(a)) return a < b;
  return Number(a) < Number(b);
}

bool IsText(const std::vector<Cell>& cells) {
  const auto known = std::find_if(cells.begin(), cells.end(), [](const Cell& cell) {
    return !std::holds_alternative<Null>(cell);
  });
  return known != cells.end() && Rank(*known) != 0;
}

/// Orders positions (indices into the shown rows) by their cells.
class Order {
 public:
  Order(std::vector<Cell> cells, std::optional<bool> descending)
      : cells_(std::move(cells)), descending_(descending.value_or(!IsText(cells_))) {}

  void Sort(std::vector<size_t>& positions) const {
    std::stable_sort(positions.begin(), positions.end(),
                     [this](size_t a, size_t b) { return Before(cells_[a], cells_[b]); });
  }

 private:
  bool Before(const Cell& a, const Cell& b) const {
    const int rank_a = Rank(a);
    const int rank_b = Rank(b);
    if (rank_a != rank_b) return rank_a < rank_b;
    return descending_ ? Less(b, a) : Less(a, b);
  }

  std::vector<Cell> cells_;
  bool descending_;
};

/// Sorts the children of every row, then lists the rows parent before child again.
std::vector<size_t> SortedTree(const std::vector<int>& depths, const Order& order) {
  const size_t n = depths.size();
  std::vector<std::vector<size_t>> children(n + 1);  // the last one: the roots
  std::vector<size_t> path;
  for (size_t i = 0; i < n; ++i) {
    while (!path.empty() && depths[path.back()] >= depths[i]) path.pop_back();
    children[path.empty() ? n : path.back()].push_back(i);
    path.push_back(i);
  }
  for (std::vector<size_t>& siblings : children) order.Sort(siblings);

  std::vector<size_t> sorted;
  sorted.reserve(n);
  std::vector<size_t> pending(children[n].rbegin(), children[n].rend());
  while (!pending.empty()) {
    const size_t at = pending.back();
    pending.pop_back();
    sorted.push_back(at);
    pending.insert(pending.end(), children[at].rbegin(), children[at].rend());
  }
  return sorted;
}

/// "GPU own" and "gpu_own" are the same heading.
std::string Folded(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == ' ' || c == '-') c = '_';
  }
  return folded;
}

base::Error NoColumn(const Table& table, std::string_view name) {
  std::vector<std::string> names;
  std::vector<std::string> candidates;
  for (const Column& column : table.columns) {
    const ColumnSpec& spec = column.spec;
    names.emplace_back(WithoutUnit(spec.name));
    candidates.push_back(names.back());
    candidates.push_back(spec.name);
    if (spec.role == Role::kShare) candidates.emplace_back(kShare);
    if (!spec.title.empty() && Folded(spec.title) != names.back()) {
      candidates.push_back(spec.title);
      names.back() += fmt::format(" ({})", spec.title);
    }
    // People and machines may each have a column of one name.
    if (std::find(names.begin(), names.end() - 1, names.back()) != names.end() - 1) {
      names.pop_back();
    }
  }
  return {base::ErrorCode::kUsage,
          fmt::format("no column '{}'{}", name, base::DidYouMean(name, candidates)),
          fmt::format("columns: {}", fmt::join(names, ", "))};
}

const Column* FindByName(const Table& table, std::string_view name) {
  if (const Column* exact = table.Find(name)) return exact;
  for (const Column& column : table.columns) {
    if (WithoutUnit(column.spec.name) == name) return &column;
  }
  const std::string heading = Folded(name);
  for (const Column& column : table.columns) {
    if (Folded(column.spec.title) == heading) return &column;
  }
  // People see the share beside the column that it is of.
  for (const Column& column : table.columns) {
    if (heading == kShare && column.spec.role == Role::kShare) return &column;
  }
  return nullptr;
}

}  // namespace

base::Result<SortKey> ParseSortKey(std::string_view text) {
  const size_t colon = text.rfind(':');
  const std::string_view column = text.substr(0, colon);
  if (column.empty()) {
    return base::Error{base::ErrorCode::kUsage,
                       fmt::format("'{}' names no column to sort by", text),
                       "write --sort COL, --sort COL:asc or --sort COL:desc"};
  }
  SortKey key{std::string(column), std::nullopt};
  if (colon == std::string_view::npos) return key;
  const std::string_view direction = text.substr(colon + 1);
  if (direction != "asc" && direction != "desc") {
    return base::Error{base::ErrorCode::kUsage,
                       fmt::format("'{}' is no direction to sort in", direction),
                       fmt::format("write --sort {0}:asc or --sort {0}:desc", column)};
  }
  key.descending = direction == "desc";
  return key;
}

std::string_view WithoutUnit(std::string_view column_name) {
  static constexpr std::array<std::string_view, 3> kSuffixes = {"_ns", "_ppm", "_bytes"};
  for (const std::string_view suffix : kSuffixes) {
    if (column_name.size() > suffix.size() && column_name.ends_with(suffix)) {
      return column_name.substr(0, column_name.size() - suffix.size());
    }
  }
  return column_name;
}

base::Status SortTable(Table& table, const SortKey& key) {
  const Column* column = FindByName(table, key.column);
  if (column == nullptr) return NoColumn(table, key.column);

  const size_t n = table.size();
  std::vector<Cell> cells;
  cells.reserve(n);
  for (size_t i = 0; i < n; ++i) cells.push_back(column->cell(table.RowAt(i)));
  const Order order(std::move(cells), key.descending);

  std::vector<size_t> positions;
  if (table.depth) {
    std::vector<int> depths(n);
    for (size_t i = 0; i < n; ++i) depths[i] = table.depth(table.RowAt(i));
    positions = SortedTree(depths, order);
  } else {
    positions.resize(n);
    std::iota(positions.begin(), positions.end(), size_t{0});
    order.Sort(positions);
  }
  for (size_t& position : positions) position = table.RowAt(position);
  table.order = std::move(positions);
  return {};
}

base::Status SortBy(Table& table, std::string_view sort) {
  if (sort.empty()) return {};
  base::Result<SortKey> key = ParseSortKey(sort);
  if (!key.ok()) return std::move(key).error();
  return SortTable(table, *key);
}

}  // namespace layerscope::table
