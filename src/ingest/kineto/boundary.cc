#include "src/ingest/kineto/boundary.h"

#include <array>

#include "src/ingest/kineto/token.h"

namespace layerscope::ingest::kineto {
namespace {

constexpr std::array<std::string_view, 11> kEventKeys = {
    "ph\"", "name\"", "cat\"", "pid\"", "tid\"", "ts\"", "dur\"", "id\"", "args\"", "bp\"", "s\""};

/// Do a quote and an event's key follow the brace at `brace`?
bool OpensEvent(std::string_view text, size_t brace) {
  size_t at = brace + 1;
  while (at < text.size() && IsJsonSpace(text[at])) ++at;
  if (at >= text.size() || text[at] != '"') return false;
  const std::string_view key = text.substr(at + 1, 8);
  for (const std::string_view known : kEventKeys) {
    if (key.substr(0, known.size()) == known) return true;
  }
  return false;
}

/// Steps back over white space from `at` (exclusive); the index behind the last other character.
size_t BeforeSpace(std::string_view text, size_t at) {
  while (at > 0 && IsJsonSpace(text[at - 1])) --at;
  return at;
}

std::optional<Boundary> BoundaryAt(std::string_view text, size_t brace) {
  const size_t comma = BeforeSpace(text, brace);
  if (comma == 0 || text[comma - 1] != ',') return std::nullopt;
  const size_t end = BeforeSpace(text, comma - 1);
  if (end == 0 || text[end - 1] != '}' || !OpensEvent(text, brace)) return std::nullopt;
  return Boundary{end, brace};
}

}  // namespace

std::optional<Boundary> FindLastBoundary(std::string_view text) {
  size_t brace = text.rfind('{');
  while (brace != std::string_view::npos && brace > 0) {
    if (const auto boundary = BoundaryAt(text, brace)) return boundary;
    brace = text.rfind('{', brace - 1);
  }
  return std::nullopt;
}

std::optional<Boundary> FindFirstBoundary(std::string_view text, size_t from) {
  size_t brace = text.find('{', from);
  while (brace != std::string_view::npos) {
    if (const auto boundary = BoundaryAt(text, brace)) return boundary;
    brace = text.find('{', brace + 1);
  }
  return std::nullopt;
}

}  // namespace layerscope::ingest::kineto
