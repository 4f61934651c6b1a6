#include <boxcar/interpreter/import/script_words.h>
#include <boxcar/interpreter/import/torchscript/function_translator.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace boxcar::interp::torchscript {
namespace {

constexpr std::string_view kConstants = "CONSTANTS.";

}  // namespace

Expression FunctionTranslator::missing(const std::string& what, uint32_t line) {
  const std::string described = fmt::format("{} ({})", what, unit_.placeOf(callable_.file, line));
  translation_.miss(described, branches_ > 0);
  translation_.needs_library = true;
  return {fmt::format("ts.missing({})", scriptString(described)), Precedence::Atom, Type::any()};
}

const Expr* FunctionTranslator::literalOf(const Expr& expr) const {
  switch (expr.kind) {
    case Expr::Kind::Int:
    case Expr::Kind::Float:
    case Expr::Kind::String: return &expr;
    case Expr::Kind::Name:
      return expr.text == "None" || expr.text == "True" || expr.text == "False" || expr.text == "inf" ? &expr : nullptr;
    case Expr::Kind::List:
      return std::ranges::all_of(expr.items, [this](const ExprPtr& item) { return literalOf(*item) != nullptr; })
                 ? &expr
                 : nullptr;
    default: return nullptr;
  }
}

Expression FunctionTranslator::expression(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::Name: return name(expr);
    case Expr::Kind::Attribute: return attribute(expr);
    case Expr::Kind::Index: return index(expr);
    case Expr::Kind::Call: return call(expr);
    case Expr::Kind::Int:
      return {std::to_string(expr.integer), expr.integer < 0 ? Precedence::Unary : Precedence::Atom, Type::integer()};
    case Expr::Kind::Float:
      return {pythonFloat(expr.number), expr.number < 0 ? Precedence::Unary : Precedence::Atom, Type::floating()};
    case Expr::Kind::Imaginary: return {pythonComplex({0.0, expr.number}), Precedence::Atom, Type::complex()};
    case Expr::Kind::Sum: {
      const Expr& real = *expr.items[0];
      const double part = real.kind == Expr::Kind::Int ? static_cast<double>(real.integer) : real.number;
      return {pythonComplex({part, expr.items[1]->number}), Precedence::Atom, Type::complex()};
    }
    case Expr::Kind::String: return {scriptString(expr.text), Precedence::Atom, Type::string()};
    case Expr::Kind::List: return list(expr);
    case Expr::Kind::Tuple: return tuple(expr);
    case Expr::Kind::Dict: return dict(expr);
  }
  BOXCAR_FAIL("an expression of an unknown kind");
}

Expression FunctionTranslator::name(const Expr& expr) {
  if (expr.text == "None") return {"None", Precedence::Atom, Type::none()};
  if (expr.text == "True" || expr.text == "False") return {expr.text, Precedence::Atom, Type::boolean()};
  const auto found = variables_.find(expr.text);
  if (found != variables_.end() && found->second.forked == nullptr) return found->second.value;
  if (expr.text == "inf" || expr.text == "nan") return {expr.text, Precedence::Atom, Type::floating()};
  if (expr.text == "infj" || expr.text == "nanj") return {expr.text, Precedence::Atom, Type::complex()};
  BOXCAR_FAIL("{}: there is no variable '{}'", unit_.placeOf(callable_.file, expr.line), expr.text);
}

Expression FunctionTranslator::attribute(const Expr& expr) {
  const std::string dotted = dottedName(expr);
  if (dotted.starts_with(kConstants)) {
    std::string number = dotted.substr(kConstants.size());
    if (number.starts_with('c')) number.erase(0, 1);
    size_t position = translation_.constants.size();
    std::from_chars(number.data(), number.data() + number.size(), position);
    const bool is_text = position < translation_.constants.size() && translation_.constants[position].isString();
    if (is_text) {
      return {scriptString(translation_.constants[position].toStringView()), Precedence::Atom, Type::string()};
    }
    return {fmt::format("weights[\"constants.{}\"]", number), Precedence::Atom, Type::tensor()};
  }
  const size_t last = dotted.rfind('.');
  if (dotted.starts_with("__torch__.") && last != std::string::npos) {
    const ClassInfo* const info = unit_.findClass(dotted.substr(0, last));
    if (info != nullptr && info->kind == ClassInfo::Kind::Enum) {
      translation_.noteClass(*info);
      return {Translation::memberName(*info, expr.text), Precedence::Atom, info->type};
    }
  }
  Expression object = expression(*expr.items[0]);
  if (const ClassInfo* const info = unit_.classOf(object.type); info != nullptr) {
    return fieldOf(object, *info, expr.text);
  }
  if (object.type == Type::tensor() || object.type == Type::any()) {
    return {fmt::format("{}.{}", within(object, Precedence::Atom), expr.text), Precedence::Atom, Type::any()};
  }
  return missing("attribute " + expr.text, expr.line);
}

