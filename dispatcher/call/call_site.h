#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <optional>
#include <string>

namespace boxcar {

// A place in a program that calls operators.
struct CallSite {
  std::string file;
  uint32_t line = 0;
  std::string text;  // the line, without surrounding whitespace

  bool operator==(const CallSite&) const = default;
};

// "file:line".
BOXCAR_API std::string toString(const CallSite& site);

// Returns where this thread's program is: the innermost line of the script that runs on it, or nothing if no script
// runs. Handlers use it to say which line is to blame.
BOXCAR_API std::optional<CallSite> currentCallSite();

// While it lives and no script runs on this thread, calls count as made from [site], if that has a value. For code that
// replays a script's calls.
class BOXCAR_API CallSiteGuard final {
 public:
  explicit CallSiteGuard(const std::optional<CallSite>& site) noexcept;
  ~CallSiteGuard();
  CallSiteGuard(const CallSiteGuard&) = delete;
  CallSiteGuard& operator=(const CallSiteGuard&) = delete;

 private:
  const std::optional<CallSite>* const outer_;
};

namespace detail {

// Implements currentCallSite(); the interpreter sets it.
using CallSiteReader = std::optional<CallSite> (*)();
BOXCAR_API void setCallSiteReader(CallSiteReader reader) noexcept;

}  // namespace detail
}  // namespace boxcar
