#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace layerscope::kernel_names {

/// The parts of a C++ function signature as demanglers print it.
struct Signature {
  std::string qualified;            ///< namespaces, classes and own name; brackets left out
  size_t own_begin = 0;             ///< where the own name begins in `qualified`
  std::string_view arguments = {};  ///< inside the own name's <…> (a view of the text given)
  bool is_signature = false;        ///< false: ordinary text, kept whole in `qualified`

  std::string_view own() const { return std::string_view(qualified).substr(own_begin); }
};

/// Splits a demangled name, in linear time, whatever it holds. Bracket pairs that never close (cut
/// names) reach to the end of the text. `is_cpp`: known to be a C++ symbol, so that a bare
/// "aiter::mla_dec_stage1" is one too; else that might be a framework's op and is kept whole.
Signature ParseSignature(std::string_view name, bool is_cpp = false);

/// One past the bracket that closes the one at `open`, or npos when none does. Knows operators
/// (`operator<`, `->`) and comparisons inside parentheses (`((8)>(0))`).
size_t SkipBracket(std::string_view text, size_t open);

/// One past the identifier that begins at `begin` (`begin` itself when none does).
size_t SkipIdentifier(std::string_view text, size_t begin);

bool IsIdentifierChar(char c);

}  // namespace layerscope::kernel_names