Expression FunctionTranslator::fieldOf(const Expression& object, const ClassInfo& its_class, const std::string& field) {
  constant_field_ = false;
  if (its_class.kind == ClassInfo::Kind::NamedTuple) {
    const auto& fields = its_class.definition->fields;
    const auto found = std::ranges::find(fields, field, &Field::name);
    BOXCAR_CHECK(found != fields.end(), "{}: {} has no field '{}'", callable_.file, its_class.qualified_name, field);
    return {fmt::format("{}[{}]", within(object, Precedence::Atom), found - fields.begin()), Precedence::Atom,
            unit_.typeOfField(its_class, field)};
  }
  translation_.noteClass(its_class);
  translation_.noteRead(its_class, field);
  TypePtr type = Type::any();
  if (its_class.kind == ClassInfo::Kind::Enum) {
    if (field == "name") type = Type::string();
  } else {
    type = unit_.typeOfField(its_class, field);
  }
  const ClassInfo* const held = unit_.classOf(type);
  const bool is_own = object.text == "self" || object.text.starts_with("self.");
  constant_field_ = is_own && its_class.kind == ClassInfo::Kind::Object && !translation_.isWritten(its_class, field) &&
                    (held == nullptr || held->kind != ClassInfo::Kind::Interface);
  return {fmt::format("{}.{}", within(object, Precedence::Atom), Translation::fieldName(field)), Precedence::Atom,
          type};
}

Expression FunctionTranslator::index(const Expr& expr) {
  const Expression object = expression(*expr.items[0]);
  const TypePtr plain = unit_.withoutNames(object.type);
  const Expression position = expression(*expr.items[1]);
  TypePtr type = Type::any();
  if (plain->isList()) type = plain->element();
  if (plain->kind() == TypeKind::Dict) type = plain->contained()[1];
  if (plain == Type::string()) type = Type::string();
  if (plain->kind() == TypeKind::Tuple && expr.items[1]->kind == Expr::Kind::Int) {
    const auto count = static_cast<int64_t>(plain->contained().size());
    const int64_t at = expr.items[1]->integer < 0 ? expr.items[1]->integer + count : expr.items[1]->integer;
    if (at >= 0 && at < count) type = plain->contained()[static_cast<size_t>(at)];
  }
  return {fmt::format("{}[{}]", within(object, Precedence::Atom), position.text), Precedence::Atom, type};
}

Expression FunctionTranslator::list(const Expr& expr, TypePtr type) {
  std::vector<std::string> texts;
  TypePtr common = nullptr;
  bool is_mixed = false;
  for (const ExprPtr& item : expr.items) {
    const Expression value = expression(*item);
    is_mixed |= common != nullptr && common != value.type;
    common = value.type;
    texts.push_back(value.text);
  }
  TypePtr found = type;
  if (found == nullptr) found = Type::listOf(common == nullptr || is_mixed ? Type::any() : common);
  return {fmt::format("[{}]", fmt::join(texts, ", ")), Precedence::Atom, found};
}

Expression FunctionTranslator::tuple(const Expr& expr) {
  std::vector<std::string> texts;
  std::vector<TypePtr> types;
  for (const ExprPtr& item : expr.items) {
    const Expression value = expression(*item);
    texts.push_back(value.text);
    types.push_back(value.type);
  }
  return {fmt::format("({}{})", fmt::join(texts, ", "), texts.size() == 1 ? "," : ""), Precedence::Atom,
          Type::tupleOf(types)};
}

Expression FunctionTranslator::dict(const Expr& expr, TypePtr type) {
  std::vector<std::string> texts;
  TypePtr found = Type::dictOf(Type::any(), Type::any());
  for (size_t i = 0; i + 1 < expr.items.size(); i += 2) {
    const Expression key = expression(*expr.items[i]);
    const Expression value = expression(*expr.items[i + 1]);
    if (i == 0) found = Type::dictOf(key.type, value.type);
    texts.push_back(fmt::format("{}: {}", key.text, value.text));
  }
  return {fmt::format("{{{}}}", fmt::join(texts, ", ")), Precedence::Atom, type != nullptr ? type : found};
}

