#include "src/server/page.h"

#include <algorithm>
#include <cctype>

namespace layerscope::server {
namespace {

constexpr std::string_view kMarker = "<!--layerscope-data-->";
constexpr std::string_view kReportPolicy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
    "base-uri 'none'; form-action 'none'\">";

/// Where `word` (lower case) stands at or behind `from`, whatever its case.
size_t FindIgnoringCase(std::string_view text, std::string_view word, size_t from) {
  const auto at = std::search(
      text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), word.begin(), word.end(),
      [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
  return at == text.end() ? std::string_view::npos : static_cast<size_t>(at - text.begin());
}

/// A tag of that name opens at `at`.
bool Opens(std::string_view html, size_t at, std::string_view tag) {
  if (FindIgnoringCase(html.substr(at, tag.size()), tag, 0) != 0) return false;
  const size_t end = at + tag.size();
  return end < html.size() && (html[end] == '>' || html[end] == ' ' || html[end] == '\n' ||
                               html[end] == '\t' || html[end] == '/');
}

/// The encoding must stand in the first kilobyte, so data stands behind it.
size_t BehindCharset(std::string_view html) {
  const size_t charset = FindIgnoringCase(html, "<meta charset", 0);
  const size_t tag =
      charset != std::string_view::npos ? charset : FindIgnoringCase(html, "<head", 0);
  if (tag == std::string_view::npos) return 0;
  const size_t end = html.find('>', tag);
  return end == std::string_view::npos ? html.size() : end + 1;
}

}  // namespace

std::string WithNonce(std::string_view html, std::string_view nonce) {
  std::string out;
  out.reserve(html.size() + 256);
  size_t done = 0;
  for (size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at + 1)) {
    if (html.substr(at, 4) == "<!--") {
      at = std::min(html.find("-->", at), html.size() - 1);
      continue;
    }
    const bool is_script = Opens(html, at, "<script");
    if (!is_script && !Opens(html, at, "<style")) continue;
    const size_t behind_name = at + (is_script ? 7 : 6);
    out += html.substr(done, behind_name - done);
    out += " nonce=\"";
    out += nonce;
    out += '"';
    done = behind_name;
    // What looks like a tag inside a script is its text.
    at = std::min(FindIgnoringCase(html, is_script ? "</script" : "</style", at), html.size() - 1);
  }
  out += html.substr(done);
  return out;
}

std::string EscapedForScript(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else if (json.substr(i, 3) == "\xe2\x80\xa8" || json.substr(i, 3) == "\xe2\x80\xa9") {
      out += json[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

std::string WithData(std::string_view html, std::string_view json) {
  size_t at = html.find(kMarker);
  size_t behind = at + kMarker.size();
  if (at == std::string_view::npos) at = behind = BehindCharset(html);
  std::string out(html.substr(0, at));
  out += kReportPolicy;
  out += "<script type=\"application/json\" id=\"layerscope-data\">";
  out += EscapedForScript(json);
  out += "</script>";
  out += html.substr(behind);
  return out;
}

}  // namespace layerscope::server
