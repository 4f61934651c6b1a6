#include <boxcar/dispatcher/call/scope.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/runtime/handler_object.h>
#include <boxcar/interpreter/service/calls.h>
#include <boxcar/interpreter/service/names.h>

#include <algorithm>

namespace boxcar::service {

using interp::Declarations;
using interp::OverloadSet;

namespace {

class Candidates {
 public:
  Candidates(Declarations& declarations, uint32_t position) : declarations_(declarations), position_(position) {}

  void addFunction(std::string_view name, size_t skipped) {
    if (const auto* function = declarations_.findFunction(name, position_)) {
      all_.push_back({&function->schema, toString(function->schema), skipped});
    }
  }
  void addStruct(std::string_view name) {
    if (const auto* made = declarations_.findStruct(name, position_)) {
      all_.push_back({&made->constructor, toString(made->constructor), 0});
    }
  }
  void addMethods(std::string_view name) {
    for (const interp::ScriptStruct& declared : declarations_.structs()) {
      if (const auto* method = declared.method(name)) all_.push_back({&method->schema, toString(method->schema), 1});
    }
  }
  void addBuiltin(const std::string& name, size_t skipped) {
    const auto index = interp::findBuiltin(name);
    if (!index) return;
    const interp::Builtin& builtin = interp::builtins()[*index];
    if (builtin.is_hidden && !name.starts_with("with.")) return;
    std::string signature = signatureOf(builtin);
    if (name.starts_with("with.")) signature.erase(0, 5);
    all_.push_back({&builtin.schema, std::move(signature), skipped});
  }
  void addOperators(const OverloadSet* set, std::string_view overload, size_t skipped) {
    if (set == nullptr) return;
    for (size_t i = 0; i < set->schemas.size(); ++i) {
      if (!overload.empty() && set->operators[i].overload_name != overload) continue;
      if (set->schemas[i]->arguments().size() < skipped) continue;
      all_.push_back({set->schemas[i], toString(*set->schemas[i]), skipped});
    }
  }
  std::vector<CallCandidate> take() { return std::move(all_); }

 private:
  Declarations& declarations_;
  uint32_t position_;
  std::vector<CallCandidate> all_;
};

}  // namespace

std::vector<CallCandidate> candidatesOf(Analysis& analysis, const Cursor& cursor, const Cursor::OpenCall& call) {
  Declarations& declarations = analysis.declarations();
  const uint32_t position = cursor.tokens()[call.callee].span.begin;
  Candidates candidates(declarations, position);
  if (!call.method.empty()) {
    // `name.overload(` looks like a method call.
    if (!call.name.empty()) {
      const bool is_variable = call.space.empty() && (declarations.findConstant(call.name) != nullptr ||
                                                      !analysis.assignmentsOf(call.name, position).empty());
      const OverloadSet* set = call.space.empty()
                                   ? declarations.findOperators(call.name, position)
                                   : declarations.findQualified(fmt::format("{}::{}", call.space, call.name), position);
      if (!is_variable) candidates.addOperators(set, call.method, 0);
      if (!call.space.empty()) return candidates.take();
    }
    candidates.addMethods(call.method);
    if (!call.name.empty()) candidates.addStruct(fmt::format("{}.{}", call.name, call.method));
    candidates.addFunction(call.method, 1);
    for (const std::string_view kind : {"tensor", "list", "dict", "str", "operator"}) {
      candidates.addBuiltin(fmt::format("{}.{}", kind, call.method), 1);
    }
    candidates.addOperators(declarations.findOperators(call.method, position), {}, 1);
    return candidates.take();
  }
  if (!call.space.empty()) {
    candidates.addBuiltin(fmt::format("{}::{}", call.space, call.name), 0);
    candidates.addOperators(declarations.findQualified(fmt::format("{}::{}", call.space, call.name), position), {}, 0);
    return candidates.take();
  }
  const std::string name(call.name);
  const auto first = cursor.tokens()[cursor.statementBegin()].kind;
  const bool is_scope = findHandlerKind(name) != nullptr || findScopeKind(name) != nullptr;
  if (first == syntax::TokenKind::KwWith && is_scope) {
    candidates.addBuiltin(interp::handlerBuiltin(name), 0);
    return candidates.take();
  }
  candidates.addFunction(name, 0);
  candidates.addStruct(name);
  candidates.addBuiltin(name, 0);
  candidates.addOperators(declarations.findOperators(name, position), {}, 0);
  return candidates.take();
}

}  // namespace boxcar::service
