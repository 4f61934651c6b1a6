#include <boxcar/interpreter/import/script_words.h>
#include <boxcar/interpreter/import/torchscript/function_translator.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/scalar_type.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace boxcar::interp::torchscript {
namespace {

// Of a context manager that changes nothing.
constexpr std::string_view kNoScope = "pass";

// The type of a variable that has values of both.
TypePtr joined(TypePtr before, TypePtr now) {
  const bool may_be_none = before->isOptional() || before == Type::none();
  if (may_be_none && now->kind() != TypeKind::Any) return now == Type::none() ? before : Type::optionalOf(now);
  return now == Type::none() ? Type::optionalOf(before) : now;
}

// Whether a line has [name] in it, as a word.
bool readsWord(std::string_view text, std::string_view name) {
  const auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || !isWord(text[at - 1]);
    if (begins && (at + name.size() == text.size() || !isWord(text[at + name.size()]))) return true;
  }
  return false;
}

}  // namespace

TranslatedFunction translateFunction(Translation& translation, const Callable& callable) {
  FunctionTranslator translator(translation, callable, true);
  TranslatedFunction function = translator.translate();
  if (!translator.hasMixedTypes()) return function;
  return FunctionTranslator(translation, callable, false).translate();
}

TranslatedFunction FunctionTranslator::translate() {
  const Function& function = *callable_.definition;
  countUses(function.body);
  std::vector<std::string> parameters;
  std::vector<std::string> its_names;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    if (i == 0 && callable_.its_class != nullptr) {
      parameters.emplace_back("self");
      its_names.emplace_back("self");
      names_.insert("self");
      variables_.insert_or_assign(parameter.name, Variable{{"self", Precedence::Atom, callable_.its_class->type}});
      continue;
    }
    const TypePtr type = parameter.type != nullptr ? unit_.typeOf(*parameter.type) : Type::tensor();
    const Variable& variable = declare(parameter.name, type);
    std::string text = fmt::format("{} {}", translation_.typeText(type), variable.value.text);
    its_names.push_back(variable.value.text);
    noteAssigned(variable.value.text, type);
    if (parameter.default_value != nullptr) text += "=" + expression(*parameter.default_value).text;
    parameters.push_back(std::move(text));
  }
  result_ = unit_.resultOf(function);
  const ClassInfo* const named = unit_.classOf(result_);
  std::string result = result_ == Type::none() ? "()" : translation_.typeText(result_);
  // `(A, B)[]` would be read as several results.
  if (result.starts_with('(') && !result.ends_with(')')) result = fmt::format("({})", result);
  if (named != nullptr && named->kind == ClassInfo::Kind::NamedTuple && named->definition->fields.size() > 1) {
    std::vector<std::string> fields;
    for (const Field& field : named->definition->fields) {
      fields.push_back(fmt::format("{} {}", translation_.typeText(unit_.typeOfField(*named, field.name)),
                                   Translation::fieldName(field.name)));
    }
    result = fmt::format("({})", fmt::join(fields, ", "));
  }
  block(function.body);
  if (!lines_.empty() && lines_.back() == "return") lines_.pop_back();
  removeUnread();
  returnFromBranches();
  return {callable_, fmt::format("({}) -> {}", fmt::join(parameters, ", "), result), std::move(its_names),
          std::move(lines_)};
}

void FunctionTranslator::countUses(const Expr& expr, int by) {
  if (expr.kind == Expr::Kind::Name) {
    size_t& count = uses_[expr.text];
    count += static_cast<size_t>(by);
    if (count == 0) uses_.erase(expr.text);
  }
  for (const ExprPtr& item : expr.items) countUses(*item, by);
  for (const Keyword& keyword : expr.keywords) countUses(*keyword.value, by);
}