std::string FunctionTranslator::kept(const Expression& value, std::string_view wanted) {
  std::string its_name = newName(wanted);
  line(fmt::format("{} = {}", its_name, value.text));
  return its_name;
}

// `unchecked_cast(T, x)`: the language must see that x is a T.
Expression FunctionTranslator::cast(const Expr& value, TypePtr type) {
  Expression text = expression(value);
  if (text.type == type) return text;
  const bool is_none_excluded = text.type->kind() == TypeKind::Optional;
  const auto found = value.kind == Expr::Kind::Name ? variables_.find(value.text) : variables_.end();
  const bool is_variable = found != variables_.end() && !found->second.is_text;
  if (is_none_excluded && is_variable && not_none_.contains(text.text)) return {text.text, Precedence::Atom, type};
  if (text.type->kind() != TypeKind::Optional && text.type != Type::any()) return {text.text, text.binding, type};
  std::string its_name = is_variable ? text.text : kept(text, "value");
  if (is_none_excluded) {
    line(fmt::format("assert {} is not None", its_name));
    not_none_.insert(its_name);
  } else {
    line(fmt::format("assert isinstance({}, {})", its_name, translation_.typeText(type)));
  }
  return {std::move(its_name), Precedence::Atom, type};
}

// `annotate(T, x)`
Expression FunctionTranslator::annotated(const Expr& value, TypePtr type) {
  if (value.kind == Expr::Kind::List) return list(value, type);
  if (value.kind == Expr::Kind::Dict) return dict(value, type);
  Expression text = expression(value);
  if (text.type == Type::tensor()) {
    if (type == Type::integer()) return {fmt::format("int({})", text.text), Precedence::Atom, type};
    if (type == Type::floating()) return {fmt::format("float({})", text.text), Precedence::Atom, type};
    if (type == Type::boolean()) return {fmt::format("bool({})", text.text), Precedence::Atom, type};
    if (type == Type::scalar())
      return {fmt::format("{}.item()", within(text, Precedence::Atom)), Precedence::Atom, type};
  }
  if (text.type != Type::none()) text.type = type;
  return text;
}

Expression FunctionTranslator::call(const Expr& expr) {
  const Expr& callee = *expr.items[0];
  const std::string dotted = dottedName(callee);
  if (callee.kind == Expr::Kind::Name) {
    const auto found = variables_.find(callee.text);
    if (found != variables_.end() && !found->second.function.empty()) {
      return callFunction(*unit_.findFunction(found->second.function), expr);
    }
    return callNamed(callee.text, expr);
  }
  if (dotted.starts_with("torch.autograd.")) return callOperator("autograd", dotted.substr(15), expr);
  if (dotted.starts_with("torch.")) return callOperator("aten", dotted.substr(6), expr);
  if (dotted.starts_with("ops.")) {
    const size_t dot = dotted.find('.', 4);
    if (dot == std::string::npos) return missing(dotted, expr.line);
    return callOperator(dotted.substr(4, dot - 4), dotted.substr(dot + 1), expr);
  }
  if (dotted.starts_with("__torch__.")) {
    if (const FunctionInfo* const function = unit_.findFunction(dotted); function != nullptr) {
      return callFunction(*function, expr);
    }
    if (const ClassInfo* const its_class = unit_.findClass(dotted); its_class != nullptr) {
      return construct(*its_class, expr);
    }
    if (dotted.ends_with(".__new__")) {
      const ClassInfo* const its_class = unit_.findClass(dotted.substr(0, dotted.size() - 8));
      if (its_class != nullptr) return makeUnset(*its_class);
    }
    return missing(dotted, expr.line);
  }
  if (callee.kind != Expr::Kind::Attribute) return missing("a call of an expression", expr.line);
  if (callee.items[0]->kind == Expr::Kind::Name) {
    const auto found = variables_.find(callee.items[0]->text);
    // no_grad() has nothing to set up.
    if (found != variables_.end() && !found->second.scope.empty()) {
      if (callee.text == "__init__" && found->second.scope.starts_with(kAutocastScope)) {
        found->second.scope = autocastText(found->second.scope, expr);
      } else if (callee.text == "__init__" && expr.items.size() == 2) {
        found->second.scope.insert(found->second.scope.size() - 1, expression(*expr.items[1]).text);
      }
      return {"", Precedence::Atom, Type::none()};
    }
  }
  return callMethod(expression(*callee.items[0]), callee.text, expr);
}

