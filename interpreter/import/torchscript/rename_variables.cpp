#include <boxcar/interpreter/import/torchscript/rename_variables.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::interp::torchscript {
namespace {

using VariableId = size_t;
using VariableSet = std::set<VariableId>;

// The name without the number that PyTorch added; empty for a name that is PyTorch's alone, `_12`.
std::string_view baseName(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return name == "_" ? std::string_view() : name;
}

// The variable that an expression copies: itself, or what `unchecked_cast(T, x)` casts; null if it is no copy.
const Expr* copiedFrom(const Expr& value) {
  if (value.kind == Expr::Kind::Name) return &value;
  if (value.kind != Expr::Kind::Call || value.items.size() != 3) return nullptr;
  return dottedName(*value.items[0]) == "unchecked_cast" ? copiedFrom(*value.items[2]) : nullptr;
}

// Whether a definition gives a variable a meaning or a type that no other may have.
bool isFixed(const Expr& value) {
  if (dottedName(value).starts_with("__torch__.")) return true;
  if (value.kind != Expr::Kind::Call) return false;
  const std::string callee = dottedName(*value.items[0]);
  if (callee == "uninitialized" || callee == "torch.dict" || callee == "fork" || callee.ends_with(".__new__")) {
    return true;
  }
  if (callee != "annotate" || value.items.size() != 3) return false;
  const Expr& given = *value.items[2];
  return given.kind == Expr::Kind::List || given.kind == Expr::Kind::Dict;
}

bool isUnset(const Expr& value) {
  return value.kind == Expr::Kind::Call && dottedName(*value.items[0]) == "uninitialized";
}

// Finds which variables interfere, and merges those that do not.
class VariableMerger final {
 public:
  VariableMerger(const Function& function, bool skips_unset) : function_(function), skips_unset_(skips_unset) {}

  std::unordered_map<std::string, std::string> names() {
    for (const Parameter& parameter : function_.parameters) fixed_[add(parameter.name)] = parameter.name == "self";
    parameters_ = names_.size();
    addAll(function_.body);
    interferes_.resize(names_.size());
    representative_.resize(names_.size());
    members_.resize(names_.size());
    for (VariableId i = 0; i < names_.size(); ++i) {
      representative_[i] = i;
      members_[i] = {i};
    }
    VariableSet live;
    before(function_.body, live, true);
    // All parameters have their values at the same time.
    for (VariableId i = 0; i < parameters_; ++i) {
      for (VariableId j = 0; j < i; ++j) interfere(i, j);
      for (const VariableId other : live) interfere(i, other);
    }
    merge();
    return result();
  }

 private:
  // ---- Variables ----

  VariableId add(const std::string& name) {
    const auto [found, is_new] = ids_.try_emplace(name, names_.size());
    if (is_new) {
      names_.push_back(name);
      fixed_.push_back(false);
    }
    return found->second;
  }

  void addAll(const Block& block) {
    for (const StmtPtr& each : block) {
      if (each->kind == Stmt::Kind::Function) {
        fix(each->body);
        continue;
      }
      for (const ExprPtr& target : each->targets) {
        if (target->kind != Expr::Kind::Name) continue;
        const VariableId id = add(target->text);
        if (each->kind == Stmt::Kind::With || (each->kind == Stmt::Kind::Assign && isFixed(*each->values[0]))) {
          fixed_[id] = true;
          if (isUnset(*each->values[0])) unset_.insert(each->targets[0]->text);
        }
      }
      addAll(each->body);
      addAll(each->otherwise);
    }
  }

  // What a fork has runs where it is started, and where it is waited for.
  void fix(const Expr& expr) {
    if (expr.kind == Expr::Kind::Name) fixed_[add(expr.text)] = true;
    for (const ExprPtr& item : expr.items) fix(*item);
    for (const Keyword& keyword : expr.keywords) fix(*keyword.value);
  }
  void fix(const Block& block) {
    for (const StmtPtr& each : block) {
      for (const ExprPtr& target : each->targets) fix(*target);
      for (const ExprPtr& value : each->values) fix(*value);
      fix(each->body);
      fix(each->otherwise);
    }
  }

  // ---- Which values are needed ----

