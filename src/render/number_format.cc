#include "src/render/number_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "src/base/format_number.h"
#include "src/render/display_text.h"

namespace layerscope::render {
namespace {

using table::Unit;

double Magnitude(const table::Cell& cell) {
  if (const auto* value = std::get_if<int64_t>(&cell))
    return std::fabs(static_cast<double>(*value));
  if (const auto* value = std::get_if<double>(&cell))
    return std::isfinite(*value) ? std::fabs(*value) : 0;
  return 0;
}

bool IsNumber(const table::Cell& cell) {
  return std::holds_alternative<int64_t>(cell) || std::holds_alternative<double>(cell);
}

bool IsNull(const table::Cell& cell) {
  return std::holds_alternative<table::Null>(cell);
}

}  // namespace

double LargestNumber(const std::vector<table::Cell>& cells) {
  double largest = 0;
  for (const table::Cell& cell : cells) largest = std::max(largest, Magnitude(cell));
  return largest;
}

double DurationFactor(double ns) {
  if (ns < 1e3) return 1;
  if (ns < 1e6) return 1e3;
  return ns < 1e9 ? 1e6 : 1e9;
}

NumberFormat::NumberFormat(Unit unit, const std::vector<table::Cell>& cells, double unit_basis)
    : unit_(unit) {
  bool any = false;
  for (const table::Cell& cell : cells) {
    if (IsNull(cell)) continue;
    any = true;
    is_number_ = is_number_ && IsNumber(cell);
  }
  // Without a known cell the unit decides, so that a column of unknown numbers is laid out as one.
  if (!any) is_number_ = unit != Unit::kNone;
  const double largest = LargestNumber(cells);
  if (is_number_) scale_ = ScaleOf(unit, unit_basis > 0 ? unit_basis : largest, largest);
}

NumberFormat::Scale NumberFormat::ScaleOf(Unit unit, double basis, double largest) {
  // About five digits of the largest value; three decimals of a microsecond are all that ns can
  // fill.
  const auto decimals = [largest](double factor, int most) {
    return largest >= 100 * factor ? most - 1 : most;
  };
  if (unit == Unit::kNanoseconds) {
    const double factor = DurationFactor(basis);
    if (factor == 1) return {"ns", factor, 0};
    if (factor == 1e3) return {"us", factor, decimals(factor, 2)};
    return {factor == 1e6 ? "ms" : "s", factor, decimals(factor, 3)};
  }
  if (unit == Unit::kBytes) {
    static constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t at = 0;
    double factor = 1;
    while (basis >= 1024 * factor && at + 1 < kUnits.size()) ++at, factor *= 1024;
    return {kUnits[at], factor, at == 0 ? 0 : decimals(factor, 2)};
  }
  return {};
}

std::string NumberFormat::Scaled(double value) const {
  if (value == 0) return "0";
  const double scaled = value / scale_.factor;
  const double least = std::pow(10.0, -scale_.decimals);
  if (std::fabs(scaled) < least / 2) {
    return fmt::format("{}{:.{}f}", value < 0 ? ">-" : "<", least, scale_.decimals);
  }
  return fmt::format("{:.{}f}", scaled, scale_.decimals);
}

std::string NumberFormat::IntText(int64_t value) const {
  switch (unit_) {
    case Unit::kNone:
      return fmt::format("{}", value);
    case Unit::kCount:
      return base::FormatCount(value);
    case Unit::kPartsPerMillion:
      return UnitText(unit_, value);
    case Unit::kNanoseconds:
    case Unit::kBytes:
      break;
  }
  // Mixed with text, a number carries its own unit.
  return is_number_ ? Scaled(static_cast<double>(value)) : UnitText(unit_, value);
}

std::string NumberFormat::MapText(const table::CellMap& map) const {
  if (map.empty()) return "-";
  int64_t sum = 0;
  for (const auto& [name, value] : map) {
    if (__builtin_add_overflow(sum, value, &sum)) return "-";
  }
  if (unit_ == Unit::kNanoseconds && map.size() == 1) return VisibleText(map.front().first);
  std::string out;
  for (const auto& [name, value] : map) {
    if (!out.empty()) out += ", ";
    out += VisibleText(name) + ' ';
    if (unit_ == Unit::kNanoseconds && sum > 0) {
      out += base::FormatShare(value, sum);
    } else {
      out += UnitText(unit_, value);
    }
  }
  return out;
}

std::string NumberFormat::Text(const table::Cell& cell) const {
  struct Visitor {
    const NumberFormat& format;
    std::string operator()(table::Null) const { return "-"; }
    std::string operator()(bool value) const { return value ? "yes" : "no"; }
    std::string operator()(int64_t value) const { return format.IntText(value); }
    std::string operator()(double value) const {
      if (!std::isfinite(value)) return "-";
      return format.scale_.unit.empty() ? fmt::format("{:.3f}", value) : format.Scaled(value);
    }
    std::string operator()(std::string_view value) const { return VisibleText(value); }
    std::string operator()(const table::CellMap& map) const { return format.MapText(map); }
    std::string operator()(const table::CellList& list) const {
      return list.empty() ? "-" : VisibleText(fmt::format("{}", fmt::join(list, ", ")));
    }
  };
  return std::visit(Visitor{*this}, cell);
}

std::string UnitText(Unit unit, int64_t value) {
  switch (unit) {
    case Unit::kNone:
      return fmt::format("{}", value);
    case Unit::kNanoseconds:
      return base::FormatDuration(value);
    case Unit::kBytes:
      return base::FormatBytes(value);
    case Unit::kCount:
      return base::FormatCount(value);
    case Unit::kPartsPerMillion:
      return base::FormatShare(value, 1'000'000);
  }
  return {};
}

}  // namespace layerscope::render
