#include "src/render/column_fit.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace layerscope::render {
namespace {

constexpr int kMaxPlainText =
    32;  ///< cells of a text column that is no name, where width is scarce

bool IsName(const TextColumn& column) {
  return column.kind == TextColumn::Kind::kName || column.kind == TextColumn::Kind::kTree;
}

/// One attempt at the layout; columns only ever get narrower or hidden.
class Fitter {
 public:
  Fitter(const std::vector<TextColumn>& columns, const std::vector<int>& natural, int width)
      : columns_(columns), natural_(natural), width_(width), shown_(columns.size(), true) {
    const auto is_share = [](const TextColumn& c) { return c.kind == TextColumn::Kind::kShare; };
    if (std::any_of(columns.begin(), columns.end(), is_share)) {
      bar_width_ = width == 0 || width >= 120 ? 12 : 8;
    }
    const auto n_names = static_cast<int>(std::count_if(columns.begin(), columns.end(), IsName));
    readable_ = std::clamp(n_names > 1 ? width / 2 / n_names : width * 2 / 5, 12, 60);
  }

  ColumnFit Fit() {
    if (width_ == 0) return {natural_, bar_width_};
    const int bar_width = std::exchange(bar_width_, 0);
    while (Least() > width_) {
      if (const std::optional<size_t> next = NextToHide()) {
        shown_[*next] = false;
      } else {
        break;
      }
    }
    // Columns tell more than the bar: it takes what they leave.
    bar_width_ = bar_width;
    if (Least() > width_) bar_width_ = 0;
    return Widths();
  }

 private:
  /// The narrowest a column may become before others are hidden for it.
  int LeastOf(size_t i) const {
    if (IsName(columns_[i])) return std::min(natural_[i], readable_);
    if (columns_[i].kind == TextColumn::Kind::kText) return std::min(natural_[i], kMaxPlainText);
    return natural_[i];
  }

  int Least() const {
    int sum = bar_width_ > 0 ? bar_width_ + 1 : 0;
    int n = 0;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!shown_[i]) continue;
      sum += LeastOf(i);
      ++n;
    }
    return sum + ColumnFit::kGap * std::max(0, n - 1);
  }

  std::optional<size_t> NextToHide() const {
    std::optional<size_t> next;
    for (size_t i = columns_.size(); i-- > 1;) {
      const bool stays = columns_[i].keep || (IsName(columns_[i]) && columns_[i].priority == 0);
      if (!shown_[i] || stays) continue;
      if (!next || columns_[i].priority > columns_[*next].priority) next = i;
    }
    return next;
  }

  /// Gives the cells that are left to the names, then to other text.
  ColumnFit Widths() const {
    ColumnFit fit{std::vector<int>(columns_.size(), 0), bar_width_};
    int left = std::max(0, width_ - Least());
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (shown_[i]) fit.widths[i] = LeastOf(i);
    }
    for (const bool names : {true, false}) left = Widen(names, left, fit);
    return fit;
  }

  /// Cell by cell, so that two long names get the same. Returns what nobody needs.
  int Widen(bool names, int left, ColumnFit& fit) const {
    for (bool grew = true; grew && left > 0;) {
      grew = false;
      for (size_t i = 0; i < columns_.size() && left > 0; ++i) {
        const bool wants = shown_[i] && IsName(columns_[i]) == names && fit.widths[i] < natural_[i];
        if (!wants) continue;
        ++fit.widths[i];
        --left;
        grew = true;
      }
    }
    return left;
  }

  const std::vector<TextColumn>& columns_;
  const std::vector<int>& natural_;
  int width_;
  int readable_ = 0;  ///< cells of a name that still says something; several share half the line
  std::vector<bool> shown_;
  int bar_width_ = 0;
};

}  // namespace

ColumnFit FitColumns(const std::vector<TextColumn>& columns, const std::vector<int>& natural,
                     int width) {
  return Fitter(columns, natural, width).Fit();
}

}  // namespace layerscope::render
