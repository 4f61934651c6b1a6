#include <boxcar/interpreter/import/torchscript/counted_loops.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

namespace boxcar::interp::torchscript {
namespace {

// How often names are read and assigned.
struct Counts {
  std::unordered_map<std::string, size_t> reads;
  std::unordered_map<std::string, size_t> writes;

  void add(const Expr& expr) {
    if (expr.kind == Expr::Kind::Name) ++reads[expr.text];
    for (const ExprPtr& item : expr.items) add(*item);
    for (const Keyword& keyword : expr.keywords) add(*keyword.value);
  }
  void add(const Block& statements) {
    for (const StmtPtr& each : statements) {
      for (const ExprPtr& target : each->targets) {
        if (target->kind == Expr::Kind::Name) {
          ++writes[target->text];
        } else {
          add(*target);
        }
      }
      for (const ExprPtr& value : each->values) add(*value);
      add(each->body);
      add(each->otherwise);
    }
  }
  size_t readsOf(const std::string& name) const { return count(reads, name); }
  size_t writesOf(const std::string& name) const { return count(writes, name); }

 private:
  static size_t count(const std::unordered_map<std::string, size_t>& counts, const std::string& name) {
    const auto found = counts.find(name);
    return found != counts.end() ? found->second : 0;
  }
};

ExprPtr copyOf(const Expr& expr) {
  auto copy = std::make_unique<Expr>();
  copy->kind = expr.kind;
  copy->text = expr.text;
  copy->integer = expr.integer;
  copy->number = expr.number;
  copy->line = expr.line;
  for (const ExprPtr& item : expr.items) copy->items.push_back(copyOf(*item));
  for (const Keyword& keyword : expr.keywords) copy->keywords.push_back({keyword.name, copyOf(*keyword.value)});
  return copy;
}

ExprPtr nameAs(std::string text, uint32_t line) {
  auto name = std::make_unique<Expr>();
  name->text = std::move(text);
  name->line = line;
  return name;
}

ExprPtr callOf(ExprPtr callee, ExprPtr argument, uint32_t line) {
  auto call = std::make_unique<Expr>();
  call->kind = Expr::Kind::Call;
  call->line = line;
  call->items.push_back(std::move(callee));
  call->items.push_back(std::move(argument));
  return call;
}

bool isName(const Expr& expr, std::string_view text) { return expr.kind == Expr::Kind::Name && expr.text == text; }
bool isInt(const Expr& expr, int64_t number) { return expr.kind == Expr::Kind::Int && expr.integer == number; }
bool areSame(const Expr& a, const Expr& b) {
  return (a.kind == Expr::Kind::Name && isName(b, a.text)) || (a.kind == Expr::Kind::Int && isInt(b, a.integer));
}

// Whether it is a call of [callee] with [count] arguments.
bool isCall(const Expr& expr, std::string_view callee, size_t count) {
  return expr.kind == Expr::Kind::Call && expr.items.size() == count + 1 && expr.keywords.empty() &&
         dottedName(*expr.items[0]) == callee;
}

// Whether it is `name = …`.
bool assigns(const Stmt& statement, const std::string& name) {
  return statement.kind == Stmt::Kind::Assign && statement.targets.size() == 1 && !statement.unpacks &&
         isName(*statement.targets[0], name);
}

// `a, b = c, d` or `a = c`, taken apart.
struct Parallel {
  std::vector<std::string> targets;
  std::vector<const Expr*> values;
};

std::optional<Parallel> parallelOf(const Stmt& statement) {
  if (statement.kind != Stmt::Kind::Assign || statement.values.size() != 1) return std::nullopt;
  const Expr& value = *statement.values[0];
  Parallel found;
  for (const ExprPtr& target : statement.targets) {
    if (target->kind != Expr::Kind::Name) return std::nullopt;
    found.targets.push_back(target->text);
  }
  if (found.targets.size() == 1 && !statement.unpacks) {
    found.values.push_back(&value);
    return found;
  }
  if (value.kind != Expr::Kind::Tuple || value.items.size() != found.targets.size()) return std::nullopt;
  for (const ExprPtr& item : value.items) found.values.push_back(item.get());
  return found;
}

// Returns `targets = values`; null if there are none.
StmtPtr assignment(const std::vector<std::pair<std::string, const Expr*>>& parts, uint32_t line) {
  if (parts.empty()) return nullptr;
  auto made = std::make_unique<Stmt>();
  made->kind = Stmt::Kind::Assign;
  made->line = line;
  made->unpacks = parts.size() > 1;
  ExprPtr value;
  if (parts.size() > 1) {
    value = std::make_unique<Expr>();
    value->kind = Expr::Kind::Tuple;
    value->line = line;
  }
  for (const auto& [target, part] : parts) {
    made->targets.push_back(nameAs(target, line));
    if (value == nullptr) {
      value = copyOf(*part);
    } else {
      value->items.push_back(copyOf(*part));
    }
  }
  made->values.push_back(std::move(value));
  return made;
}

void append(Block& block, StmtPtr statement) {
  if (statement != nullptr) block.push_back(std::move(statement));
}

StmtPtr breakAt(uint32_t line) {
  auto made = std::make_unique<Stmt>();
  made->kind = Stmt::Kind::Break;
  made->line = line;
  return made;
}

class LoopRecovery final {
 public:
  explicit LoopRecovery(Function& function) : function_(function) { count(); }

