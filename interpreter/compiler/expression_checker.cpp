#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/attribute_checker.h>
#include <boxcar/interpreter/compiler/builtin_names.h>
#include <boxcar/interpreter/compiler/builtin_resolver.h>
#include <boxcar/interpreter/compiler/call_checker.h>
#include <boxcar/interpreter/compiler/condition_checker.h>
#include <boxcar/interpreter/compiler/expression_checker.h>
#include <boxcar/interpreter/compiler/index_checker.h>
#include <boxcar/interpreter/compiler/iteration_checker.h>
#include <boxcar/interpreter/compiler/operator_checker.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/interpreter/compiler/unknown_names.h>
#include <boxcar/interpreter/runtime/join_types.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <boxcar/ivalue/layout.h>
#include <boxcar/ivalue/scalar_type.h>

#include <algorithm>
#include <complex>
#include <limits>

namespace boxcar::interp {

using boost::variant2::get_if;
using typed::ExprPtr;

namespace {

// Returns the specification as written.
std::string specText(const syntax::FormatSpec& spec) {
  std::string text = spec.fill;
  if (spec.align != 0) text += spec.align;
  if (spec.plus) text += '+';
  if (spec.zero) text += '0';
  if (spec.width) text += fmt::format("{}", *spec.width);
  if (spec.comma) text += ',';
  if (spec.precision) text += fmt::format(".{}", *spec.precision);
  if (spec.type != 0) text += spec.type;
  return text;
}

TypePtr commonType(std::span<const ExprPtr> items, size_t first = 0, size_t step = 1) {
  TypePtr common = nullptr;
  for (size_t i = first; i < items.size(); i += step) {
    common = common == nullptr ? items[i]->type : joinTypes(common, items[i]->type);
  }
  if (common == nullptr || common->kind() == TypeKind::None) return Type::any();
  // The nesting depth of types is limited.
  return common->depth() + 2 > Type::kMaxDepth ? Type::any() : common;
}

// Returns a dtype, a layout or a memory format; null if none has that name.
ExprPtr namedByTorch(std::string_view name, Span span) {
  if (const auto dtype = parseDtype(name)) return typed::constant(*dtype, Type::scalarType(), span);
  if (const auto layout = parseLayout(name)) return typed::constant(*layout, Type::layout(), span);
  if (const auto format = parseMemoryFormat(name)) return typed::constant(*format, Type::memoryFormat(), span);
  return nullptr;
}

}  // namespace

ExprPtr ExpressionChecker::functionValue(const ScriptFunction& function, Span span) {
  return typed::make(Type::function(), span,
                     typed::FunctionValue{function.import.value_or(function.function), function.import.has_value()});
}

ExprPtr ExpressionChecker::infer(const syntax::Expr& expr) {
  ExprPtr value = inferNode(expr);
  if (context_.findings != nullptr && !typed::isPoison(*value))
    context_.findings->values.push_back({expr.span, value->type, value->fields});
  return value;
}

ExprPtr ExpressionChecker::inferNode(const syntax::Expr& expr) {
  return boost::variant2::visit(
      [&]<class T>(const T& node) -> ExprPtr {
        if constexpr (std::is_same_v<T, syntax::NoneLiteral>) {
          return typed::none(expr.span);
        } else if constexpr (std::is_same_v<T, syntax::BoolLiteral>) {
          return typed::constant(node.value, Type::boolean(), expr.span);
        } else if constexpr (std::is_same_v<T, syntax::IntLiteral>) {
          return typed::constant(node.value, Type::integer(), expr.span);
        } else if constexpr (std::is_same_v<T, syntax::FloatLiteral>) {
          return typed::constant(node.value, Type::floating(), expr.span);
        } else if constexpr (std::is_same_v<T, syntax::ImaginaryLiteral>) {
          return typed::constant(std::complex<double>(0, node.value), Type::complex(), expr.span);
        } else if constexpr (std::is_same_v<T, syntax::StringLiteral>) {
          return typed::constant(node.value, Type::string(), expr.span);
        } else if constexpr (std::is_same_v<T, syntax::Logical> || std::is_same_v<T, syntax::Comparison>) {
          if constexpr (std::is_same_v<T, syntax::Comparison>) {
            if (node.links.size() == 1) return conditions_.comparison(node, expr.span);
          }
          return conditions_.condition(expr).value;
        } else if constexpr (std::is_same_v<T, syntax::Slice>) {
          context_.error(expr.span, "a slice is only allowed directly in an index");
          return typed::poison(expr.span);
        } else if constexpr (std::is_same_v<T, syntax::Ellipsis>) {
          context_.error(expr.span, "`...` is only allowed directly in an index of a tensor");
          return typed::poison(expr.span);
        } else if constexpr (std::is_same_v<T, syntax::TypeText>) {
          context_.error(expr.span, "a type is only allowed in `isinstance`");
          return typed::poison(expr.span);
        } else if constexpr (std::is_same_v<T, syntax::Call> || std::is_same_v<T, syntax::MethodCall>) {
          return calls_.infer(node, expr.span);
        } else if constexpr (std::is_same_v<T, syntax::Index>) {
          return indexing_.infer(node, expr.span);
        } else if constexpr (std::is_same_v<T, syntax::Comprehension>) {
          return iterations_.infer(node, expr.span);
        } else {
          return infer(node, expr.span);
        }
      },
      expr.node);
}

ExprPtr ExpressionChecker::infer(const syntax::ListLiteral& list, Span span) {
  std::vector<ExprPtr> items;
  for (const syntax::ExprPtr& item : list.items) items.push_back(infer(*item));
  const TypePtr type = Type::listOf(commonType(items));
  return typed::make(type, span, typed::MakeList{std::move(items)});
}

ExprPtr ExpressionChecker::infer(const syntax::TupleLiteral& tuple, Span span) {
  std::vector<ExprPtr> items;
  std::vector<TypePtr> types;
  for (const syntax::ExprPtr& item : tuple.items) {
    items.push_back(infer(*item));
    const TypePtr type = items.back()->type;
    types.push_back(type->depth() + 2 > Type::kMaxDepth ? Type::any() : type);
  }
  return typed::make(Type::tupleOf(types), span, typed::MakeTuple{std::move(items)});
}

ExprPtr ExpressionChecker::infer(const syntax::DictLiteral& dict, Span span) {
  std::vector<ExprPtr> items;
  for (const syntax::DictItem& item : dict.items) {
    items.push_back(infer(*item.key));
    items.push_back(infer(*item.value));
  }
  const TypePtr type = Type::dictOf(commonType(items, 0, 2), commonType(items, 1, 2));
  return typed::make(type, span, typed::MakeDict{std::move(items)});
}

ExprPtr ExpressionChecker::infer(const syntax::FormattedString& string, Span span) {
  std::vector<ExprPtr> parts;
  for (const auto& part : string.parts) {
    if (const auto* literal = get_if<std::string>(&part)) {
      parts.push_back(typed::constant(*literal, Type::string(), span));
      parts.push_back(typed::constant("", Type::string(), span));
      continue;
    }
    const auto& field = boost::variant2::get<syntax::FormatField>(part);
    parts.push_back(typed::shown(infer(*field.value)));
    parts.push_back(typed::constant(field.spec ? specText(*field.spec) : std::string(), Type::string(), field.span));
  }
  return typed::make(Type::string(), span, typed::CallBuiltin{*findBuiltin("format"), std::move(parts)});
}

ExprPtr ExpressionChecker::infer(const syntax::NameRef& ref, Span span) {
  if (ref.name.space) {
    if (ref.name.space.text == "math") {
      if (ref.name.name.text == "pi") return typed::constant(3.141592653589793, Type::floating(), span);
      if (ref.name.name.text == "e") return typed::constant(2.718281828459045, Type::floating(), span);
    }
    context_.error(span, fmt::format("`{}` is not a value; an operator is called as `{}(…)`, and as a value it is "
                                     "`operator(\"{}\")`",
                                     context_.text(span), context_.text(span), context_.text(span)));
    return typed::poison(span);
  }

  const std::string_view name = ref.name.name.text;
  if (const auto variable = context_.findVariable(name)) {
    const Binding& binding = context_.environment.at(*variable);
    if (!binding.isSet()) {
      const bool is_never_set = binding.type == nullptr;
      Diagnostic& diagnostic =
          context_.error(span, fmt::format("`{}` {} before it is set", name, is_never_set ? "is read" : "may be read"));
      const Span* of_script = context_.function == nullptr ? nullptr : context_.declarations.findScriptVariable(name);
      if (is_never_set && of_script != nullptr) {
        diagnostic.note(fmt::format("the script's `{}` is another variable, which functions cannot access; keep "
                                    "changing state in a `const` list or dict, or pass and return it",
                                    name),
                        context_.source, *of_script);
      }
      // Reporting it once is enough.
      Binding& known = context_.environment[*variable];
      if (is_never_set) known.type = Type::any();
      known.maybe_unset = false;
      return typed::poison(span);
    }
    ExprPtr value = typed::read({*variable, binding.kind}, binding.type, span);
    value->fields = binding.fields;
    return value;
  }
  if (const ScriptConstant* known = context_.declarations.findConstant(name)) {
    if (known->type == nullptr) {
      context_.error(span, fmt::format("the constant `{}` is read before it is set", name))
          .note("it is set here", context_.source, known->span);
      return typed::poison(span);
    }
    return typed::make(known->type, span, typed::ReadGlobal{known->global});
  }
  if (const ScriptFunction* function = context_.declarations.findFunction(name, span.begin)) {
    return functionValue(*function, span);
  }
  if (context_.declarations.findStruct(name, span.begin) != nullptr) {
    context_.error(span, fmt::format("`{0}` is a struct, not a value: `{0}(...)` makes one", name));
    return typed::poison(span);
  }
  if (context_.declarations.functionsOfAlias(name, span.begin) != nullptr) {
    context_.error(span, fmt::format("`{0}` is an imported file, not a value; its functions are `{0}.f`", name));
    return typed::poison(span);
  }
  // Only the names that tensors show: `float` and `int` mean other things in PyTorch than in Python.
  if (name != "float" && name != "int") {
    if (ExprPtr known = namedByTorch(name, span)) return known;
  }
  // As tensors show them; those with digits are literals.
  if (name == "infj" || name == "nanj") {
    using Limits = std::numeric_limits<double>;
    const double part = name == "infj" ? Limits::infinity() : Limits::quiet_NaN();
    return typed::constant(std::complex<double>(0, part), Type::complex(), span);
  }
  reportUnknownName(context_, ref.name.name);
  return typed::poison(span);
}

bool ExpressionChecker::isTorch(const syntax::Expr& expr) const {
  const auto* ref = get_if<syntax::NameRef>(&expr.node);
  if (ref == nullptr || ref->name.space || ref->name.name.text != "torch") return false;
  return !context_.findVariable("torch") && context_.declarations.findConstant("torch") == nullptr;
}

ExprPtr ExpressionChecker::infer(const syntax::Unary& unary, Span span) {
  if (unary.op == syntax::UnaryOp::Not) {
    return typed::operate(Opcode::NotBool, Type::boolean(), span, conditions_.condition(*unary.operand).value);
  }
  return operators_.unary(unary.op, infer(*unary.operand), span);
}

ExprPtr ExpressionChecker::infer(const syntax::Binary& binary, Span span) {
  ExprPtr left = infer(*binary.left);
  ExprPtr right = infer(*binary.right);
  if (typed::isPoison(*left) || typed::isPoison(*right)) return typed::poison(span);
  return operators_.binary(binary.op, std::move(left), std::move(right), span);
}

ExprPtr ExpressionChecker::infer(const syntax::Conditional& conditional, Span span) {
  Condition condition = conditions_.condition(*conditional.condition);
  const Environment before = context_.environment;
  context_.assume(condition.if_true);
  ExprPtr value = infer(*conditional.value);
  context_.environment = before;
  context_.assume(condition.if_false);
  ExprPtr otherwise = infer(*conditional.otherwise);
  context_.environment = before;
  const TypePtr type = joinTypes(value->type, otherwise->type);
  typed::FieldNames fields = value->fields == otherwise->fields ? value->fields : nullptr;
  ExprPtr result =
      typed::make(type, span, typed::Conditional{std::move(condition.value), std::move(value), std::move(otherwise)});
  result->fields = std::move(fields);
  return result;
}

ExprPtr ExpressionChecker::infer(const syntax::Attribute& attribute, Span span) {
  if (isTorch(*attribute.object)) {
    if (ExprPtr known = namedByTorch(attribute.name.text, span)) return known;
    reportUnknownInTorch(context_, attribute.name, span);
    return typed::poison(span);
  }
  if (const auto function = context_.findInAlias(*attribute.object, attribute.name)) {
    return *function == nullptr ? typed::poison(span) : functionValue(**function, span);
  }
  return attributes_.value(infer(*attribute.object), attribute.name, span);
}

}  // namespace boxcar::interp