void FunctionTranslator::countUses(const Block& statements, int by) {
  for (const StmtPtr& each : statements) {
    for (const ExprPtr& value : each->values) countUses(*value, by);
    if (each->targets.size() == 1 && !each->unpacks) value_[each->targets[0]->text] = each->values[0].get();
    for (const ExprPtr& target : each->targets) {
      if (target->kind == Expr::Kind::Name) {
        definitions_[target->text] += static_cast<size_t>(by);
      } else {
        countUses(*target, by);
      }
    }
    countUses(each->body, by);
    countUses(each->otherwise, by);
  }
}

std::string FunctionTranslator::newName(std::string_view wanted) {
  std::string name(wanted);
  const bool is_taken = isReservedWord(name) || name == "model" || name == "ts" || parseDtype(name).has_value();
  if (is_taken) name += "_";
  std::string unique = name;
  for (int i = 2; names_.contains(unique); ++i) unique = fmt::format("{}_{}", name, i);
  names_.insert(unique);
  return unique;
}

void FunctionTranslator::removeUnread() {
  for (const std::string& name : unset_names_) {
    const auto first = std::ranges::find_if(lines_, [&](const std::string& text) { return readsWord(text, name); });
    if (first == lines_.end() || !first->starts_with(name + ": ")) continue;
    if (std::none_of(first + 1, lines_.end(), [&](const std::string& text) { return readsWord(text, name); })) {
      lines_.erase(first);
    }
  }
}

std::string FunctionTranslator::nameOf(const std::string& variable) {
  const auto renamed = renamed_.find(variable);
  if (renamed == renamed_.end()) return newName(variable);
  std::string& name = shared_[renamed->second];
  if (name.empty()) name = newName(renamed->second);
  return name;
}

FunctionTranslator::Variable& FunctionTranslator::declare(const std::string& name, TypePtr type) {
  const auto found = variables_.find(name);
  if (found != variables_.end() && !found->second.is_text && found->second.function.empty()) {
    // The name is kept when it gets another value.
    found->second.value.type = joined(found->second.value.type, type);
    return found->second;
  }
  Variable variable{{nameOf(name), Precedence::Atom, type}};
  return variables_.insert_or_assign(name, std::move(variable)).first->second;
}

bool FunctionTranslator::isRaised(const Stmt& statement) {
  return statement.kind == Stmt::Kind::Evaluate && statement.values[0]->kind == Expr::Kind::Call &&
         dottedName(*statement.values[0]->items[0]) == "ops.prim.RaiseException";
}

void FunctionTranslator::statement(const Stmt& statement, const Stmt* next) {
  switch (statement.kind) {
    case Stmt::Kind::Assign: return assign(statement, next);
    case Stmt::Kind::Evaluate: return evaluate(*statement.values[0]);
    case Stmt::Kind::If: return branch(statement, next);
    case Stmt::Kind::While:
    case Stmt::Kind::For: return loop(statement);
    case Stmt::Kind::With: return withScope(statement);
    case Stmt::Kind::Return: return giveBack(statement);
    case Stmt::Kind::Pass: return;
    case Stmt::Kind::Break: return line("break");
    case Stmt::Kind::Function: {
      Variable variable;
      variable.forked = &statement.body;
      variables_.insert_or_assign(statement.name, std::move(variable));
      return;
    }
  }
}

