#include "src/session/own_document.h"

#include <cstddef>

#include "src/json/scanner.h"
#include "src/session/file_begin.h"
#include "src/session/view_inputs.h"

namespace layerscope::session {
namespace {

using Token = json::Scanner::Token;

/// The first keys of every document, where no trace has one of the keys of a map.
constexpr size_t kBeginBytes = size_t{16} << 10;

}  // namespace

bool IsOwnDocumentText(std::string_view begin) {
  json::Scanner scanner(begin);
  if (scanner.Next() != Token::kBeginObject || scanner.Next() != Token::kKey) return false;
  // A trace may carry any keys in front of its events.
  if (begin.find("\"traceEvents\"") != std::string_view::npos) return false;
  if (scanner.text() == "schema_version") return true;
  if (scanner.text() == "schema") {
    return scanner.Next() == Token::kString && scanner.text().starts_with("layerscope");
  }
  return !DocumentNameOf(begin).empty();
}

bool IsOwnDocument(const std::string& path) {
  return IsOwnDocumentText(FileBegin(path, kBeginBytes));
}

}  // namespace layerscope::session
