#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include "src/base/check.h"

namespace layerscope::base {

/// Why something could not be done. Each code maps to one exit status (CLI.md rule 2).
enum class ErrorCode : uint8_t {
  kFailed,          ///< exit 1: the request is well formed but cannot be met on this input
  kNotFound,        ///< exit 1: a selection (pass, device, step, …) that does not exist here
  kUsage,           ///< exit 2: a bad option or value
  kInvalidInput,    ///< exit 3: wrong kind, unreadable, or nothing usable in it
  kStrictViolated,  ///< exit 3: --strict and data was lost
  kCancelled,       ///< exit 130
};

/// The stable word of a code in JSON errors: "failed", "not_found", "usage", ….
std::string_view ToString(ErrorCode code);
/// The process exit status of a code.
int ExitStatus(ErrorCode code);

/// What went wrong, where, and the way out.
struct Error {
  ErrorCode code = ErrorCode::kFailed;
  std::string message;  ///< one sentence, with its context in front: "reading a.json: at byte 7: …"
  std::string hint;     ///< what to do about it; may be empty

  /// The same error with `context: ` put in front of the message.
  Error WithContext(std::string_view context) &&;
};

/// A bad option or value: kUsage.
Error UsageError(std::string message, std::string hint);
/// The user stopped it: kCancelled.
Error Interrupted();

/// A value or an Error. [[nodiscard]], so that no failure is dropped by accident.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}                           // NOLINT(*-explicit-*)
  Result(Error error) : state_(tl::make_unexpected(std::move(error))) {}  // NOLINT(*-explicit-*)

  bool ok() const { return state_.has_value(); }
  explicit operator bool() const { return ok(); }

  T& value() & { return Checked(), *state_; }
  const T& value() const& { return Checked(), *state_; }
  /// By value, so that a range-for over a temporary Result does not dangle.
  T value() && { return Checked(), std::move(*state_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & { return state_.error(); }
  const Error& error() const& { return state_.error(); }
  Error&& error() && { return std::move(state_.error()); }

 private:
  void Checked() const { LS_CHECK(ok(), "value() of a failed Result"); }
  tl::expected<T, Error> state_;
};

/// Success or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : failed_(true), error_(std::move(error)) {}  // NOLINT(*-explicit-*)
  bool ok() const { return !failed_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return error_; }
  Error&& error() && { return std::move(error_); }

 private:
  bool failed_ = false;
  Error error_;
};

}  // namespace layerscope::base
