#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/text.h>  // IWYU pragma: export

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace boxcar {

// What to catch for anything that boxcar throws: one sentence that names the thing, the place and the remedy. It has
// default visibility, so that a plugin's catch clause recognises it.
//
// It does not derive from std::exception, but what is thrown derives from both: a RuntimeError, an IndexError or a
// class derived from these. Otherwise an IndexError would have two std::exception bases, and no catch clause for
// std::exception would match it.
class BOXCAR_API Error {
 public:
  virtual const char* what() const noexcept { return message_.c_str(); }
  const std::string& message() const noexcept { return message_; }

  // Adds a line below the message: where the error happened, as it propagates.
  void addContext(std::string_view line);

 protected:
  explicit Error(std::string message) : message_(std::move(message)) {}
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  virtual ~Error() = default;

 private:
  std::string message_;
};

// An Error of no particular kind.
class BOXCAR_API RuntimeError : public std::exception, public Error {
 public:
  explicit RuntimeError(std::string message) : Error(std::move(message)) {}
  const char* what() const noexcept override { return Error::what(); }
};

// An Error for an index that is out of range or a key that is absent.
class BOXCAR_API IndexError : public std::out_of_range, public Error {
 public:
  explicit IndexError(std::string message) : std::out_of_range(""), Error(std::move(message)) {}
  const char* what() const noexcept override { return Error::what(); }
};

namespace detail {

[[noreturn]] BOXCAR_API void throwError(fmt::string_view format, fmt::format_args args);
[[noreturn]] BOXCAR_API void throwIndexError(fmt::string_view format, fmt::format_args args);
[[noreturn]] BOXCAR_API void internalAssertFailed(const char* condition, const char* file, int line);

// One out-of-line call per argument list reduces a check to a compare and a jump.
template <class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throwError(format, fmt::make_format_args(args...));
}
template <class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void failIndex(fmt::format_string<Args...> format, Args&&... args) {
  throwIndexError(format, fmt::make_format_args(args...));
}

}  // namespace detail
}  // namespace boxcar

// Throws a boxcar::RuntimeError with the text that follows, an fmt format string and its arguments.
#define BOXCAR_FAIL(...) ::boxcar::detail::fail(__VA_ARGS__)

// BOXCAR_CHECK(condition, "text {}", argument): a condition that a user can violate.
#define BOXCAR_CHECK(condition, ...)       \
  do {                                     \
    if (!(condition)) [[unlikely]]         \
      ::boxcar::detail::fail(__VA_ARGS__); \
  } while (false)

// Like BOXCAR_CHECK, for an index: throws boxcar::IndexError.
#define BOXCAR_CHECK_INDEX(condition, ...)      \
  do {                                          \
    if (!(condition)) [[unlikely]]              \
      ::boxcar::detail::failIndex(__VA_ARGS__); \
  } while (false)

// A condition that only a bug in boxcar can violate.
#define BOXCAR_INTERNAL_ASSERT(condition)                                     \
  do {                                                                        \
    if (!(condition)) [[unlikely]]                                            \
      ::boxcar::detail::internalAssertFailed(#condition, __FILE__, __LINE__); \
  } while (false)