  void read(const Expr& expr, VariableSet& live) const {
    if (expr.kind == Expr::Kind::Name) {
      if (const auto found = ids_.find(expr.text); found != ids_.end()) live.insert(found->second);
    }
    for (const ExprPtr& item : expr.items) read(*item, live);
    for (const Keyword& keyword : expr.keywords) read(*keyword.value, live);
  }

  // Goes backwards: [live] are the variables that are needed after the block, and becomes those needed before it.
  // [is_noted]: definitions are noted, too.
  void before(const Block& block, VariableSet& live, bool is_noted) {
    for (size_t i = block.size(); i-- > 0;) before(*block[i], live, is_noted);
  }

  void before(const Stmt& statement, VariableSet& live, bool is_noted) {
    switch (statement.kind) {
      case Stmt::Kind::Assign: return beforeAssignment(statement, live, is_noted);
      case Stmt::Kind::Evaluate: {
        const Expr& value = *statement.values[0];
        // Nothing runs after an error.
        if (value.kind == Expr::Kind::Call && dottedName(*value.items[0]) == "ops.prim.RaiseException") live.clear();
        return read(value, live);
      }
      case Stmt::Kind::If: {
        VariableSet other = live;
        before(statement.body, live, is_noted);
        before(statement.otherwise, other, is_noted);
        live.merge(other);
        return read(*statement.values[0], live);
      }
      case Stmt::Kind::While:
      case Stmt::Kind::For: return beforeLoop(statement, live, is_noted);
      case Stmt::Kind::With: before(statement.body, live, is_noted); return read(*statement.values[0], live);
      case Stmt::Kind::Return:
        live.clear();
        for (const ExprPtr& value : statement.values) read(*value, live);
        return;
      // A `break` is the last statement of a turn, behind which the loop may end anyway.
      case Stmt::Kind::Break:
      case Stmt::Kind::Pass:
      case Stmt::Kind::Function: return;
    }
  }

  void beforeAssignment(const Stmt& statement, VariableSet& live, bool is_noted) {
    const Expr& value = *statement.values[0];
    std::vector<VariableId> targets;
    for (size_t i = 0; i < statement.targets.size(); ++i) {
      if (statement.targets[i]->kind != Expr::Kind::Name) continue;
      const VariableId target = ids_.at(statement.targets[i]->text);
      const bool is_parallel = value.kind == Expr::Kind::Tuple && value.items.size() == statement.targets.size();
      const Expr* source = nullptr;
      if (is_parallel) source = copiedFrom(*value.items[i]);
      if (!is_parallel && statement.targets.size() == 1 && !statement.unpacks) source = copiedFrom(value);
      if (skips_unset_ && source != nullptr && unset_.contains(source->text)) {
        live.erase(target);
        continue;
      }
      if (is_noted) {
        define(target, live, source);
        for (const VariableId other : targets) interfere(target, other);
      }
      targets.push_back(target);
    }
    for (const VariableId target : targets) live.erase(target);
    for (const ExprPtr& target : statement.targets) {
      if (target->kind != Expr::Kind::Name) read(*target, live);
    }
    read(value, live);
  }

  // A loop needs what follows it, and what its body reads before it assigns it, in any turn.
  void beforeLoop(const Stmt& statement, VariableSet& live, bool is_noted) {
    const bool is_for = statement.kind == Stmt::Kind::For;
    VariableSet in_body;
    before(statement.body, in_body, false);
    if (is_for) {
      const VariableId target = ids_.at(statement.targets[0]->text);
      in_body.erase(target);
    } else {
      read(*statement.values[0], live);
    }
    live.merge(in_body);
    if (is_noted) {
      VariableSet at_end = live;
      before(statement.body, at_end, true);
      if (is_for) {
        const VariableId target = ids_.at(statement.targets[0]->text);
        define(target, at_end, nullptr);
        define(target, live, nullptr);
      }
    }
    if (is_for) read(*statement.values[0], live);
  }

  // Notes that a variable gets a value while those in [live] are needed. It may share a name with [source], which has
  // that value.
  void define(VariableId target, const VariableSet& live, const Expr* source) {
    const auto found = source != nullptr ? ids_.find(source->text) : ids_.end();
    for (const VariableId other : live) {
      if (found == ids_.end() || other != found->second) interfere(target, other);
    }
    if (found != ids_.end() && found->second != target) copies_.emplace_back(found->second, target);
  }

