#pragma once

namespace layerscope::base {

/// Prints `file:line: check failed: condition: message` to stderr and aborts. Only LS_CHECK calls
/// it.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              const char* message) noexcept;

}  // namespace layerscope::base

/// A condition that only a bug can break; always on. Never reachable from input: bad input is a
/// base::Error or an entry of the import ledger.
#define LS_CHECK(condition, message)                                            \
  do {                                                                          \
    if (!(condition)) [[unlikely]]                                              \
      ::layerscope::base::CheckFailed(__FILE__, __LINE__, #condition, message); \
  } while (false)