void FunctionTranslator::assign(const Stmt& statement, const Stmt* next) {
  const Expr& value = *statement.values[0];
  if (statement.targets.size() > 1 || statement.unpacks) return unpack(statement);
  const Expr& target = *statement.targets[0];
  if (target.kind != Expr::Kind::Name) return assignTo(target, expression(value));

  // Other names of functions.
  const std::string dotted = dottedName(value);
  if (dotted.starts_with("__torch__.") && unit_.findFunction(dotted) != nullptr) {
    Variable variable;
    variable.function = dotted;
    variables_.insert_or_assign(target.text, std::move(variable));
    return;
  }
  if (value.kind == Expr::Kind::Call) {
    const std::string callee = dottedName(*value.items[0]);
    if (callee == "uninitialized" && value.items.size() == 2) {
      const TypePtr type = unit_.typeOf(*value.items[1]);
      Variable variable{{translation_.unsetValue(type), Precedence::Atom, type}};
      variable.is_text = true;
      variable.is_unset = true;
      if (type->kind() == TypeKind::List || type->kind() == TypeKind::Dict || type->kind() == TypeKind::Tuple) {
        const std::string its_name = newName(target.text);
        line(fmt::format("{}: {} = {}", its_name, translation_.typeText(type), variable.value.text));
        variable.value.text = its_name;
        unset_names_.push_back(its_name);
      }
      variables_.insert_or_assign(target.text, std::move(variable));
      return;
    }
    if (callee.starts_with("__torch__.torch.autograd.grad_mode.") && callee.ends_with(".__new__")) {
      std::string scope = callee.substr(0, callee.size() - 8);
      scope = scope.substr(scope.rfind('.') + 1);
      Variable variable;
      variable.scope = scope + "()";
      variables_.insert_or_assign(target.text, std::move(variable));
      return;
    }
    constexpr std::string_view kTorch = "__torch__.torch.";
    constexpr std::string_view kAutocast = "amp.autocast_mode.autocast.__new__";
    if (callee.starts_with(kTorch) && callee.ends_with(kAutocast)) {
      // torch.amp.autocast gets the device; those in torch.cuda.amp and torch.cpu.amp are for one.
      const std::string device = callee.substr(kTorch.size(), callee.size() - kTorch.size() - kAutocast.size());
      Variable variable;
      variable.scope = kAutocastScope;
      if (!device.empty()) variable.scope += fmt::format("\"{}\"", device.substr(0, device.size() - 1));
      variables_.insert_or_assign(target.text, std::move(variable));
      return;
    }
    if (callee == "__torch__.torch.autograd.profiler.record_function.__new__") {
      Variable variable;
      variable.scope = kNoScope;
      variables_.insert_or_assign(target.text, std::move(variable));
      return;
    }
    const bool is_new_dict = callee == "torch.dict" && value.items.size() == 1;
    if (is_new_dict || (callee == "annotate" && value.items.size() == 3)) {
      // A dict without an annotation is one of tensors.
      const TypePtr type = is_new_dict ? Type::dictOf(Type::string(), Type::tensor()) : unit_.typeOf(*value.items[1]);
      const bool is_container = type->kind() == TypeKind::List || type->kind() == TypeKind::Dict;
      const Expr* const given = is_new_dict ? nullptr : value.items[2].get();
      const bool is_empty = given == nullptr || (is_container && given->items.empty() &&
                                                 (given->kind == Expr::Kind::List || given->kind == Expr::Kind::Dict));
      if (is_empty) {
        const std::string its_name = newName(target.text);
        variables_.insert_or_assign(target.text, Variable{{its_name, Precedence::Atom, type}});
        line(fmt::format("{}: {} = {}", its_name, translation_.typeText(type),
                         type->kind() == TypeKind::List ? "[]" : "{}"));
        return;
      }
    }
  }
  if (value.kind == Expr::Kind::Name && isSkipped(value, target.text)) return;
  Expression text = expression(value);
  const bool is_unused = !uses_.contains(target.text);
  if (is_unused && (value.kind == Expr::Kind::Call || text.text.empty())) {
    if (!text.text.empty()) line(text.text);
    return;
  }
  // Strings of messages, attributes that nothing writes, and what the next statement reads first.
  const bool is_string = value.kind == Expr::Kind::String && (uses_[target.text] == 1 || isTemporary(target.text));
  const bool is_constant_field = isConstantField(value, text);
  const bool is_literal = text.text == "True" || text.text == "False";
  const bool is_all = next != nullptr && isAllOf(*next, target.text) && uses_[target.text] == 1;
  const bool is_moved = is_all || (canMove(target.text, next) && (text.text.size() < kLongestMoved || isRaised(*next)));
  if (definitions_[target.text] == 1 && (is_string || is_literal || is_constant_field || is_moved)) {
    Variable variable{std::move(text)};
    variable.is_text = true;
    variables_.insert_or_assign(target.text, std::move(variable));
    return;
  }
  if (statement.type != nullptr) {
    // An annotation says what the value will be joined with, which inference finds out by itself; a float must be said.
    const TypePtr type = unit_.typeOf(*statement.type);
    if (type == Type::floating() && text.type == Type::integer())
      text = {fmt::format("float({})", text.text), Precedence::Atom, type};
    if (text.type != Type::none()) text.type = type;
  }
  assignTo(target, std::move(text));
}

