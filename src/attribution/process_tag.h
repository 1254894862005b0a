#pragma once

#include <string_view>

namespace layerscope::attribution {

/// What the pid labels of one rank share in a merged file: the host's "[TP-0] 1234" and the GPU's
/// "[TP-0] 0" both have the tag "[TP-0]". The tag is a part in brackets at either end, else what is
/// left of the text without the number at its end ("rank0/12" -> "rank0/") or at its start
/// ("1234_rank0" -> "_rank0"). Empty when the label is no text with a number.
std::string_view ProcessTag(std::string_view label);

/// True for "[TP-0] 1234": such tags exist only in merged files, so they bind strictly.
bool IsBracketTag(std::string_view tag);

}  // namespace layerscope::attribution
