// Structs: their types, fields and methods, and those that come from imported files.

#include <boxcar/interpreter/compiler/declarations.h>
#include <boxcar/interpreter/compiler/declared_types.h>
#include <boxcar/interpreter/compiler/environment.h>
#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <boxcar/ivalue/dict.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/schema/value_type.h>
#include <boxcar/schema/words.h>
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <string>
#include <utility>

namespace boxcar::interp {

using boost::variant2::get_if;

namespace {

bool isTypeName(std::string_view name) {
  return detail::baseTypeNamed(name) != nullptr ||
         std::ranges::find(detail::typeNames(), name) != detail::typeNames().end();
}

// Returns the value of a literal, or nothing if [expr] is something else.
std::optional<IValue> literalValue(const syntax::Expr& expr) {
  if (get_if<syntax::NoneLiteral>(&expr.node) != nullptr) return IValue();
  if (const auto* literal = get_if<syntax::BoolLiteral>(&expr.node)) return IValue(literal->value);
  if (const auto* literal = get_if<syntax::IntLiteral>(&expr.node)) return IValue(literal->value);
  if (const auto* literal = get_if<syntax::FloatLiteral>(&expr.node)) return IValue(literal->value);
  if (const auto* literal = get_if<syntax::StringLiteral>(&expr.node)) return IValue(literal->value);
  if (const auto* literal = get_if<syntax::ImaginaryLiteral>(&expr.node)) {
    return IValue(std::complex<double>(0, literal->value));
  }
  if (const auto* name = get_if<syntax::NameRef>(&expr.node); name != nullptr && !name->name.space) {
    if (const auto dtype = parseDtype(name->name.name.text)) return IValue(*dtype);
  }
  if (const auto* unary = get_if<syntax::Unary>(&expr.node); unary != nullptr && unary->op == syntax::UnaryOp::Negate) {
    const std::optional<IValue> value = literalValue(*unary->operand);
    if (value && value->isInt()) return IValue(static_cast<int64_t>(0 - static_cast<uint64_t>(value->toInt())));
    if (value && value->isDouble()) return IValue(-value->toDouble());
    return std::nullopt;
  }
  const std::vector<syntax::ExprPtr>* items = nullptr;
  const auto* list = get_if<syntax::ListLiteral>(&expr.node);
  const auto* tuple = get_if<syntax::TupleLiteral>(&expr.node);
  if (list != nullptr) items = &list->items;
  if (tuple != nullptr) items = &tuple->items;
  if (items != nullptr) {
    std::vector<IValue> values;
    for (const syntax::ExprPtr& item : *items) {
      std::optional<IValue> value = literalValue(*item);
      if (!value) return std::nullopt;
      values.push_back(*std::move(value));
    }
    if (tuple != nullptr) return IValue(Tuple(std::move(values)));
    return IValue(GenericList(makeIntrusive<GenericListObject>(std::move(values))));
  }
  if (const auto* dict = get_if<syntax::DictLiteral>(&expr.node)) {
    const GenericDict made;
    for (const syntax::DictItem& item : dict->items) {
      const std::optional<IValue> key = literalValue(*item.key);
      const std::optional<IValue> value = literalValue(*item.value);
      if (!key || !value) return std::nullopt;
      made.insert_or_assign(*key, *value);
    }
    return IValue(made);
  }
  return std::nullopt;
}

// Where `self` and the comma behind it are in the signature of a method; an empty span if it does not begin so.
Span selfIn(const Source& source, Span signature) {
  const std::string_view text = source.text();
  const auto skipBlanks = [&](size_t at) {
    return std::min<size_t>(text.find_first_not_of(" \t\r\n", at), text.size());
  };
  const size_t open = text.find('(', signature.begin);
  if (open >= signature.end) return {};
  const size_t begin = skipBlanks(open + 1);
  if (text.substr(begin, 4) != "self") return {};
  size_t end = skipBlanks(begin + 4);
  if (end >= signature.end || (text[end] != ',' && text[end] != ')')) return {};
  if (text[end] == ',') ++end;
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
}

}  // namespace

const ScriptStruct* Declarations::findStruct(std::string_view name, uint32_t position) const {
  const auto found = structs_by_name_.find(name);
  if (found == structs_by_name_.end() || found->second->visible_from > position) return nullptr;
  return found->second;
}

const ScriptStruct* Declarations::structOf(TypePtr type) const {
  const auto found = structs_by_type_.find(type);
  return found == structs_by_type_.end() ? nullptr : found->second;
}

TypePtr Declarations::typeNamed(std::string_view text) const {
  const NamesAt names(*this, UINT32_MAX);
  try {
    return scriptType(parseType(text, &names));
  } catch (const Error&) {
    return Type::any();
  }
}

void Declarations::nameImportedStructs(const syntax::SyntaxTree& tree) {
  const auto eachDeclared = [](const CodeUnit& unit, const auto& visit) {
    for (const CodeStruct& each : unit.structs) {
      if (each.origin == CodeStruct::Origin::Declared) visit(each.type);
    }
  };
  if (earlier_ != nullptr) {
    for (const auto& [unit, names, aliases] : earlier_->modules) {
      for (const std::string& alias : aliases) {
        eachDeclared(*unit, [&](TypePtr type) {
          types_by_name_.insert_or_assign(fmt::format("{}.{}", alias, *type), NamedType{type, 0});
        });
      }
      eachDeclared(*unit, [&](TypePtr type) {
        if (std::ranges::find(names, type->text()) == names.end()) return;
        types_by_name_.insert_or_assign(std::string(type->text()), NamedType{type, 0});
      });
    }
  }
  for (const syntax::StmtPtr& statement : tree.statements) {
    const auto* import = get_if<syntax::Import>(&statement->node);
    const auto loaded = loaded_.find(import);
    if (loaded == loaded_.end() || loaded->second == nullptr) continue;
    const std::string prefix = import->alias ? std::string(import->alias.text) + '.' : std::string();
    eachDeclared(*loaded->second, [&](TypePtr type) {
      types_by_name_.try_emplace(prefix + std::string(type->text()), NamedType{type, statement->span.end});
    });
  }
}

void Declarations::declareStructs(const syntax::SyntaxTree& tree, Diagnostics& diagnostics) {
  nameImportedStructs(tree);
  std::vector<const syntax::Struct*> own;
  std::unordered_set<std::string_view> names;
  for (const syntax::StmtPtr& statement : tree.statements) {
    const auto* declared = get_if<syntax::Struct>(&statement->node);
    if (declared == nullptr || !names.insert(declared->name.text).second) continue;
    types_by_name_.insert_or_assign(std::string(declared->name.text),
                                    NamedType{placeholderStruct(own.size(), declared->name.text), 0});
    own.push_back(declared);
  }
  std::vector<StructDraft> drafts;
  std::vector<std::vector<const syntax::Field*>> fields;
  for (const syntax::Struct* declared : own) {
    StructDraft& draft = drafts.emplace_back(StructDraft{std::string(declared->name.text), source_->name(), {}});
    std::vector<const syntax::Field*>& kept = fields.emplace_back();
    for (const syntax::StmtPtr& member : declared->body.statements) {
      const auto* field = get_if<syntax::Field>(&member->node);
      if (field == nullptr) continue;
      const auto known = std::ranges::find(kept, field->name.text, [](const auto* other) { return other->name.text; });
      if (known != kept.end()) {
        diagnostics
            .error(source_, field->name.span,
                   fmt::format("`{}` has the field `{}` already", draft.name, field->name.text))
            .note("the first one", source_, (*known)->name.span);
        continue;
      }
      if (!detail::isName(field->name.text)) {
        diagnostics.error(source_, field->name.span,
                          fmt::format("`{}` is a keyword of schemas, which cannot name a field", field->name.text));
        continue;
      }
      kept.push_back(field);
      draft.fields.push_back({std::string(field->name.text), readType(field->type, diagnostics)});
    }
  }
  const std::vector<const StructLayout*> layouts = makeStructs(drafts);
  for (size_t i = 0; i < own.size(); ++i) {
    types_by_name_.insert_or_assign(drafts[i].name, NamedType{layouts[i]->type, 0});
    CodeStruct code{layouts[i]->type, CodeStruct::Origin::Declared, 0, {}, own[i]->name.span};
    for (size_t k = 0; k < fields[i].size(); ++k) {
      code.defaults.push_back(defaultOf(*fields[i][k], layouts[i]->fields[k].type, diagnostics));
    }
    addStruct(own[i]->name.text, own[i]->name.span, std::move(code), 0);
  }
}

std::optional<IValue> Declarations::defaultOf(const syntax::Field& field, TypePtr type,
                                              Diagnostics& diagnostics) const {
  if (field.initial == nullptr) return std::nullopt;
  try {
    const std::optional<IValue> value = literalValue(*field.initial);
    if (!value) {
      diagnostics.error(source_, field.initial->span,
                        fmt::format("the default of a field is a literal, such as `None`, `1.5` or `[]`; give `{}` "
                                    "other values where the struct is made",
                                    field.name.text));
      return std::nullopt;
    }
    return convertValue(*value, {type});
  } catch (const Error& error) {
    diagnostics.error(source_, field.initial->span,
                      fmt::format("this is no default of field `{}`: {}", field.name.text, error.message()));
  }
  return std::nullopt;
}

ScriptStruct& Declarations::addStruct(std::string_view name, Span span, CodeStruct code, uint32_t visible_from) {
  const StructLayout& layout = *layoutOf(code.type);
  BOXCAR_CHECK(code_structs_.size() <= UINT16_MAX, "there are more than {} structs", UINT16_MAX);
  std::vector<Argument> arguments;
  for (const StructField& field : layout.fields) arguments.emplace_back(field.name, field.type);
  FunctionSchema constructor(layout.name, "", std::move(arguments), {Argument("", code.type)});
  structs_.push_back({name, span, code.type, static_cast<uint16_t>(code_structs_.size()),
                      code.origin == CodeStruct::Origin::Imported, std::move(constructor), visible_from});
  code_structs_.push_back(std::move(code));
  ScriptStruct& added = structs_.back();
  structs_by_name_.insert_or_assign(name, &added);
  structs_by_type_.emplace(added.type, &added);
  noteMembers(layout);
  return added;
}

void Declarations::noteMembers(const StructLayout& layout) {
  for (const StructField& field : layout.fields) member_names_.insert(field.name);
}

void Declarations::add(const syntax::Struct& declared, Diagnostics& diagnostics) {
  const syntax::Name& name = declared.name;
  if (!claimName(name.text, source_, name.span, source_, name.span, diagnostics)) return;
  if (isTypeName(name.text)) {
    diagnostics.error(source_, name.span,
                      fmt::format("`{}` is a type of the language; give the struct another name", name.text));
    return;
  }
  ScriptStruct& added = *structs_by_name_.at(name.text);
  for (const syntax::StmtPtr& member : declared.body.statements) {
    if (const auto* method = get_if<syntax::Function>(&member->node)) {
      addMethod(*member, *method, added, diagnostics);
    }
  }
}

void Declarations::addMethod(const syntax::Stmt& statement, const syntax::Function& method, ScriptStruct& owner,
                             Diagnostics& diagnostics) {
  const Span name = method.name.span;
  const Span self = selfIn(*source_, method.signature);
  if (self.empty()) {
    diagnostics.error(
        source_, name,
        fmt::format("the first parameter of a method is `self`, without a type: `fn {}(self, ...)`", method.name.text));
    return;
  }
  // The text keeps its length, so that errors keep their places.
  std::string text(source_->text(method.signature));
  std::fill(text.begin() + (self.begin - method.signature.begin), text.begin() + (self.end - method.signature.begin),
            ' ');
  auto schema = readSignature(method.signature, text, diagnostics);
  if (!schema || !checkArgumentNames(*schema, name, diagnostics)) return;
  const std::string_view of(owner.type->text());
  if (layoutOf(owner.type)->indexOf(method.name.text)) {
    diagnostics.error(
        source_, name,
        fmt::format("`{}` has a field and a method `{}`; give one of them another name", of, method.name.text));
    return;
  }
  if (const auto known = owner.methods.find(method.name.text); known != owner.methods.end()) {
    diagnostics.error(source_, name, fmt::format("`{}` has the method `{}` already", of, method.name.text))
        .note("the first one", source_, known->second->name_span);
    return;
  }
  std::vector<Argument> arguments = {Argument("self", owner.type)};
  for (const Argument& argument : schema->arguments()) arguments.push_back(argument);
  try {
    FunctionSchema whole(std::string(of), std::string(method.name.text), std::move(arguments), schema->returns());
    std::string title = fmt::format("fn {}", whole.operator_name());
    owner.methods.emplace(method.name.text, &addBody(BodyKind::Function, std::move(whole), std::move(title), name,
                                                     statement.span, &method.body));
    member_names_.insert(method.name.text);
  } catch (const Error& error) {
    diagnostics.error(source_, name, error.message());
  }
}

void Declarations::addStructOf(uint32_t index, const CodeStruct& imported, std::string_view name, Span span,
                               uint32_t visible_from) {
  const CodeUnit& unit = *units_[index];
  CodeStruct code = imported;
  code.origin = CodeStruct::Origin::Imported;
  code.module = index;
  code.span = {};
  ScriptStruct& added = addStruct(name, span, std::move(code), visible_from);
  for (const CodeExport& exported : unit.exports) {
    if (!isMethod(exported) || exported.schema.name() != imported.type->text()) continue;
    ScriptFunction& method = addImport(index, unit, exported, span, visible_from);
    added.methods.emplace(method.schema.overload_name(), &method);
    member_names_.insert(method.schema.overload_name());
  }
  for (const CodeStruct& each : unit.structs) noteMembers(*layoutOf(each.type));
}

bool Declarations::reportStructs(std::span<const TypePtr> types, Span span, Diagnostics& diagnostics) const {
  TypePtr found = nullptr;
  for (const TypePtr type : types) eachStruct(type, [&found](TypePtr each) { found = each; });
  if (found == nullptr) return false;
  diagnostics.error(source_, span,
                    fmt::format("an operator belongs to the whole process, so it cannot take or return a struct of a "
                                "script, such as `{}`; write a `fn`, or take Any",
                                *found));
  return true;
}

}  // namespace boxcar::interp