  void run() { recover(function_.body); }

 private:
  // What such a loop is made of.
  struct Loop {
    std::string condition;
    std::string index;
    std::string next;                                          // index + 1
    ExprPtr length;                                            // how often it runs, if nothing breaks it
    std::string flag;                                          // whether it goes on; empty if it always does
    std::vector<std::pair<std::string, const Expr*>> carried;  // to the next turn
    std::string test;                                          // what the condition's next value is; may be empty
  };

  void count() {
    counts_ = {};
    counts_.add(function_.body);
  }

  void recover(Block& statements) {
    for (size_t i = 0; i < statements.size(); ++i) {
      recover(statements[i]->body);
      recover(statements[i]->otherwise);
      if (statements[i]->kind != Stmt::Kind::While) continue;
      std::optional<Loop> loop = loopIn(*statements[i]);
      if (!loop.has_value() || !beginsAtZero(statements, i, *loop)) continue;
      rewrite(*statements[i], *loop);
      std::erase_if(statements, [&](const StmtPtr& each) {
        return each->kind == Stmt::Kind::Assign && (assigns(*each, loop->index) || assigns(*each, loop->condition));
      });
      count();
      i = static_cast<size_t>(std::ranges::find_if(statements,
                                                   [&](const StmtPtr& each) {
                                                     return each->kind == Stmt::Kind::For &&
                                                            isName(*each->targets[0], loop->index);
                                                   }) -
                              statements.begin());
      i = putLength(statements, i);
    }
  }

  const Stmt* definitionIn(const Block& statements, const std::string& name) const {
    if (counts_.writesOf(name) != 1) return nullptr;
    const auto found = std::ranges::find_if(statements, [&](const StmtPtr& each) { return assigns(*each, name); });
    return found != statements.end() ? found->get() : nullptr;
  }

