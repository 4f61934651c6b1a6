#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/text.h>  // IWYU pragma: export

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace boxcar {

// What boxcar throws: one sentence that names the thing, the place and the remedy. Its visibility is the default one,
// so that a plugin's catch clause knows it.
class BOXCAR_API Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}

  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& message() const noexcept { return message_; }

  // Adds a line below the message: where it happened, as the error passes outward.
  void addContext(std::string_view line);

 private:
  std::string message_;
};

namespace detail {

[[noreturn]] BOXCAR_API void throwError(fmt::string_view format, fmt::format_args args);
[[noreturn]] BOXCAR_API void internalAssertFailed(const char* condition, const char* file, int line);

// One out-of-line call per argument list keeps a check to a compare and a jump.
template <class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throwError(format, fmt::make_format_args(args...));
}

}  // namespace detail
}  // namespace boxcar

// Throws boxcar::Error with the text that follows, an fmt format string and its arguments.
#define BOXCAR_FAIL(...) ::boxcar::detail::fail(__VA_ARGS__)

// BOXCAR_CHECK(condition, "text {}", argument): a condition that a user can break.
#define BOXCAR_CHECK(condition, ...)       \
  do {                                     \
    if (!(condition)) [[unlikely]]         \
      ::boxcar::detail::fail(__VA_ARGS__); \
  } while (false)

// A condition that only a fault in boxcar can break.
#define BOXCAR_INTERNAL_ASSERT(condition)                                     \
  do {                                                                        \
    if (!(condition)) [[unlikely]]                                            \
      ::boxcar::detail::internalAssertFailed(#condition, __FILE__, __LINE__); \
  } while (false)