  void interfere(VariableId a, VariableId b) {
    if (a == b) return;
    interferes_[a].insert(b);
    interferes_[b].insert(a);
  }

  // ---- Merging ----

  void merge() {
    // Definitions were noted from the last to the first.
    std::ranges::reverse(copies_);
    const auto base = [this](VariableId id) { return baseName(names_[id]); };
    for (const auto& [from, to] : copies_) {
      if (base(from) == base(to)) tryMerge(from, to);
    }
    for (const auto& [from, to] : copies_) {
      if (base(from).empty() || base(to).empty()) tryMerge(from, to);
    }
    std::unordered_map<std::string_view, std::vector<VariableId>> by_base;
    for (VariableId id = 0; id < names_.size(); ++id) {
      if (base(id).empty() || fixed_[id]) continue;
      std::vector<VariableId>& earlier = by_base[base(id)];
      // A name of which no more can be merged is tried only so often, so that the time stays linear.
      constexpr size_t kMostTries = 32;
      const size_t tries = std::min(earlier.size(), kMostTries);
      const bool is_merged =
          std::any_of(earlier.end() - static_cast<ptrdiff_t>(tries), earlier.end(),
                      [&](VariableId other) { return tryMerge(other, id) || find(other) == find(id); });
      if (!is_merged) earlier.push_back(id);
    }
    for (const auto& [from, to] : copies_) tryMerge(from, to);
  }

  VariableId find(VariableId id) {
    while (representative_[id] != id) {
      representative_[id] = representative_[representative_[id]];
      id = representative_[id];
    }
    return id;
  }

  bool tryMerge(VariableId a, VariableId b) {
    if (fixed_[a] || fixed_[b]) return false;
    a = find(a);
    b = find(b);
    if (a == b || interferes_[a].contains(b)) return false;
    if (interferes_[a].size() < interferes_[b].size()) std::swap(a, b);
    representative_[b] = a;
    for (const VariableId other : interferes_[b]) {
      interferes_[other].erase(b);
      interferes_[other].insert(a);
      interferes_[a].insert(other);
    }
    interferes_[b].clear();
    std::ranges::move(members_[b], std::back_inserter(members_[a]));
    members_[b].clear();
    return true;
  }

  std::unordered_map<std::string, std::string> result() {
    std::unordered_map<std::string, std::string> renamed;
    std::set<std::string, std::less<>> taken;
    for (std::vector<VariableId>& members : members_) {
      if (members.size() < 2) continue;
      std::ranges::sort(members);
      // A parameter's name, or that of the first variable that has one of its own.
      VariableId first = members[0];
      if (first >= parameters_) {
        const auto named =
            std::ranges::find_if(members, [this](VariableId id) { return !baseName(names_[id]).empty(); });
        if (named != members.end()) first = *named;
      }
      std::string name = names_[first];
      const std::string base(baseName(name));
      const auto its_base = ids_.find(base);
      const bool is_free = its_base == ids_.end() ? !taken.contains(base) : find(its_base->second) == find(first);
      if (first >= parameters_ && !base.empty() && base.back() != '_' && is_free) name = base;
      taken.insert(name);
      for (const VariableId id : members) renamed.emplace(names_[id], name);
    }
    return renamed;
  }

  const Function& function_;
  const bool skips_unset_;
  std::set<std::string> unset_;
  std::vector<std::string> names_;  // by ids, in the order of first definitions
  std::unordered_map<std::string, VariableId> ids_;
  std::vector<bool> fixed_;
  size_t parameters_ = 0;
  std::vector<VariableSet> interferes_;  // by representatives
  std::vector<std::pair<VariableId, VariableId>> copies_;
  std::vector<VariableId> representative_;
  std::vector<std::vector<VariableId>> members_;
};

}  // namespace

std::unordered_map<std::string, std::string> renamedVariables(const Function& function, bool skips_unset) {
  return VariableMerger(function, skips_unset).names();
}

}  // namespace boxcar::interp::torchscript
