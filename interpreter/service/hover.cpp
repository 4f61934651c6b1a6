#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/service/hover.h>
#include <boxcar/interpreter/service/meaning.h>
#include <boxcar/interpreter/service/names.h>
#include <boxcar/interpreter/service/text.h>

#include <algorithm>

namespace boxcar::service {

using interp::Findings;
using Kind = syntax::TokenKind;

namespace {

// More overloads than this are only counted.
constexpr size_t kMostOverloads = 12;

class Hovering {
 public:
  Hovering(Analysis& analysis, const Cursor& cursor, const NameUse& use, const Workspace& workspace)
      : analysis_(analysis), cursor_(cursor), use_(use), workspace_(workspace) {
    hover_.span = use.span;
  }

  std::optional<Hover> run() {
    const bool found = keyword() || declared() || variable() || member() || called() || operators() || scope();
    if (!found) return std::nullopt;
    return std::move(hover_);
  }

 private:
  auto isHere() const {
    return [span = use_.span](const Findings::Call& call) {
      return call.name_span.begin <= span.begin && span.end <= call.name_span.end;
    };
  }
  interp::Declarations& declarations() { return analysis_.declarations(); }
  const Source& source() { return *analysis_.source(); }

  bool keyword() {
    const bool begins = use_.token == 0 || separatesStatements(cursor_.kindBefore(use_.token));
    const bool is_word = isKeyword(cursor_.tokens()[use_.token].kind) || (use_.text == "op" && begins) ||
                         (use_.text == "exit" && cursor_.kindBefore(use_.token) == Kind::BlockClose);
    if (!is_word || use_.is_called || use_.is_namespace) return false;
    hover_.text = keywordHelp(use_.text);
    return true;
  }

  // Describes the name in the declaration itself.
  bool declared() {
    for (const auto& function : declarations().functions()) {
      if (function->import) continue;
      const Span name = function->name_span;
      const bool is_here = name.begin <= use_.span.begin && use_.span.end <= name.end;
      if (!is_here) continue;
      if (function->kind == interp::BodyKind::Function || function->kind == interp::BodyKind::Operator) {
        hover_.code = toString(function->schema);
      } else if (function->kind != interp::BodyKind::Impl) {
        hover_.code = function->title;
      } else {
        continue;  // the operator's own hover says more
      }
      hover_.span = name;
      hover_.text = commentAbove(source(), function->span.begin);
      return true;
    }
    for (const interp::ScriptStruct& made : declarations().structs()) {
      if (made.is_imported || made.span != use_.span) continue;
      describe(made);
      return true;
    }
    return false;
  }

  void describe(const interp::ScriptStruct& made) {
    hover_.code = toString(made.constructor);
    if (!made.is_imported) hover_.text = commentAbove(source(), made.span.begin);
  }

  bool variable() {
    if (!isVariable(analysis_, use_)) return false;
    TypePtr type = nullptr;
    if (const auto* value = analysis_.valueAt(use_.span)) type = value->type;
    for (const auto& assignment : analysis_.assignmentsOf(use_.text, use_.span.begin)) {
      if (assignment.span == use_.span) type = assignment.type;
    }
    const interp::ScriptConstant* constant = declarations().findConstant(use_.text);
    if (constant != nullptr) {
      if (type == nullptr) type = constant->type;
      hover_.text = commentAbove(source(), constant->span.begin);
    }
    hover_.code = fmt::format("{}{}{}", constant != nullptr ? "const " : "", use_.text,
                              type == nullptr ? "" : fmt::format(": {}", *type));
    return true;
  }

  // Describes an attribute or a method of the language; operators used as methods come later.
  bool member() {
    if (!use_.is_member || use_.token < 2) return false;
    const Span object = cursor_.expressionEndingAt(use_.token - 2);
    const Findings::Value* value = object.empty() ? nullptr : analysis_.valueAt(object);
    if (value == nullptr) return false;
    if (const interp::StructLayout* const layout = interp::layoutOf(value->type)) {
      if (const auto field = layout->indexOf(use_.text)) {
        hover_.code = fmt::format("{}: {}", use_.text, *layout->fields[*field].type);
        return true;
      }
      const interp::ScriptStruct* const declared = declarations().structOf(value->type);
      const auto* const method = declared == nullptr ? nullptr : declared->method(use_.text);
      if (method != nullptr) describe(*method);
      return method != nullptr;
    }
    if (value->fields != nullptr) {
      const auto field = std::ranges::find(*value->fields, use_.text);
      const auto index = static_cast<size_t>(field - value->fields->begin());
      if (index < value->fields->size() && index < value->type->contained().size()) {
        hover_.code = fmt::format("{}: {}", use_.text, *value->type->contained()[index]);
        return true;
      }
    }
    if (analysisHasCall()) return false;
    const auto builtin = interp::findBuiltin(fmt::format("{}.{}", interp::methodPrefix(value->type), use_.text));
    if (!builtin) return false;
    const interp::Builtin& found = interp::builtins()[*builtin];
    hover_.code = isAttribute(found) ? fmt::format("{}: {}", found.name(), *found.schema.returns()[0].type())
                                     : signatureOf(found);
    return true;
  }

