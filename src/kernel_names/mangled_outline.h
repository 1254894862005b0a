#pragma once

#include <string>
#include <string_view>

namespace layerscope::kernel_names {

/// The names inside a mangled name, for those that no demangler at hand can read:
/// "_ZN3foo3barIN3baz3quxEEvi" -> "foo::bar<baz::qux>(...)". What follows the own name's template
/// arguments is left out. Empty when `mangled` holds no name at all. Linear time.
/// Source: Itanium C++ ABI, chapter "Mangling"; only source names and nesting are understood.
std::string OutlineMangledName(std::string_view mangled);

}  // namespace layerscope::kernel_names