std::string FunctionTranslator::autocastText(std::string scope, const Expr& init) {
  const bool is_of_a_device = scope.size() > kAutocastScope.size();
  const std::vector<std::string_view> names =
      is_of_a_device ? std::vector<std::string_view>{"enabled", "dtype", "cache_enabled"}
                     : std::vector<std::string_view>{"device_type", "dtype", "enabled", "cache_enabled"};
  const auto add = [&](std::string_view name, const Expr& source) {
    Expression value = expression(source);
    if (value.text == "None" || (name == "enabled" && value.text == "True")) return;  // the defaults
    if (name == "dtype") value = asNamed(value, source, Type::scalarType());
    if (scope.size() > kAutocastScope.size()) scope += ", ";
    scope += name == "device_type" ? value.text : fmt::format("{}={}", name, value.text);
  };
  for (size_t i = 1; i < init.items.size() && i <= names.size(); ++i) add(names[i - 1], *init.items[i]);
  for (const Keyword& keyword : init.keywords) add(keyword.name, *keyword.value);
  return scope + ")";
}

std::string FunctionTranslator::argumentTexts(const Expr& call) {
  std::vector<std::string> texts;
  for (size_t i = 1; i < call.items.size(); ++i) texts.push_back(expression(*call.items[i]).text);
  for (const Keyword& keyword : call.keywords) {
    texts.push_back(fmt::format("{}={}", keyword.name, expression(*keyword.value).text));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

Expression FunctionTranslator::callMethod(const Expression& object, const std::string& method, const Expr& call) {
  if (object.type == Type::tensor() && method == "tolist") {
    return {fmt::format("{}.tolist()", within(object, Precedence::Atom)), Precedence::Atom, Type::any()};
  }
  const ClassInfo* const info = unit_.classOf(object.type);
  const Function* const definition = info != nullptr ? info->findMethod(method) : nullptr;
  if (definition == nullptr) {
    return missing(
        fmt::format("method {}{}{}", info != nullptr ? info->qualified_name : "", info != nullptr ? "." : "", method),
        call.line);
  }
  const std::string arguments = argumentTexts(call);
  const TypePtr type = unit_.resultOf(*definition);
  if (info->kind == ClassInfo::Kind::Interface) {
    // Any object that has the method may be meant.
    for (const ClassInfo* const held : translation_.held) {
      if (const Function* const its = held->findMethod(method); its != nullptr) translation_.reach(*held, *its);
    }
  } else {
    translation_.reach(*info, *definition);
  }
  return {fmt::format("{}.{}({})", within(object, Precedence::Atom), Translation::methodName(*info, method), arguments),
          Precedence::Atom, type};
}

Expression FunctionTranslator::callFunction(const FunctionInfo& function, const Expr& call) {
  translation_.reach(function);
  const Function& definition = *function.definition;
  const TypePtr type = unit_.resultOf(definition);
  return {fmt::format("{}({})", Translation::placeholder(function), argumentTexts(call)), Precedence::Atom, type};
}

// A NamedTuple is a tuple.
Expression FunctionTranslator::construct(const ClassInfo& its_class, const Expr& call) {
  if (its_class.kind != ClassInfo::Kind::NamedTuple) {
    return missing("an object of " + its_class.qualified_name, call.line);
  }
  std::vector<std::string> texts;
  for (size_t i = 1; i < call.items.size(); ++i) texts.push_back(expression(*call.items[i]).text);
  for (const Keyword& keyword : call.keywords) texts.push_back(expression(*keyword.value).text);
  return {fmt::format("({}{})", fmt::join(texts, ", "), texts.size() == 1 ? "," : ""), Precedence::Atom,
          its_class.type};
}

// An object whose fields `__init__` will set.
Expression FunctionTranslator::makeUnset(const ClassInfo& its_class) {
  translation_.noteClass(its_class);
  translation_.noteMade(its_class);
  std::vector<std::string> texts;
  for (const Field& field : its_class.definition->fields) {
    if (field.default_value != nullptr || !translation_.isUsed(its_class, field.name)) continue;
    texts.push_back(translation_.unsetValue(unit_.typeOfField(its_class, field.name)));
  }
  return {fmt::format("{}({})", Translation::placeholder(its_class), fmt::join(texts, ", ")), Precedence::Atom,
          its_class.type};
}

// `fork(f)` runs in line; `wait` has the result already.
Expression FunctionTranslator::waitFor(const Expr& call) {
  const Expr& forked = *call.items.at(1);
  const auto found = forked.kind == Expr::Kind::Name ? variables_.find(forked.text) : variables_.end();
  if (found == variables_.end() || found->second.forked == nullptr) return missing("fork", call.line);
  constexpr int kMostForks = 1000;
  BOXCAR_CHECK(++forks_ <= kMostForks, "{}: a function forks more than {} times",
               unit_.placeOf(callable_.file, call.line), kMostForks);
  const Block& body = *found->second.forked;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i]->kind == Stmt::Kind::Return && !body[i]->values.empty()) return expression(*body[i]->values[0]);
    statement(*body[i], i + 1 < body.size() ? body[i + 1].get() : nullptr);
  }
  return {"None", Precedence::Atom, Type::none()};
}

