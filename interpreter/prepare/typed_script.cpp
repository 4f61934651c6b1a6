#include <boxcar/interpreter/compiler/inference.h>
#include <boxcar/interpreter/prepare/typed_script.h>
#include <boxcar/interpreter/syntax/grammar.h>
#include <boxcar/interpreter/syntax/lexer.h>

#include <algorithm>
#include <utility>

namespace boxcar::interp {

std::unique_ptr<TypedScript> TypedScript::infer(const SourcePtr& source, Diagnostics& diagnostics,
                                                ModuleLoader* loader) {
  const size_t errors_before = diagnostics.error_count();
  std::unique_ptr<TypedScript> script(new TypedScript);
  script->tree_ = syntax::parse(source, diagnostics);
  if (diagnostics.error_count() != errors_before) return nullptr;
  script->declarations_ = std::make_unique<Declarations>(script->tree_, loader, diagnostics);
  Declarations& declarations = *script->declarations_;
  if (declarations.lacksModule()) return nullptr;
  // The statements come first: they determine the types of the constants.
  const Span whole{0, static_cast<uint32_t>(source->text().size())};
  script->statements_ = Inference(declarations, nullptr, diagnostics).run(script->tree_.statements, whole);
  for (const auto& function : declarations.functions()) {
    if (function->body == nullptr || function->kind != BodyKind::Function) continue;
    script->functions_.push_back(
        {function.get(),
         Inference(declarations, function.get(), diagnostics).run(function->body->statements, function->span)});
  }
  if (diagnostics.error_count() != errors_before) return nullptr;
  return script;
}

const std::vector<Span>& TypedScript::comments() const {
  if (!comments_) {
    Diagnostics diagnostics;
    const bool may_have_some = source()->text().find('#') != std::string_view::npos;
    comments_ = may_have_some ? syntax::lex(source(), diagnostics).comments : std::vector<Span>();
  }
  return *comments_;
}

const TypedFunction* TypedScript::find(std::string_view name) const {
  const auto found = std::ranges::find_if(functions_, [name](const TypedFunction& each) {
    return !each.declared->isMethod() && each.declared->schema.name() == name;
  });
  return found == functions_.end() ? nullptr : &*found;
}

CalledFunction TypedScript::called(const typed::CallFunction& call) const {
  if (!call.is_imported) {
    const auto found = std::ranges::find_if(
        functions_, [&call](const TypedFunction& each) { return each.declared->function == call.function; });
    if (found == functions_.end()) return {};
    return {{}, found->declared->schema.name(), &found->declared->schema, &*found};
  }
  const CodeImport& import = declarations_->imports()[call.function];
  for (const auto& each : declarations_->functions()) {
    if (each->import == call.function) {
      return {declarations_->modules()[import.module].path, import.name, &each->schema, nullptr};
    }
  }
  return {};
}

const CodeModule& TypedScript::moduleOf(const typed::CallFunction& call) const {
  return declarations_->modules()[declarations_->imports()[call.function].module];
}

bool TypedScript::imports(std::string_view path) const {
  return std::ranges::any_of(declarations_->modules(),
                             [path](const CodeModule& each) { return each.path == path && each.alias.empty(); });
}

bool TypedScript::names(std::string_view path) const {
  return std::ranges::any_of(declarations_->functions(), [&](const auto& each) {
    if (!each->import) return false;
    const CodeImport& import = declarations_->imports()[*each->import];
    return declarations_->modules()[import.module].path == path && declarations_->mentions(import.name);
  });
}

}  // namespace boxcar::interp