void FunctionTranslator::assignTo(const Expr& target, Expression value) {
  switch (target.kind) {
    case Expr::Kind::Name: {
      if (value.text.empty()) value = {"None", Precedence::Atom, Type::none()};
      Variable& variable = declare(target.text, value.type);
      if (variable.value.text != value.text) assignLine(target.text, variable.value.text, value);
      return;
    }
    case Expr::Kind::Attribute: {
      const Expression object = expression(*target.items[0]);
      if (const ClassInfo* const info = unit_.classOf(object.type); info != nullptr) {
        translation_.noteWritten(*info, target.text);
      }
      line(
          fmt::format("{}.{} = {}", within(object, Precedence::Atom), Translation::fieldName(target.text), value.text));
      return;
    }
    case Expr::Kind::Index: {
      const Expression object = expression(*target.items[0]);
      line(fmt::format("{}[{}] = {}", within(object, Precedence::Atom), expression(*target.items[1]).text, value.text));
      return;
    }
    default: BOXCAR_FAIL("{}: this cannot be assigned to", unit_.placeOf(callable_.file, target.line));
  }
}

// `a, b, = t` takes a tuple or a list apart; `a, b = c, d` are two assignments at once.
void FunctionTranslator::unpack(const Stmt& statement) {
  const Expr& value = *statement.values[0];
  const size_t count = statement.targets.size();
  if (value.kind == Expr::Kind::Tuple && value.items.size() == count) {
    std::vector<std::string> targets;
    std::vector<Expression> values;
    for (const ExprPtr& item : value.items) values.push_back(expression(*item));
    std::vector<std::string> texts;
    std::vector<TypePtr> types;
    size_t last = 0;
    for (size_t i = 0; i < count; ++i) {
      const Expr& target = *statement.targets[i];
      if (!uses_.contains(target.text) || isSkipped(*value.items[i], target.text)) continue;
      const bool is_literal = values[i].text == "True" || values[i].text == "False";
      if (is_literal && definitions_[target.text] == 1) {
        Variable variable{values[i]};
        variable.is_text = true;
        variables_.insert_or_assign(target.text, std::move(variable));
        continue;
      }
      const Variable& variable = declare(target.text, values[i].type);
      if (variable.value.text == values[i].text) continue;
      targets.push_back(variable.value.text);
      texts.push_back(values[i].text);
      types.push_back(values[i].type);
      last = i;
    }
    for (size_t i = 0; i < targets.size(); ++i) noteAssigned(targets[i], types[i]);
    if (targets.size() == 1) return assignLine(statement.targets[last]->text, targets[0], values[last]);
    if (targets.empty()) return;
    // Assignments of which none reads what another assigns are as well made one by one.
    const std::string at_once = fmt::format("{} = {}", fmt::join(targets, ", "), fmt::join(texts, ", "));
    bool is_independent = true;
    for (size_t i = 0; i < targets.size(); ++i) {
      for (size_t j = i + 1; j < targets.size(); ++j) is_independent &= !readsWord(texts[j], targets[i]);
    }
    if (at_once.size() <= kLongestMoved || !is_independent) return line(at_once);
    for (size_t i = 0; i < targets.size(); ++i) line(fmt::format("{} = {}", targets[i], texts[i]));
    return;
  }
  const Expression whole = expression(value);
  const TypePtr plain = unit_.withoutNames(whole.type);
  std::vector<std::string> targets;
  for (size_t i = 0; i < count; ++i) {
    TypePtr type = Type::any();
    if (plain->kind() == TypeKind::Tuple && i < plain->contained().size()) type = plain->contained()[i];
    if (plain->isList()) type = plain->element();
    targets.push_back(declare(statement.targets[i]->text, type).value.text);
    noteAssigned(targets.back(), type);
  }
  line(fmt::format("{}{} = {}", fmt::join(targets, ", "), count == 1 ? "," : "", whole.text));
}

