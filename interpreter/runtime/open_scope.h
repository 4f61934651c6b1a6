#pragma once

#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/call/scope.h>
#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/interpreter/runtime/executable.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

namespace boxcar::interp {

// What a `with` has switched on for this thread, for the lifetime of this object.
class OpenScope final {
 public:
  // [frame]: the frame that opened it.
  OpenScope(const Executable& program, const CodeScope& scope, const void* frame);
  OpenScope(std::unique_ptr<Handler> handler, const void* frame);
  OpenScope(std::unique_ptr<Scope> scope, const void* frame);
  OpenScope(const OpenScope&) = delete;
  OpenScope& operator=(const OpenScope&) = delete;

  const void* frame() const noexcept { return frame_; }
  // A mode's exit block, which runs after the scope has ended.
  struct Exit {
    std::shared_ptr<const Executable> program;
    uint32_t function;
  };
  const std::optional<Exit>& exit() const noexcept { return exit_; }
  // Switches the handler off and returns it, to be finished; null if the scope has none.
  std::unique_ptr<Handler> close() noexcept;
  // The backend's scope that it switched on; null if it is something else.
  Scope* scope() const noexcept { return scope_.get(); }

 private:
  const void* const frame_;
  std::optional<Exit> exit_;
  std::unique_ptr<Handler> handler_;
  std::unique_ptr<Scope> scope_;
  std::variant<std::monostate, ModeGuard, IncludeDispatchKeyGuard, ExcludeDispatchKeyGuard, InferenceMode, HandlerGuard>
      guard_;
};

}  // namespace boxcar::interp
