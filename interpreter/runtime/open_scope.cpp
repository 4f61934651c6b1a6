#include <boxcar/dispatcher/registry/explanation.h>
#include <boxcar/interpreter/runtime/open_scope.h>
#include <boxcar/interpreter/runtime/script_handler.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <fmt/ranges.h>

namespace boxcar::interp {

OpenScope::OpenScope(const Executable& program, const CodeScope& scope, const void* frame) : frame_(frame) {
  switch (scope.kind) {
    case CodeScopeKind::Include: guard_.emplace<IncludeDispatchKeyGuard>(scope.keys); return;
    case CodeScopeKind::Exclude:
      BOXCAR_CHECK(!scope.keys.has_any(representation_ks),
                   "exclude() cannot switch off {}: it says what the memory of tensors stands for, and kernels would "
                   "read other elements, or memory that is not there",
                   fmt::join(keyNamesOf(scope.keys & representation_ks), ", "));
      guard_.emplace<ExcludeDispatchKeyGuard>(scope.keys);
      return;
    case CodeScopeKind::InferenceMode: guard_.emplace<InferenceMode>(); return;
    case CodeScopeKind::Mode:
    case CodeScopeKind::ImportedMode: break;
  }
  const bool is_imported = scope.kind == CodeScopeKind::ImportedMode;
  const Executable& owner = is_imported ? program.module(scope.index) : program;
  const uint32_t index = is_imported ? owner.modeNamed(scope.name) : scope.index;
  const CodeHandler& handler = owner.unit().handlers[index];
  const std::shared_ptr<const Executable> shared = owner.shared_from_this();
  if (handler.exit) exit_ = Exit{shared, *handler.exit};
  guard_.emplace<ModeGuard>(ScriptModeHandler(shared, index), ModeOptions{.key = handler.key});
}

OpenScope::OpenScope(std::unique_ptr<Handler> handler, const void* frame)
    : frame_(frame), handler_(std::move(handler)) {
  guard_.emplace<HandlerGuard>(*handler_);
}

OpenScope::OpenScope(std::unique_ptr<Scope> scope, const void* frame) : frame_(frame), scope_(std::move(scope)) {
  scope_->enter();
}

std::unique_ptr<Handler> OpenScope::close() noexcept {
  guard_.emplace<std::monostate>();
  return std::move(handler_);
}

}  // namespace boxcar::interp
