#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/bytecode/struct_layout.h>
#include <boxcar/interpreter/compiler/environment.h>
#include <boxcar/interpreter/compiler/fold.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/ivalue/dict.h>
#include <boxcar/schema/value_type.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace boxcar::interp::typed {

using boost::variant2::get_if;

namespace {

// Whether a value of type [type] is, or contains, an int that is shown by its name.
bool holdsNames(TypePtr type) {
  const TypeKind kind = type->kind();
  return kind == TypeKind::ScalarType || kind == TypeKind::Layout || kind == TypeKind::MemoryFormat ||
         std::ranges::any_of(type->contained(), holdsNames);
}

}  // namespace

ExprPtr make(TypePtr type, Span span, Expr::Node node) {
  return std::make_unique<Expr>(Expr{type, span, std::move(node), nullptr});
}

ExprPtr constant(IValue value, TypePtr type, Span span) { return make(type, span, Constant{std::move(value)}); }

ExprPtr literal(const IValue& value, TypePtr type, Span span) {
  if (value.isNone()) return none(span);
  if (type->isOptional()) type = type->element();
  std::vector<ExprPtr> items;
  if (value.isList() || value.isTuple()) {
    for (size_t i = 0; i < value.length(); ++i) {
      const IValue item = value.elementAt(i);
      items.push_back(literal(item, typeOf(item), span));
    }
    if (value.isTuple()) return make(type, span, MakeTuple{std::move(items)});
    return make(type->isList() ? type : typeOf(value), span, MakeList{std::move(items)});
  }
  if (value.isGenericDict()) {
    const GenericDict dict = value.toGenericDict();
    for (size_t i = 0; i < dict.size(); ++i) {
      for (const IValue& item : {dict.object()->keyAt(i), dict.object()->valueAt(i)}) {
        items.push_back(literal(item, typeOf(item), span));
      }
    }
    return make(type, span, MakeDict{std::move(items)});
  }
  return constant(value, type, span);
}

ExprPtr noneOf(TypePtr type, Span span) {
  static const IValue none;
  return make(type, span, Constant{none});
}

bool isPoison(const Expr& expr) {
  const auto* constant = get_if<Constant>(&expr.node);
  return constant != nullptr && constant->value.isNone() && expr.type->kind() == TypeKind::Any;
}

ExprPtr read(Target target, TypePtr type, Span span) {
  return make(type, span, ReadVariable{target.variable, target.kind});
}

bool isSimple(const Expr& expr) {
  return get_if<Constant>(&expr.node) != nullptr || get_if<ReadVariable>(&expr.node) != nullptr;
}

ExprPtr copyOf(const Expr& simple) {
  Expr::Node node;
  if (const auto* constant = get_if<Constant>(&simple.node)) {
    node = *constant;
  } else {
    node = boost::variant2::get<ReadVariable>(simple.node);
  }
  ExprPtr copy = make(simple.type, simple.span, std::move(node));
  copy->fields = simple.fields;
  return copy;
}

ExprPtr withStatements(Block before, ExprPtr value) {
  if (before.empty()) return value;
  const TypePtr type = value->type;
  const Span span = value->span;
  FieldNames fields = value->fields;
  ExprPtr sequence = make(type, span, Sequence{std::move(before), std::move(value)});
  sequence->fields = std::move(fields);
  return sequence;
}

ExprPtr operate(Opcode op, TypePtr type, Span span, ExprPtr left, ExprPtr right, TypePtr parameter) {
  const auto* a = get_if<Constant>(&left->node);
  const auto* b = right == nullptr ? nullptr : get_if<Constant>(&right->node);
  if (a != nullptr && (right == nullptr || b != nullptr)) {
    if (auto value = fold(op, a->value, b == nullptr ? nullptr : &b->value)) return constant(*value, type, span);
  }
  return make(type, span, Operate{op, std::move(left), std::move(right), parameter});
}

