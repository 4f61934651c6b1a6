#include <boxcar/interpreter/import/torchscript/function_translator.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

// Statements in their order: which values are written where the next statement reads them.

namespace boxcar::interp::torchscript {
namespace {

enum class Order : uint8_t { Pure, Found, Stop };

// Looks for the first thing that [expr] does: reading [name], or something else that has an effect.
Order firstEffect(const Expr& expr, std::string_view name) {
  if (expr.kind == Expr::Kind::Name) return expr.text == name ? Order::Found : Order::Pure;
  const bool is_call = expr.kind == Expr::Kind::Call;
  for (const ExprPtr& item : expr.items) {
    if (const Order order = firstEffect(*item, name); order != Order::Pure) return order;
  }
  for (const Keyword& keyword : expr.keywords) {
    if (const Order order = firstEffect(*keyword.value, name); order != Order::Pure) return order;
  }
  return is_call || expr.kind == Expr::Kind::Index ? Order::Stop : Order::Pure;
}

// Whether an expression reads [names] one after the other, each as the next thing that it does. [count]: how many it
// has read.
Order readsInOrder(const Expr& expr, const std::vector<std::string>& names, size_t& count) {
  if (count == names.size()) return Order::Found;
  if (expr.kind == Expr::Kind::Name) {
    if (expr.text != names[count]) return std::ranges::count(names, expr.text) > 0 ? Order::Stop : Order::Pure;
    return ++count == names.size() ? Order::Found : Order::Pure;
  }
  for (const ExprPtr& item : expr.items) {
    if (const Order order = readsInOrder(*item, names, count); order != Order::Pure) return order;
  }
  for (const Keyword& keyword : expr.keywords) {
    if (const Order order = readsInOrder(*keyword.value, names, count); order != Order::Pure) return order;
  }
  return expr.kind == Expr::Kind::Call || expr.kind == Expr::Kind::Index ? Order::Stop : Order::Pure;
}

bool hasName(const Expr& expr, std::string_view name) {
  if (expr.kind == Expr::Kind::Name) return expr.text == name;
  return std::ranges::any_of(expr.items, [&](const ExprPtr& item) { return hasName(*item, name); }) ||
         std::ranges::any_of(expr.keywords, [&](const Keyword& keyword) { return hasName(*keyword.value, name); });
}

// Whether an expression has no effect, and gives the same value later.
bool isMessage(const Expr& expr) {
  constexpr auto kPure =
      std::to_array<std::string_view>({"torch.format", "torch.size", "torch.dim", "torch.len", "torch.mul", "torch.add",
                                       "torch.sub", "torch.__getitem__", "ops.prim.dtype", "str"});
  if (expr.kind == Expr::Kind::Name || expr.kind == Expr::Kind::Int || expr.kind == Expr::Kind::String) return true;
  if (expr.kind != Expr::Kind::Call || !expr.keywords.empty()) return false;
  return std::ranges::find(kPure, dottedName(*expr.items[0])) != kPure.end() &&
         std::all_of(expr.items.begin() + 1, expr.items.end(), [](const ExprPtr& item) { return isMessage(*item); });
}

bool isMessageOf(const Stmt& temporary, const Stmt& reader) {
  const Expr& value = *temporary.values[0];
  if (value.kind != Expr::Kind::Call || dottedName(*value.items[0]) != "torch.format" || !isMessage(value))
    return false;
  if (reader.kind != Stmt::Kind::If) return false;
  const auto raises = [&](const Block& block) {
    if (block.empty() || block[0]->kind != Stmt::Kind::Evaluate || block[0]->values[0]->kind != Expr::Kind::Call) {
      return false;
    }
    const Expr& call = *block[0]->values[0];
    return dottedName(*call.items[0]) == "ops.prim.RaiseException" && hasName(call, temporary.targets[0]->text);
  };
  return raises(reader.body) || raises(reader.otherwise);
}

// Whether a statement is `torch.append(x, item)`.
bool appendsTo(const Stmt& statement, std::string_view name) {
  const bool is_one = (statement.kind == Stmt::Kind::Evaluate || statement.kind == Stmt::Kind::Assign) &&
                      statement.targets.size() < 2 && !statement.unpacks;
  if (!is_one || statement.values[0]->kind != Expr::Kind::Call) return false;
  const Expr& call = *statement.values[0];
  return dottedName(*call.items[0]) == "torch.append" && call.items.size() == 3 &&
         call.items[1]->kind == Expr::Kind::Name && call.items[1]->text == name && !hasName(*call.items[2], name);
}

// Whether a statement reads temporaries before it does anything else, and messages where it raises.
bool readsInOrder(const Stmt& reader, const std::vector<const Stmt*>& temporaries) {
  const bool can_read = reader.kind == Stmt::Kind::Assign || reader.kind == Stmt::Kind::Evaluate ||
                        reader.kind == Stmt::Kind::If || reader.kind == Stmt::Kind::Return;
  if (!can_read || reader.values.empty()) return false;
  std::vector<std::string> names;
  for (const Stmt* const each : temporaries) {
    if (!isMessageOf(*each, reader)) names.push_back(each->targets[0]->text);
  }
  size_t count = 0;
  return names.empty() || readsInOrder(*reader.values[0], names, count) == Order::Found;
}

bool assignsField(const Stmt& statement) {
  const bool is_one = statement.kind == Stmt::Kind::Assign && statement.targets.size() == 1 && !statement.unpacks;
  return is_one && statement.values[0]->kind == Expr::Kind::Attribute;
}

}  // namespace

bool FunctionTranslator::isTemporary(std::string_view name) {
  return name.size() > 1 && name[0] == '_' &&
         std::ranges::all_of(name.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

void FunctionTranslator::block(const Block& statements, size_t begin) {
  for (size_t i = begin; i < statements.size();) {
    if (const size_t reader = holdTemporaries(statements, i); reader > i) {
      i = reader;
      continue;
    }
    if (const size_t behind = fillList(statements, i); behind > i) {
      i = behind;
      continue;
    }
    const Stmt& each = *statements[i];
    ++i;
    // A temporary is read by the next statement but for those that read fields, which make no line.
    const bool is_temporary = each.kind == Stmt::Kind::Assign && isTemporary(each.targets[0]->text);
    while (is_temporary && i < statements.size() && readsField(*statements[i])) ++i;
    statement(each, i < statements.size() ? statements[i].get() : nullptr);
    // What follows an error never runs.
    if (isRaised(each)) return;
  }
}

bool FunctionTranslator::isConstantField(const Expr& value, const Expression& text) const {
  const bool is_field = value.kind == Expr::Kind::Attribute ||
                        (value.kind == Expr::Kind::Call && dottedName(*value.items[0]) == "getattr");
  return is_field && constant_field_ && text.type->kind() != TypeKind::Optional && text.type->kind() != TypeKind::Any &&
         text.binding == Precedence::Atom && text.text.find('(') == std::string::npos;
}

bool FunctionTranslator::readsField(const Stmt& statement) {
  if (statement.kind != Stmt::Kind::Assign || statement.targets.size() > 1 || statement.unpacks) return false;
  const Expr& value = *statement.values[0];
  const Expr& target = *statement.targets[0];
  if (value.kind != Expr::Kind::Attribute || target.kind != Expr::Kind::Name || definitions_[target.text] != 1) {
    return false;
  }
  const Expr* object = &value;
  while (object->kind == Expr::Kind::Attribute) object = object->items[0].get();
  const auto found = object->kind == Expr::Kind::Name ? variables_.find(object->text) : variables_.end();
  if (found == variables_.end() || unit_.classOf(found->second.value.type) == nullptr) return false;
  Variable variable{expression(value)};
  if (!isConstantField(value, variable.value)) return false;
  variable.is_text = true;
  variables_.insert_or_assign(target.text, std::move(variable));
  return true;
}

bool FunctionTranslator::canHold(const Stmt& statement) const {
  if (statement.kind != Stmt::Kind::Assign || statement.targets.size() != 1 || statement.unpacks ||
      statement.type != nullptr) {
    return false;
  }
  const std::string& name = statement.targets[0]->text;
  const auto uses = uses_.find(name);
  const auto definitions = definitions_.find(name);
  if (!isTemporary(name) || uses == uses_.end() || uses->second != 1 || definitions == definitions_.end() ||
      definitions->second != 1) {
    return false;
  }
  const Expr& value = *statement.values[0];
  if (value.kind == Expr::Kind::List) return true;
  if (value.kind != Expr::Kind::Call) return false;
  const std::string callee = dottedName(*value.items[0]);
  return (callee.starts_with("torch.") || callee.starts_with("ops.prim.")) && callee != "torch.dict";
}

size_t FunctionTranslator::holdTemporaries(const Block& statements, size_t begin) {
  std::vector<const Stmt*> held;
  size_t at = begin;
  for (;; ++at) {
    if (at == statements.size()) return begin;
    const Stmt& each = *statements[at];
    if (!held.empty() && readsInOrder(each, held)) break;
    if (canHold(each)) {
      held.push_back(&each);
    } else if (held.empty() || !assignsField(each)) {
      return begin;
    }
  }
  // One that the next statement reads is what assign() moves.
  if (held.size() == 1 && !isMessageOf(*held[0], *statements[at])) return begin;

  held.clear();
  for (size_t i = begin; i < at; ++i) {
    const Stmt& each = *statements[i];
    const size_t lines_before = lines_.size();
    if (assignsField(each)) {
      if (readsField(each)) continue;
      writeHeld(held, lines_before);
      return i;
    }
    Expression text = expression(*each.values[0]);
    const bool is_held = lines_.size() == lines_before && text.text.size() < kLongestMoved && !text.text.empty();
    if (!is_held) {
      writeHeld(held, lines_before);
      assignTo(*each.targets[0], std::move(text));
      return i + 1;
    }
    Variable variable{std::move(text)};
    variable.is_text = true;
    variables_.insert_or_assign(each.targets[0]->text, std::move(variable));
    held.push_back(&each);
  }
  return at;
}

void FunctionTranslator::writeHeld(const std::vector<const Stmt*>& held, size_t line_number) {
  const auto begin = lines_.begin() + static_cast<ptrdiff_t>(line_number);
  std::vector<std::string> behind(begin, lines_.end());
  lines_.erase(begin, lines_.end());
  for (const Stmt* const each : held) {
    const auto found = variables_.find(each->targets[0]->text);
    Expression text = std::move(found->second.value);
    variables_.erase(found);
    assignTo(*each->targets[0], std::move(text));
  }
  std::ranges::move(behind, std::back_inserter(lines_));
}

size_t FunctionTranslator::fillList(const Block& statements, size_t begin) {
  const Stmt& made = *statements[begin];
  if (made.kind != Stmt::Kind::Assign || made.targets.size() != 1 || made.unpacks ||
      made.targets[0]->kind != Expr::Kind::Name || made.values[0]->kind != Expr::Kind::Call) {
    return begin;
  }
  const Expr& value = *made.values[0];
  if (dottedName(*value.items[0]) != "annotate" || value.items.size() != 3 ||
      value.items[2]->kind != Expr::Kind::List || !value.items[2]->items.empty()) {
    return begin;
  }
  const TypePtr type = unit_.typeOf(*value.items[1]);
  const std::string& name = made.targets[0]->text;
  if (!type->isList() || definitions_[name] != 1) return begin;
  std::vector<std::string> items;
  bool is_typed = true;
  size_t at = begin + 1;
  const auto write = [&] {
    const std::string its_name = newName(name);
    variables_.insert_or_assign(name, Variable{{its_name, Precedence::Atom, type}});
    line(fmt::format("{}: {} = [{}]", its_name, translation_.typeText(type), fmt::join(items, ", ")));
  };
  for (; at < statements.size() && appendsTo(*statements[at], name); ++at) {
    if (!statements[at]->targets.empty() && uses_.contains(statements[at]->targets[0]->text)) break;
    const size_t lines_before = lines_.size();
    const Expression item = expression(*statements[at]->values[0]->items[2]);
    --uses_[name];
    is_typed &= item.type == type->element();
    if (lines_.size() != lines_before && !items.empty()) {
      // What the item needs comes after the items before it.
      std::vector<std::string> needed(lines_.begin() + static_cast<ptrdiff_t>(lines_before), lines_.end());
      lines_.resize(lines_before);
      write();
      std::ranges::move(needed, std::back_inserter(lines_));
      line(fmt::format("{}.append({})", variables_.at(name).value.text, item.text));
      return at + 1;
    }
    items.push_back(item.text);
  }
  if (items.empty()) return begin;
  const TypePtr element = type->element();
  const bool is_plain = is_typed && (element == Type::tensor() || element == Type::integer() ||
                                     element == Type::floating() || element == Type::boolean());
  const Stmt* const next = at < statements.size() ? statements[at].get() : nullptr;
  if (is_plain && next != nullptr && uses_[name] == 1) {
    Variable variable{{fmt::format("[{}]", fmt::join(items, ", ")), Precedence::Atom, type}};
    variable.is_text = true;
    if (isAllOf(*next, name) || (canMove(name, next) && variable.value.text.size() < kLongestMoved)) {
      variables_.insert_or_assign(name, std::move(variable));
      return at;
    }
  }
  write();
  return at;
}

bool FunctionTranslator::isAllOf(const Stmt& statement, const std::string& name) const {
  if (statement.values.empty() || statement.values[0]->kind != Expr::Kind::Name || statement.values[0]->text != name) {
    return false;
  }
  return (statement.kind == Stmt::Kind::Return && result_ != Type::none()) ||
         (statement.kind == Stmt::Kind::Assign && statement.unpacks && isTemporary(name));
}

bool FunctionTranslator::canMove(const std::string& name, const Stmt* next) const {
  const auto uses = uses_.find(name);
  if (next == nullptr || uses == uses_.end() || uses->second != 1 || !isTemporary(name)) return false;
  const bool reads_first = next->kind == Stmt::Kind::Assign || next->kind == Stmt::Kind::Evaluate ||
                           next->kind == Stmt::Kind::If || next->kind == Stmt::Kind::Return;
  return reads_first && !next->values.empty() && firstEffect(*next->values[0], name) == Order::Found;
}

}  // namespace boxcar::interp::torchscript
