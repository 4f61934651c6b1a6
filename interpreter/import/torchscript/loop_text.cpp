#include <boxcar/interpreter/import/torchscript/function_translator.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

// `while` and `for`.

namespace boxcar::interp::torchscript {

bool FunctionTranslator::isNewList(const std::string& variable) const {
  const auto definitions = definitions_.find(variable);
  const auto found = value_.find(variable);
  if (found == value_.end() || definitions == definitions_.end() || definitions->second != 1) return false;
  const Expr& value = *found->second;
  return value.kind == Expr::Kind::List ||
         (value.kind == Expr::Kind::Call && value.items.size() == 3 && dottedName(*value.items[0]) == "annotate" &&
          value.items[2]->kind == Expr::Kind::List);
}

bool FunctionTranslator::mayChangeLists(const Expr& expr) const {
  constexpr auto kChanging = std::to_array<std::string_view>(
      {"torch.append", "torch.extend", "torch.insert", "torch.pop", "torch.clear", "torch.remove", "torch.reverse",
       "torch.sort", "torch.Delete", "torch._set_item", "torch.add_"});
  if (expr.kind == Expr::Kind::Call) {
    const std::string callee = dottedName(*expr.items[0]);
    if (std::ranges::find(kChanging, callee) != kChanging.end()) {
      const bool is_new =
          expr.items.size() > 1 && expr.items[1]->kind == Expr::Kind::Name && isNewList(expr.items[1]->text);
      if (!is_new) return true;
    } else if (!callee.starts_with("torch.") && !callee.starts_with("ops.") && callee != "unchecked_cast" &&
               callee != "annotate" && callee != "range" && callee != "int" && callee != "float" && callee != "bool") {
      return true;
    }
  }
  return std::ranges::any_of(expr.items, [this](const ExprPtr& item) { return mayChangeLists(*item); }) ||
         std::ranges::any_of(expr.keywords, [this](const Keyword& keyword) { return mayChangeLists(*keyword.value); });
}

bool FunctionTranslator::mayChangeLists(const Block& statements) const {
  return std::ranges::any_of(statements, [this](const StmtPtr& each) {
    const bool assigns_item =
        std::ranges::any_of(each->targets, [](const ExprPtr& target) { return target->kind == Expr::Kind::Index; });
    return assigns_item || each->kind == Stmt::Kind::With || each->kind == Stmt::Kind::Function ||
           std::ranges::any_of(each->values, [this](const ExprPtr& value) { return mayChangeLists(*value); }) ||
           mayChangeLists(each->body) || mayChangeLists(each->otherwise);
  });
}

const Stmt* FunctionTranslator::itemOf(const Stmt& loop) const {
  if (loop.kind != Stmt::Kind::For || loop.body.empty()) return nullptr;
  const Stmt& first = *loop.body[0];
  const Expr& range = *loop.values[0];
  if (range.kind != Expr::Kind::Call || dottedName(*range.items[0]) != "range" || range.items.size() != 2) {
    return nullptr;
  }
  const Expr& length = *range.items[1];
  if (length.kind != Expr::Kind::Call || dottedName(*length.items[0]) != "torch.len" || length.items.size() != 2 ||
      length.items[1]->kind != Expr::Kind::Name) {
    return nullptr;
  }
  const std::string& list = length.items[1]->text;
  const std::string& index = loop.targets[0]->text;
  const bool is_item = first.kind == Stmt::Kind::Assign && first.targets.size() == 1 && !first.unpacks &&
                       first.type == nullptr && first.targets[0]->kind == Expr::Kind::Name &&
                       first.values[0]->kind == Expr::Kind::Index &&
                       first.values[0]->items[0]->kind == Expr::Kind::Name && first.values[0]->items[0]->text == list &&
                       first.values[0]->items[1]->kind == Expr::Kind::Name && first.values[0]->items[1]->text == index;
  if (!is_item) return nullptr;
  const auto known = variables_.find(list);
  const auto uses = uses_.find(index);
  const auto definitions = definitions_.find(index);
  if (known == variables_.end() || !known->second.value.type->isList() || uses == uses_.end() || uses->second != 1 ||
      definitions == definitions_.end() || definitions->second != 1 || !uses_.contains(first.targets[0]->text)) {
    return nullptr;
  }
  // Where the source reads the list's length once, and a script goes on while the list has items.
  if (isNewList(list) && uses_.at(list) == 2) return &first;
  // An item of a list or a dict may have another name.
  const auto value = value_.find(list);
  const bool is_item_of_another = value != value_.end() && value->second->kind != Expr::Kind::Attribute &&
                                  value->second->kind != Expr::Kind::Call && value->second->kind != Expr::Kind::List;
  return !is_item_of_another && !mayChangeLists(loop.body) ? &first : nullptr;
}

void FunctionTranslator::loop(const Stmt& statement) {
  not_none_.clear();
  const Stmt* const item = itemOf(statement);
  const Expression header = expression(item != nullptr ? *item->values[0]->items[0] : *statement.values[0]);
  const std::map<std::string, TypePtr, std::less<>> entered = has_value_;
  // `t = c` before the loop and at the end of its body, where nothing else reads t.
  const Expr& condition = *statement.values[0];
  const bool may_repeat = statement.kind == Stmt::Kind::While && condition.kind == Expr::Kind::Name &&
                          !lines_.empty() && lines_.back() == assigned_.line && assigned_.target == header.text &&
                          uses_[condition.text] == 1 && uses_[assigned_.variable] == 1;
  const Assigned first = assigned_;
  const size_t begin = lines_.size();
  if (statement.kind == Stmt::Kind::While) {
    line(fmt::format("while {} {{", header.text));
  } else if (item != nullptr) {
    const TypePtr type = header.type->element();
    const std::string target = declare(item->targets[0]->text, type).value.text;
    // A list that only the loop reads.
    const bool is_own = !lines_.empty() && lines_.back() == assigned_.line && assigned_.target == header.text &&
                        isTemporary(assigned_.variable) && definitions_[assigned_.variable] == 1 &&
                        assigned_.variable == item->values[0]->items[0]->text && uses_[assigned_.variable] == 2;
    if (is_own) {
      lines_.pop_back();
      has_value_.erase(assigned_.target);
    }
    line(fmt::format("for {} in {} {{", target, is_own ? assigned_.value.text : header.text));
    noteAssigned(target, type);
  } else {
    const std::string target = declare(statement.targets[0]->text, Type::integer()).value.text;
    line(fmt::format("for {} in {} {{", target, header.text));
    noteAssigned(target, Type::integer());
  }
  // What the body assigns may have two types where it begins.
  if (!skips_unset_) {
    for (auto& [name, type] : has_value_) type = nullptr;
  }
  block(statement.body, item != nullptr ? 1 : 0);
  const bool is_repeated = may_repeat && lines_.size() > begin + 1 && lines_.back() == first.line &&
                           assigned_.line == first.line && uses_[assigned_.variable] == 1;
  if (is_repeated) {
    lines_.pop_back();
    lines_[begin] = fmt::format("while {} {{", first.value.text);
    lines_.erase(lines_.begin() + static_cast<ptrdiff_t>(begin) - 1);
  }
  line("}");
  not_none_.clear();
  for (const auto& [name, type] : entered) {
    const auto now = has_value_.find(name);
    if (skipped_.contains(name) && (now == has_value_.end() || now->second != type)) has_mixed_types_ = true;
  }
  joinWith(entered);
  if (is_repeated) has_value_.erase(first.target);
}

}  // namespace boxcar::interp::torchscript