  bool analysisHasCall() const { return std::ranges::any_of(analysis_.findings().calls, isHere()); }

  // Describes functions of the script, and built-ins.
  bool called() {
    if (use_.is_namespace || use_.is_keyword || cursor_.kindBefore(use_.token) == Kind::At) return false;
    if (use_.space.empty()) {
      if (const auto* function = declarations().findFunction(use_.text, use_.span.begin)) {
        describe(*function);
        return true;
      }
      if (const auto* made = declarations().findStruct(use_.text, use_.span.begin);
          made != nullptr && !use_.is_member) {
        describe(*made);
        return true;
      }
      if (const auto* mode = declarations().findMode(use_.text, use_.span.begin); mode != nullptr && !use_.is_called) {
        hover_.code = fmt::format("mode {}", use_.text);
        if (mode->scope.kind == interp::CodeScopeKind::Mode) hover_.text = commentAbove(source(), mode->span.begin);
        return true;
      }
      if (use_.text == "isinstance" && use_.is_called) {
        hover_.code = "isinstance(value, T) -> bool";
        return true;
      }
    }
    if (use_.is_member || analysisHasCall()) return false;
    const std::string name = use_.space.empty() ? std::string(use_.text) : fmt::format("{}::{}", use_.space, use_.text);
    const auto builtin = interp::findBuiltin(name);
    if (!builtin || interp::builtins()[*builtin].is_hidden || (use_.space.empty() && !use_.is_called)) return false;
    hover_.code = signatureOf(interp::builtins()[*builtin]);
    return true;
  }

  void describe(const interp::ScriptFunction& function) {
    hover_.code = toString(function.schema);
    if (!function.import) {
      hover_.text = commentAbove(source(), function.span.begin);
      return;
    }
    for (const auto& [path, unit] : analysis_.files().units()) {
      for (const interp::CodeExport& exported : unit.exports) {
        if (exported.schema == function.schema) hover_.text = commentAbove(*unit.source, exported.span.begin);
      }
    }
  }

  bool operators() {
    if (use_.is_namespace || use_.is_keyword || cursor_.kindBefore(use_.token) == Kind::At) return false;
    const interp::OverloadSet* set = operatorsOf(analysis_, use_);
    if (set == nullptr) return false;
    const bool is_impl = use_.token >= 1 && cursor_.tokens()[use_.token].span.begin > 0 && isInImpl();
    if (use_.space.empty() && !use_.is_called && !is_impl) return false;
    const auto call = std::ranges::find_if(analysis_.findings().calls, isHere());
    std::vector<const FunctionSchema*> shown = set->schemas;
    if (call != analysis_.findings().calls.end()) {
      shown = {call->schema};
    } else if (!use_.overload.empty()) {
      std::erase_if(shown, [this](const auto* schema) { return schema->overload_name() != use_.overload; });
    }
    for (size_t i = 0; i < shown.size(); ++i) {
      if (i == kMostOverloads) {
        hover_.code += fmt::format("\n# and {} more", shown.size() - i);
        break;
      }
      hover_.code += (i == 0 ? "" : "\n") + toString(*shown[i]);
      if (hover_.text.empty()) hover_.text = documentationOf(*shown[i]);
    }
    const size_t others = set->schemas.size() - shown.size();
    if (others > 0) {
      if (!hover_.text.empty()) hover_.text += "\n\n";
      hover_.text += fmt::format("{} has {} other overload{}.", set->name, others, others == 1 ? "" : "s");
    }
    return !shown.empty();
  }

  bool isInImpl() const {
    size_t begin = use_.token;
    while (begin > 0 && !separatesStatements(cursor_.kindBefore(begin))) --begin;
    return cursor_.tokens()[begin].kind == Kind::KwImpl;
  }

  std::string documentationOf(const FunctionSchema& schema) {
    for (const auto& function : declarations().functions()) {
      if (&function->schema == &schema) return commentAbove(source(), function->span.begin);
    }
    for (const auto& [path, unit] : analysis_.files().units()) {
      for (const interp::CodeOperator& op : unit.operators) {
        if (&op.schema == &schema) return commentAbove(*unit.source, op.span.begin);
      }
    }
    if (workspace_.docstrings == nullptr) return {};
    return std::string(workspace_.docstrings->find(toString(schema.operator_name())));
  }

  bool scope() {
    const boxcar::HandlerKind* kind = use_.is_called ? findHandlerKind(use_.text) : nullptr;
    if (kind == nullptr) return false;
    hover_.code = kind->schema;
    hover_.text = kind->help;
    return true;
  }

  Analysis& analysis_;
  const Cursor& cursor_;
  const NameUse& use_;
  const Workspace& workspace_;
  Hover hover_;
};

}  // namespace

std::optional<Hover> hover(std::string_view text, uint32_t offset, const std::string& name,
                           const Workspace& workspace) {
  Analysis analysis(std::string(text), name, workspace);
  const Cursor cursor(analysis.source(), offset);
  const std::optional<NameUse> use = nameAt(cursor, analysis.source(), offset);
  if (!use) return std::nullopt;
  return Hovering(analysis, cursor, *use, workspace).run();
}

}  // namespace boxcar::service
