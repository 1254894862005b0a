#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace layerscope::render {

/// Text from a file as a terminal may show it: one line of valid UTF-8 that moves no cursor and
/// sets no colour. Control characters become their pictures (ESC is "␛"), invalid UTF-8 and
/// characters that reorder or hide text (bidirectional controls, zero-width spaces) become U+FFFD.
std::string VisibleText(std::string_view text);

/// The same bytes with invalid UTF-8 replaced by U+FFFD, as the JSON writer does it.
std::string ValidUtf8(std::string_view text);

/// Terminal cells of VisibleText's output: East Asian wide characters take two, combining ones
/// none.
int DisplayWidth(std::string_view text);

/// At most `width` cells of VisibleText's output: the middle ("model.la…qkv_proj") or the end is
/// replaced by "…". Both ends of a name tell more than its middle.
std::string ElideMiddle(std::string_view text, int width);
std::string ElideEnd(std::string_view text, int width);

/// Spaces in front (right-aligned) or behind (left-aligned) up to `width` cells.
std::string PadLeft(std::string text, int width);
std::string PadRight(std::string text, int width);

/// Lines of at most `width` cells (0 = no limit), broken at spaces, inside a word only where the
/// word alone is too long. A line feed in the text ends a line. Other text passes VisibleText.
std::vector<std::string> WrapText(std::string_view text, int width);

/// `count` times the same text.
std::string Repeated(std::string_view text, int count);

}  // namespace layerscope::render