ExprPtr unboxed(ExprPtr value, TypePtr type) {
  const Span span = value->span;
  switch (slotKindOf(type)) {
    case SlotKind::Int: return operate(Opcode::UnboxInt, type, span, std::move(value));
    case SlotKind::Float: return operate(Opcode::UnboxFloat, type, span, std::move(value));
    case SlotKind::Bool: return operate(Opcode::UnboxBool, type, span, std::move(value));
    case SlotKind::Value: break;
  }
  value->type = type;
  return value;
}

ExprPtr convertAtRunTime(ExprPtr value, TypePtr type) {
  const Span span = value->span;
  return unboxed(operate(Opcode::Convert, Type::any(), span, std::move(value), nullptr, type), type);
}

ExprPtr truth(ExprPtr value) {
  const Span span = value->span;
  if (value->type->kind() == TypeKind::Bool) return value;
  switch (slotKindOf(value->type)) {
    case SlotKind::Int:
      return operate(Opcode::NeInt, Type::boolean(), span, std::move(value), constant(0, Type::integer(), span));
    case SlotKind::Float:
      return operate(Opcode::NeFloat, Type::boolean(), span, std::move(value), constant(0.0, Type::floating(), span));
    default: break;
  }
  return operate(Opcode::Truth, Type::boolean(), span, std::move(value));
}

ExprPtr field(ExprPtr object, uint16_t index, Span span) {
  const TypePtr type = scriptType(layoutOf(object->type)->fields[index].type);
  const CodeField field{object->type, index};
  return make(type, span, GetField{std::move(object), field, slotKindOf(type)});
}

namespace {

ExprPtr callOnMember(std::string_view builtin, TypePtr type, ExprPtr value, std::string_view name, Span span) {
  std::vector<ExprPtr> values;
  values.push_back(std::move(value));
  values.push_back(constant(std::string(name), Type::string(), span));
  return make(type, span, CallBuiltin{*findBuiltin(builtin), std::move(values)});
}

}  // namespace

ExprPtr fieldNamed(ExprPtr object, std::string_view name, Span span) {
  return callOnMember("get_field", Type::any(), std::move(object), name, span);
}

ExprPtr hasMember(ExprPtr value, std::string_view name, Span span) {
  return callOnMember("has_member", Type::boolean(), std::move(value), name, span);
}

ExprPtr shown(ExprPtr value) {
  std::string_view name;
  switch (value->type->kind()) {
    case TypeKind::ScalarType: name = "dtype_name"; break;
    case TypeKind::Layout: name = "layout_name"; break;
    case TypeKind::MemoryFormat: name = "memory_format_name"; break;
    default: break;
  }
  if (name.empty() && !holdsNames(value->type)) return value;
  const Span span = value->span;
  std::vector<ExprPtr> arguments;
  const TypePtr type = value->type;
  arguments.push_back(std::move(value));
  if (name.empty()) {
    arguments.push_back(constant(std::string(type->text()), Type::string(), span));
    return make(Type::any(), span, CallBuiltin{*findBuiltin("named"), std::move(arguments)});
  }
  return make(Type::string(), span, CallBuiltin{*findBuiltin(name), std::move(arguments)});
}

void append(Block& out, Span span, Stmt::Node node) {
  out.push_back(std::make_unique<Stmt>(Stmt{span, std::move(node)}));
}

ExprPtr loopElement(const Stmt::Node& loop, Span span) {
  if (const auto* range = get_if<ForRange>(&loop)) {
    return read({range->variable, SlotKind::Int}, Type::integer(), span);
  }
  const auto& each = boost::variant2::get<ForEach>(loop);
  return unboxed(read({each.variable, SlotKind::Value}, Type::any(), span), each.element);
}

void finishLoop(Stmt::Node& loop, Block body, Block at_end) {
  if (auto* range = get_if<ForRange>(&loop)) {
    range->body = std::move(body);
    range->at_end = std::move(at_end);
  } else {
    auto& each = boost::variant2::get<ForEach>(loop);
    each.body = std::move(body);
    each.at_end = std::move(at_end);
  }
}

}  // namespace boxcar::interp::typed
