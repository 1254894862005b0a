#pragma once

#include <string>
#include <string_view>

namespace layerscope::server {

/// The viewer as one HTML file, built into the program; empty when the program was built without.
std::string_view ViewerBundle();

/// Why there is no viewer and how to get one: message and hint of an error.
inline constexpr std::string_view kNoBundle = "this program was built without the viewer";
inline constexpr std::string_view kNoBundleHint =
    "build it with Node 18.18 or later on PATH: `make build` does all of it";

/// The page with `nonce` on each of its own inline scripts and styles, so that a policy that allows
/// this nonce allows these and nothing that something else brings in.
std::string WithNonce(std::string_view html, std::string_view nonce);

/// The page with `json` in front of its scripts, as <script type="application/json"
/// id="layerscope-data">, and a policy that lets it load nothing. It stands where the bundle says
/// <!--layerscope-data-->, else right behind its encoding.
std::string WithData(std::string_view html, std::string_view json);

/// JSON that means the same and ends no script element: <, >, &, U+2028 and U+2029 as \uXXXX. They
/// stand in JSON inside strings alone.
std::string EscapedForScript(std::string_view json);

}  // namespace layerscope::server