// Functions of Python's.
Expression FunctionTranslator::callNamed(const std::string& callee, const Expr& call) {
  const size_t count = call.items.size() - 1;
  const auto argument = [&](size_t i) -> const Expr& { return *call.items.at(i + 1); };
  const auto typed = [&](std::string text, TypePtr type) {
    return Expression{std::move(text), Precedence::Atom, type};
  };
  if (callee == "annotate" && count == 2) return annotated(argument(1), unit_.typeOf(argument(0)));
  if (callee == "unchecked_cast" && count == 2) return cast(argument(1), unit_.typeOf(argument(0)));
  if (callee == "uninitialized" && count == 1) {
    const TypePtr type = unit_.typeOf(argument(0));
    return typed(translation_.unsetValue(type), type);
  }
  if (callee == "isinstance" && count == 2) {
    const Expression value = expression(argument(0));
    const auto isOf = [&](const Expr& type) {
      const std::string kind = dottedName(type);
      if (kind == "list") return fmt::format("type({}).endswith(\"[]\")", value.text);
      if (kind == "tuple") return fmt::format("type({}).startswith(\"(\")", value.text);
      return fmt::format("isinstance({}, {})", value.text, translation_.typeText(unit_.typeOf(type)));
    };
    if (argument(1).kind != Expr::Kind::List && argument(1).kind != Expr::Kind::Tuple) {
      return typed(isOf(argument(1)), Type::boolean());
    }
    std::vector<std::string> texts;
    for (const ExprPtr& type : argument(1).items) texts.push_back(isOf(*type));
    return {fmt::format("{}", fmt::join(texts, " or ")), texts.size() > 1 ? Precedence::Or : Precedence::Atom,
            Type::boolean()};
  }
  if (callee == "getattr" && count == 2) {
    Expression object = expression(argument(0));
    const ClassInfo* const info = unit_.classOf(object.type);
    if (info != nullptr) return fieldOf(object, *info, argument(1).text);
  }
  if (callee == "range") {
    std::vector<std::string> texts;
    for (size_t i = 0; i < count; ++i) texts.push_back(expression(argument(i)).text);
    return typed(fmt::format("range({})", fmt::join(texts, ", ")), Type::listOf(Type::integer()));
  }
  if ((callee == "int" || callee == "float" || callee == "bool" || callee == "str") && count == 1) {
    const Expression value = expression(argument(0));
    const TypePtr type = callee == "int"     ? Type::integer()
                         : callee == "float" ? Type::floating()
                         : callee == "bool"  ? Type::boolean()
                                             : Type::string();
    return typed(fmt::format("{}({})", callee, value.text), type);
  }
  if (callee == "complex" && count == 2) {
    const Expression real = expression(argument(0));
    const Expression imaginary = expression(argument(1));
    return {fmt::format("{} + {} * 1j", within(real, Precedence::Add), within(imaginary, Precedence::Multiply)),
            Precedence::Add, Type::complex()};
  }
  if (callee == "fork" && count >= 1) return waitFor(call);
  if (callee == "sorted" && count == 1) {
    if (const Found sorted = sortedObjects(callee, {call, positional(call)}); sorted.has_value()) return *sorted;
    const Expression value = expression(argument(0));
    return typed(fmt::format("sorted({})", value.text), value.type);
  }
  if (callee == "print") return typed(fmt::format("print({})", argumentTexts(call)), Type::none());
  return missing(callee, call.line);
}

}  // namespace boxcar::interp::torchscript
