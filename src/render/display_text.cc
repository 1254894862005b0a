#include "src/render/display_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "src/json/utf8.h"

namespace layerscope::render {
namespace {

using Range = std::pair<char32_t, char32_t>;

constexpr char32_t kReplacement = 0xfffd;
constexpr std::string_view kEllipsis = "…";

/// Wide and fullwidth characters: EastAsianWidth.txt of Unicode 14, neighbouring blocks merged.
constexpr std::array<Range, 23> kWide = {
    {{0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},  {0x23e9, 0x23ec},
     {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x26a1, 0x26a1},  {0x2705, 0x2705},
     {0x274c, 0x274c},   {0x2b1b, 0x2b1c},   {0x2e80, 0x303e},  {0x3041, 0x4dbf},
     {0x4e00, 0xa4c6},   {0xa960, 0xa97c},   {0xac00, 0xd7a3},  {0xf900, 0xfad9},
     {0xfe30, 0xfe6b},   {0xff01, 0xff60},   {0xffe0, 0xffe6},  {0x16fe0, 0x1b2fb},
     {0x1f300, 0x1f64f}, {0x1f680, 0x1faff}, {0x20000, 0x3fffd}}};

/// The combining marks (general category Mn, Me) of the scripts that names are likely to use.
constexpr std::array<Range, 10> kCombining = {{{0x300, 0x36f},
                                               {0x483, 0x489},
                                               {0x591, 0x5bd},
                                               {0x610, 0x61a},
                                               {0x64b, 0x65f},
                                               {0x1ab0, 0x1aff},
                                               {0x1dc0, 0x1dff},
                                               {0x20d0, 0x20ff},
                                               {0xfe00, 0xfe0f},
                                               {0xfe20, 0xfe2f}}};

/// C1 controls and characters that are invisible or change the order of the text around them.
constexpr std::array<Range, 8> kHidden = {{{0x80, 0x9f},
                                           {0xad, 0xad},
                                           {0x61c, 0x61c},
                                           {0x200b, 0x200f},
                                           {0x2028, 0x202e},
                                           {0x2060, 0x206f},
                                           {0xfeff, 0xfeff},
                                           {0xe0000, 0xe0fff}}};

template <size_t N>
bool In(const std::array<Range, N>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [code](const Range& range) {
    return code >= range.first && code <= range.second;
  });
}

struct Decoded {
  char32_t code = kReplacement;
  size_t size = 1;
  bool valid = false;
};

/// The character that starts at `at`, or what one U+FFFD stands for there.
Decoded Decode(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {lead, 1, true};
  const json::Utf8Unit unit = json::FirstUtf8Unit(text.substr(at));
  if (!unit.valid) return {kReplacement, unit.bytes, false};
  char32_t code = lead & (0xffU >> (unit.bytes + 1));
  for (const char c : text.substr(at + 1, unit.bytes - 1)) {
    code = code << 6U | (static_cast<unsigned char>(c) & 0x3fU);
  }
  return {code, unit.bytes, true};
}

void AppendReplacement(std::string& out) {
  out += "\xEF\xBF\xBD";
}

bool IsPlainAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

int CodeWidth(char32_t code) {
  if (code < 0x300) return 1;
  if (In(kCombining, code)) return 0;
  return In(kWide, code) ? 2 : 1;
}

/// Bytes of the longest beginning of `text` that fits into `width` cells.
size_t FittingPrefix(std::string_view text, int width) {
  size_t at = 0;
  int used = 0;
  while (at < text.size()) {
    const Decoded next = Decode(text, at);
    used += CodeWidth(next.code);
    if (used > width) break;
    at += next.size;
  }
  return at;
}

/// Bytes before the longest end of `text` that fits into `width` cells and starts with no combining
/// mark.
size_t FittingSuffix(std::string_view text, int width) {
  int over = DisplayWidth(text) - width;
  size_t at = 0;
  while (at < text.size()) {
    const Decoded next = Decode(text, at);
    const int cells = CodeWidth(next.code);
    if (over <= 0 && cells > 0) break;
    over -= cells;
    at += next.size;
  }
  return at;
}

void WrapLine(std::string_view line, int width, std::vector<std::string>& lines) {
  std::string current;
  int used = 0;
  while (!line.empty()) {
    const size_t space = line.find(' ');
    std::string_view word = line.substr(0, space);
    line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
    const int cells = DisplayWidth(word);
    if (used > 0 && used + 1 + cells > width) {
      lines.push_back(std::move(current));
      current.clear();
      used = 0;
    }
    if (used > 0) current += ' ', ++used;
    while (DisplayWidth(word) > width) {
      const size_t fits = std::max<size_t>(FittingPrefix(word, width), Decode(word, 0).size);
      lines.push_back(current + std::string(word.substr(0, fits)));
      current.clear();
      word.remove_prefix(fits);
    }
    current += word;
    used += DisplayWidth(word);
  }
  lines.push_back(std::move(current));
}

}  // namespace

std::string VisibleText(std::string_view text) {
  if (IsPlainAscii(text)) return std::string(text);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const Decoded next = Decode(text, at);
    if (!next.valid || In(kHidden, next.code)) {
      AppendReplacement(out);
    } else if (next.code < 0x20) {
      out += "\xE2\x90";  // U+2400, "symbol for null", and on in the order of ASCII
      out += static_cast<char>(0x80 + next.code);
    } else if (next.code == 0x7f) {
      out += "\xE2\x90\xA1";  // U+2421, "symbol for delete"
    } else {
      out += text.substr(at, next.size);
    }
    at += next.size;
  }
  return out;
}

std::string ValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Decoded next = Decode(text, at);
    if (next.valid) {
      out += text.substr(at, next.size);
    } else {
      AppendReplacement(out);
    }
    at += next.size;
  }
  return out;
}

int DisplayWidth(std::string_view text) {
  if (IsPlainAscii(text)) return static_cast<int>(text.size());
  int width = 0;
  for (size_t at = 0; at < text.size();) {
    const Decoded next = Decode(text, at);
    width += CodeWidth(next.code);
    at += next.size;
  }
  return width;
}

std::string ElideMiddle(std::string_view text, int width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width <= 1) return width == 1 ? std::string(kEllipsis) : std::string();
  const int front = (width - 1) / 2;
  std::string out(text.substr(0, FittingPrefix(text, front)));
  out += kEllipsis;
  out += text.substr(FittingSuffix(text, width - 1 - front));
  return out;
}

std::string ElideEnd(std::string_view text, int width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width <= 0) return {};
  return std::string(text.substr(0, FittingPrefix(text, width - 1))) + std::string(kEllipsis);
}

std::string PadLeft(std::string text, int width) {
  const int missing = width - DisplayWidth(text);
  if (missing > 0) text.insert(0, static_cast<size_t>(missing), ' ');
  return text;
}

std::string PadRight(std::string text, int width) {
  const int missing = width - DisplayWidth(text);
  if (missing > 0) text.append(static_cast<size_t>(missing), ' ');
  return text;
}

std::vector<std::string> WrapText(std::string_view text, int width) {
  std::vector<std::string> lines;
  while (true) {
    const size_t end = text.find('\n');
    const std::string line = VisibleText(text.substr(0, end));
    if (width > 0 && DisplayWidth(line) > width) {
      WrapLine(line, width, lines);
    } else {
      lines.push_back(line);
    }
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string Repeated(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace layerscope::render
