// Proposals after a dot.

#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/service/completer.h>
#include <boxcar/interpreter/service/names.h>
#include <boxcar/interpreter/service/text.h>

#include <algorithm>

namespace boxcar::service {

using interp::Findings;

void Completer::addMembers(size_t dot) {
  if (dot == 0) return;
  const auto& tokens = cursor_.tokens();
  // After `ns::name.` comes an overload.
  if (dot >= 3 && tokens[dot - 1].kind == Kind::Name && tokens[dot - 2].kind == Kind::Scope) {
    addOverloads(fmt::format("{}::{}", cursor_.text(dot - 3), cursor_.text(dot - 1)));
    return;
  }
  // `m.`: functions of the file that is imported as m.
  if (tokens[dot - 1].kind == Kind::Name && cursor_.kindBefore(dot, 2) != Kind::Dot) {
    const std::string_view alias = cursor_.text(dot - 1);
    const interp::Declarations& declarations = analysis().declarations();
    if (const auto* functions = declarations.functionsOfAlias(alias, cursor_.offset())) {
      for (const std::string_view name : *functions) {
        const interp::ScriptFunction* function =
            declarations.findFunction(fmt::format("{}.{}", alias, name), cursor_.offset());
        add(name, CompletionKind::Function, toString(function->schema));
      }
      for (const interp::ScriptStruct& made : declarations.structs()) {
        const std::string start = fmt::format("{}.", alias);
        if (made.name.starts_with(start))
          add(made.name.substr(start.size()), CompletionKind::Type, toString(made.constructor));
      }
      return;
    }
  }
  const std::optional<Findings::Value> value = receiverBefore(dot);
  if (value) {
    addMembersOf(*value);
  } else if (tokens[dot - 1].kind == Kind::Name && cursor_.kindBefore(dot, 2) != Kind::Dot) {
    // `add.`: an operator of a namespace in use.
    if (const auto* set = analysis().declarations().findOperators(cursor_.text(dot - 1), cursor_.offset())) {
      addOverloads(set->name);
    } else if (cursor_.text(dot - 1) == "torch") {
      addDtypes();
    }
  }
}

std::optional<Findings::Value> Completer::valueIn(std::string text, Span span) {
  const Analysis patched(std::move(text), name_, workspace_, known_);
  const Findings::Value* value = patched.valueAt(span);
  if (value == nullptr) return std::nullopt;
  return *value;
}

// Returns the value before the dot. The unfinished statement must be repaired for that.
std::optional<Findings::Value> Completer::receiverBefore(size_t dot) {
  const Span receiver = cursor_.expressionEndingAt(dot - 1);
  if (receiver.empty()) return std::nullopt;
  const std::string_view text = source_->text();
  const uint32_t dot_begin = cursor_.tokens()[dot].span.begin;

  // Most statements are complete without the dot and what follows it.
  std::string blanked(text);
  const uint32_t word_end = wordAt(text, cursor_.offset()).end;
  std::fill(blanked.begin() + dot_begin, blanked.begin() + std::max(word_end, cursor_.offset()), ' ');
  if (const auto value = valueIn(std::move(blanked), receiver)) return value;

  // Otherwise the value is analyzed in a statement of its own before this one; for an `elif`, before the whole `if`.
  const auto& tokens = cursor_.tokens();
  size_t begin = cursor_.statementBegin();
  while (begin > 0 && tokens[begin].kind == Kind::KwElif) {
    size_t depth = 0;
    do {
      --begin;
      if (tokens[begin].kind == Kind::BlockClose) ++depth;
      if (tokens[begin].kind == Kind::BlockOpen && depth > 0) --depth;
    } while (begin > 0 && depth > 0);
    while (begin > 0 && !separatesStatements(tokens[begin - 1].kind)) --begin;
  }
  const uint32_t place = tokens[begin].span.begin;
  const auto length = receiver.end - receiver.begin;
  std::string mended(text.substr(0, place));
  mended += source_->text(receiver);
  mended += '\n';
  mended += text.substr(place, dot_begin - place);
  mended += text.substr(std::max(word_end, cursor_.offset()));
  return valueIn(std::move(mended), {place, place + length});
}

void Completer::addMembersOf(const Findings::Value& value) {
  interp::Declarations& declarations = analysis().declarations();
  const TypePtr type = value.type;
  if (value.fields != nullptr) {
    for (size_t i = 0; i < value.fields->size(); ++i) {
      const TypePtr field = i < type->contained().size() ? type->contained()[i] : Type::any();
      add((*value.fields)[i], CompletionKind::Attribute, std::string(field->text()));
    }
  }
  if (const interp::StructLayout* const layout = interp::layoutOf(type)) {
    for (const interp::StructField& field : layout->fields) {
      add(field.name, CompletionKind::Attribute, std::string(field.type->text()));
    }
  }
  if (const interp::ScriptStruct* const declared = declarations.structOf(type)) {
    for (const auto& [name, method] : declared->methods) {
      add(name, CompletionKind::Method, toString(method->schema), documentationOf(*method));
    }
  }
  const std::string_view prefix = interp::methodPrefix(type);
  for (const interp::Builtin& builtin : interp::builtins()) {
    const size_t dot = builtin.full_name.find('.');
    if (dot == std::string::npos || builtin.is_hidden) continue;
    const std::string_view kind = builtin.name().substr(0, dot);
    if (kind != prefix && !(type->kind() == TypeKind::Any && kind != "with")) continue;
    const bool is_attribute = isAttribute(builtin);
    add(builtin.name().substr(dot + 1), is_attribute ? CompletionKind::Attribute : CompletionKind::Method,
        is_attribute ? std::string(builtin.schema.returns()[0].type()->text()) : signatureOf(builtin));
  }
  for (const auto& function : declarations.functions()) {
    if (function->kind != interp::BodyKind::Function || function->visible_from > cursor_.offset()) continue;
    if (function->has_alias || function->isMethod()) continue;
    if (!takesFirst(function->schema, type)) continue;
    add(function->schema.name(), CompletionKind::Function, toString(function->schema), documentationOf(*function));
  }
  for (const std::string& name : declarations.operatorNames(false, cursor_.offset())) {
    if (!begins(name)) continue;
    const auto* set = declarations.findOperators(name, cursor_.offset());
    if (set == nullptr) continue;
    const auto schema = std::ranges::find_if(set->schemas, [type](const auto* s) { return takesFirst(*s, type); });
    if (schema == set->schemas.end()) continue;
    const bool is_attribute = (*schema)->name().starts_with("prim::");
    addOperator(name, *set, **schema, is_attribute ? CompletionKind::Attribute : CompletionKind::Method);
  }
}

}  // namespace boxcar::service
