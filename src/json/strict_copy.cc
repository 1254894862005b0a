#include "src/json/strict_copy.h"

#include <fmt/format.h>

#include "src/json/number_text.h"
#include "src/json/scanner.h"
#include "src/json/writer.h"

namespace layerscope::json {
namespace {

using Token = Scanner::Token;

void Write(Token token, std::string_view text, Writer& writer) {
  switch (token) {
    case Token::kBeginObject:
      return writer.BeginObject();
    case Token::kEndObject:
      return writer.EndObject();
    case Token::kBeginArray:
      return writer.BeginArray();
    case Token::kEndArray:
      return writer.EndArray();
    case Token::kKey:
      return writer.Key(text);
    case Token::kString:
      return writer.String(text);
    case Token::kNumber:
      return IsNumber(text) ? writer.Number(text) : writer.Null();
    case Token::kTrue:
    case Token::kFalse:
      return writer.Bool(token == Token::kTrue);
    case Token::kNull:
    case Token::kEnd:
    case Token::kError:
      return writer.Null();
  }
}

base::Error Invalid(size_t offset, std::string_view why) {
  return {base::ErrorCode::kInvalidInput, fmt::format("at byte {}: {}", offset, why), {}};
}

}  // namespace

base::Result<std::string> StrictCopy(std::string_view text) {
  Scanner scanner(text);
  Writer writer;
  do {
    const Token token = scanner.Next();
    if (token == Token::kEnd) return Invalid(scanner.offset(), "the text holds no JSON");
    if (token == Token::kError) return Invalid(scanner.offset(), scanner.what());
    Write(token, scanner.text(), writer);
  } while (scanner.depth() > 0);
  const size_t behind = scanner.offset();
  if (scanner.Next() != Token::kEnd) return Invalid(behind, "more text follows the document");
  return writer.Take();
}

}  // namespace layerscope::json