  // while c:
  //   …
  //   next = torch.add(index, 1)
  //   c, index, a = torch.__and__(torch.lt(next, length), flag), next, b
  std::optional<Loop> loopIn(const Stmt& statement) const {
    if (statement.values[0]->kind != Expr::Kind::Name || statement.body.empty()) return std::nullopt;
    Loop loop;
    loop.condition = statement.values[0]->text;
    const std::optional<Parallel> last = parallelOf(*statement.body.back());
    if (!last.has_value()) return std::nullopt;
    const auto place = std::ranges::find(last->targets, loop.condition);
    if (place == last->targets.end()) return std::nullopt;
    const Expr* test = last->values[static_cast<size_t>(place - last->targets.begin())];
    if (test->kind == Expr::Kind::Name) {
      loop.test = test->text;
      const Stmt* const definition = definitionIn(statement.body, loop.test);
      if (definition == nullptr || counts_.readsOf(loop.test) != 1) return std::nullopt;
      test = definition->values[0].get();
    }
    if (!isCall(*test, "torch.__and__", 2) || !isCall(*test->items[1], "torch.lt", 2)) return std::nullopt;
    const Expr& next = *test->items[1]->items[1];
    const Expr& length = *test->items[1]->items[2];
    const Expr& flag = *test->items[2];
    if (next.kind != Expr::Kind::Name || flag.kind != Expr::Kind::Name || flag.text == "False") return std::nullopt;
    if (flag.text != "True") loop.flag = flag.text;
    loop.next = next.text;
    const Stmt* const step = definitionIn(statement.body, loop.next);
    if (step == nullptr || counts_.readsOf(loop.next) != 2 || !isCall(*step->values[0], "torch.add", 2) ||
        step->values[0]->items[1]->kind != Expr::Kind::Name || !isInt(*step->values[0]->items[2], 1)) {
      return std::nullopt;
    }
    loop.index = step->values[0]->items[1]->text;
    bool is_carried = false;
    for (size_t i = 0; i < last->targets.size(); ++i) {
      if (last->targets[i] == loop.condition) continue;
      if (last->targets[i] == loop.index) {
        is_carried = isName(*last->values[i], loop.next);
        continue;
      }
      loop.carried.emplace_back(last->targets[i], last->values[i]);
    }
    Counts within;
    within.add(statement.body);
    const bool is_fixed =
        length.kind == Expr::Kind::Int || (length.kind == Expr::Kind::Name && within.writesOf(length.text) == 0);
    const bool is_own = counts_.readsOf(loop.index) == within.readsOf(loop.index) &&
                        counts_.writesOf(loop.index) == 2 && counts_.writesOf(loop.condition) == 2 &&
                        counts_.readsOf(loop.condition) == 1;
    if (!is_carried || !is_fixed || !is_own) return std::nullopt;
    loop.length = copyOf(length);
    return loop;
  }

  // index = 0, c = torch.gt(length, 0) before the loop
  static bool beginsAtZero(const Block& statements, size_t place, const Loop& loop) {
    bool has_index = false;
    bool has_condition = false;
    for (size_t i = 0; i < place; ++i) {
      if (assigns(*statements[i], loop.index)) has_index = isInt(*statements[i]->values[0], 0);
      if (!assigns(*statements[i], loop.condition)) continue;
      const Expr& begin = *statements[i]->values[0];
      const bool is_known = loop.length->kind == Expr::Kind::Int && loop.length->integer > 0 && isName(begin, "True");
      has_condition = is_known || (isCall(begin, "torch.gt", 2) && areSame(*begin.items[1], *loop.length) &&
                                   isInt(*begin.items[2], 0));
    }
    return has_index && has_condition;
  }

  void rewrite(Stmt& statement, const Loop& loop) {
    const uint32_t line = statement.line;
    StmtPtr carried = assignment(loop.carried, line);
    Block& body = statement.body;
    body.pop_back();
    std::erase_if(body, [&](const StmtPtr& each) {
      return assigns(*each, loop.next) || (!loop.test.empty() && assigns(*each, loop.test));
    });
    statement.kind = Stmt::Kind::For;
    statement.targets.push_back(nameAs(loop.index, line));
    statement.values[0] = callOf(nameAs("range", line), copyOf(*loop.length), line);
    if (loop.flag.empty()) return append(body, std::move(carried));
    if (!body.empty() && breaksIn(*body.back(), loop.flag, carried.get())) return;
    append(body, std::move(carried));
    auto torch = nameAs("torch", line);
    auto negation = std::make_unique<Expr>();
    negation->kind = Expr::Kind::Attribute;
    negation->text = "__not__";
    negation->line = line;
    negation->items.push_back(std::move(torch));
    auto ends = std::make_unique<Stmt>();
    ends->kind = Stmt::Kind::If;
    ends->line = line;
    ends->values.push_back(callOf(std::move(negation), nameAs(loop.flag, line), line));
    ends->body.push_back(breakAt(line));
    body.push_back(std::move(ends));
  }