void FunctionTranslator::noteAssigned(const std::string& target, TypePtr type) {
  has_value_.insert_or_assign(target, type);
  not_none_.erase(target);
}

bool FunctionTranslator::isSkipped(const Expr& value, const std::string& target) {
  const auto source = value.kind == Expr::Kind::Name ? variables_.find(value.text) : variables_.end();
  if (source == variables_.end() || !source->second.is_unset) return false;
  const TypePtr type = source->second.value.type;
  const std::string name = declare(target, type).value.text;
  const auto found = has_value_.find(name);
  if (found == has_value_.end()) return false;
  if (!skips_unset_) return found->second == type;
  if (found->second != type) has_mixed_types_ = true;
  skipped_.insert(name);
  return true;
}

void FunctionTranslator::joinWith(const std::map<std::string, TypePtr, std::less<>>& has_value) {
  for (auto each = has_value_.begin(); each != has_value_.end();) {
    const auto other = has_value.find(each->first);
    if (other == has_value.end()) {
      each = has_value_.erase(each);
      continue;
    }
    if (other->second != each->second) each->second = nullptr;
    ++each;
  }
}

void FunctionTranslator::assignLine(const std::string& variable, const std::string& target, const Expression& value) {
  noteAssigned(target, value.type);
  assigned_ = {variable, target, value, fmt::format("{} = {}", target, value.text)};
  line(assigned_.line);
}

void FunctionTranslator::evaluate(const Expr& expr) {
  const Expression text = expression(expr);
  if (!text.text.empty()) line(text.text);
}

void FunctionTranslator::withScope(const Stmt& statement) {
  const Expr& scope = *statement.values[0];
  const auto found = scope.kind == Expr::Kind::Name ? variables_.find(scope.text) : variables_.end();
  if (found != variables_.end() && !found->second.scope.empty()) {
    if (found->second.scope == kNoScope) return block(statement.body);
    line(fmt::format("with {} {{", found->second.scope));
    block(statement.body);
    return line("}");
  }
  const Expression object = expression(scope);
  const ClassInfo* const info = unit_.classOf(object.type);
  const Function* const enter = info != nullptr ? info->findMethod("__enter__") : nullptr;
  const Function* const leave = info != nullptr ? info->findMethod("__exit__") : nullptr;
  if (enter == nullptr || leave == nullptr) {
    line(missing("with " + scope.text, statement.line).text);
    return;
  }
  // An error ends the run, so that nothing else leaves the block.
  translation_.reach(*info, *enter);
  translation_.reach(*info, *leave);
  const std::string entered =
      fmt::format("{}.{}()", within(object, Precedence::Atom), Translation::methodName(*info, "__enter__"));
  if (statement.targets.empty()) {
    line(entered);
  } else {
    const TypePtr type = unit_.resultOf(*enter);
    assignLine(statement.targets[0]->text, declare(statement.targets[0]->text, type).value.text,
               {entered, Precedence::Atom, type});
  }
  block(statement.body);
  line(fmt::format("{}.{}(None, None, None)", within(object, Precedence::Atom),
                   Translation::methodName(*info, "__exit__")));
}

void FunctionTranslator::giveBack(const Stmt& statement) {
  if (result_ == Type::none()) {
    if (!statement.values.empty() && statement.values[0]->kind == Expr::Kind::Call) evaluate(*statement.values[0]);
    return line("return");
  }
  if (statement.values.empty()) return line("return None");
  const Expression value = expression(*statement.values[0]);
  line(fmt::format("return {}", value.text));
}

}  // namespace boxcar::interp::torchscript