  // Where the last statement is `if` and its branches set the flag, the branch that clears it breaks.
  bool breaksIn(Stmt& branches, const std::string& flag, const Stmt* carried) const {
    if (branches.kind != Stmt::Kind::If || branches.body.empty() || branches.otherwise.empty()) return false;
    if (counts_.readsOf(flag) != 1 || counts_.writesOf(flag) != 2) return false;
    const auto valueIn = [&](const Block& block) -> std::string {
      const std::optional<Parallel> last = parallelOf(*block.back());
      if (!last.has_value()) return {};
      const auto place = std::ranges::find(last->targets, flag);
      if (place == last->targets.end()) return {};
      const Expr& value = *last->values[static_cast<size_t>(place - last->targets.begin())];
      return value.kind == Expr::Kind::Name ? value.text : std::string();
    };
    const std::string first = valueIn(branches.body);
    const std::string second = valueIn(branches.otherwise);
    if (!(first == "True" && second == "False") && !(first == "False" && second == "True")) return false;
    for (Block* block : {&branches.body, &branches.otherwise}) {
      const Parallel last = *parallelOf(*block->back());
      std::vector<std::pair<std::string, const Expr*>> others;
      for (size_t i = 0; i < last.targets.size(); ++i) {
        if (last.targets[i] != flag) others.emplace_back(last.targets[i], last.values[i]);
      }
      StmtPtr kept = assignment(others, block->back()->line);
      block->pop_back();
      append(*block, std::move(kept));
      if (carried != nullptr) {
        const Parallel parts = *parallelOf(*carried);
        std::vector<std::pair<std::string, const Expr*>> copied;
        for (size_t i = 0; i < parts.targets.size(); ++i) copied.emplace_back(parts.targets[i], parts.values[i]);
        append(*block, assignment(copied, carried->line));
      }
      const bool ends = (block == &branches.body ? first : second) == "False";
      if (ends) block->push_back(breakAt(branches.line));
    }
    return true;
  }

  // Puts the length where the loop reads it, if nothing else does; returns where the loop then is.
  size_t putLength(Block& statements, size_t place) const {
    ExprPtr& length = statements[place]->values[0]->items[1];
    if (length->kind != Expr::Kind::Name || counts_.readsOf(length->text) != 1) return place;
    const Stmt* const definition = definitionIn(statements, length->text);
    if (definition == nullptr) return place;
    const Expr* value = definition->values[0].get();
    // That of enumerate() is the least of its own, which is none, and of the list's: min([9223372036854775807,
    // len(xs)])
    const Stmt* lengths = nullptr;
    if (isCall(*value, "ops.prim.min", 1) && value->items[1]->kind == Expr::Kind::Name) {
      lengths = counts_.readsOf(value->items[1]->text) == 1 ? definitionIn(statements, value->items[1]->text) : nullptr;
      if (lengths == nullptr) return place;
      const Expr& list = *lengths->values[0];
      if (list.kind != Expr::Kind::List || list.items.size() != 2 ||
          !isInt(*list.items[0], std::numeric_limits<int64_t>::max())) {
        return place;
      }
      value = list.items[1].get();
    }
    if (!isCall(*value, "torch.len", 1) || value->items[1]->kind != Expr::Kind::Name) return place;
    length = copyOf(*value);
    const Stmt* const loop = statements[place].get();
    std::erase_if(statements, [&](const StmtPtr& each) { return each.get() == definition || each.get() == lengths; });
    const auto found = std::ranges::find_if(statements, [&](const StmtPtr& each) { return each.get() == loop; });
    return static_cast<size_t>(found - statements.begin());
  }

  Function& function_;
  Counts counts_;
};

}  // namespace

void recoverCountedLoops(Function& function) { LoopRecovery(function).run(); }

}  // namespace boxcar::interp::torchscript
