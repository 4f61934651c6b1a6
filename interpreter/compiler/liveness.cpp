#include <boxcar/interpreter/compiler/liveness.h>

#include <unordered_map>

namespace boxcar::interp {
namespace {

using boost::variant2::get_if;

// The variables that are read later.
class VariableSet {
 public:
  bool has(size_t i) const { return i / 64 < words_.size() && (words_[i / 64] >> (i % 64) & 1) != 0; }
  void add(size_t i) {
    if (i / 64 >= words_.size()) words_.resize(i / 64 + 1);
    words_[i / 64] |= uint64_t{1} << (i % 64);
  }
  void remove(size_t i) {
    if (i / 64 < words_.size()) words_[i / 64] &= ~(uint64_t{1} << (i % 64));
  }
  void add(const VariableSet& other) {
    if (other.words_.size() > words_.size()) words_.resize(other.words_.size());
    for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }

 private:
  std::vector<uint64_t> words_;
};

// Walks a function backwards, with the set of variables that are read after the current place. Only values on the heap
// matter, so only slots of kind Value are considered. A first pass without marks finds what each loop reads before it
// sets it; each loop's body is walked twice in total.
class Liveness {
 public:
  explicit Liveness(size_t named) : named_(named) {}

  void walk(typed::Block& block, VariableSet& live) {
    for (auto statement = block.rbegin(); statement != block.rend(); ++statement) walk(**statement, live);
  }

 private:
  size_t indexOf(typed::VariableId variable) const {
    return variable < typed::kFirstMadeVariable ? variable : named_ + (variable - typed::kFirstMadeVariable);
  }
  void set(typed::Target target, VariableSet& live) {
    if (target.kind == SlotKind::Value) live.remove(indexOf(target.variable));
  }

  void walk(typed::Stmt& statement, VariableSet& live) {
    boost::variant2::visit([&](auto& node) { walk(node, live); }, statement.node);
  }
  void walk(typed::Evaluate& node, VariableSet& live) { walk(*node.value, live); }
  void walk(typed::SetVariable& node, VariableSet& live) {
    set(node.target, live);
    walk(*node.value, live);
  }
  void walk(typed::SetGlobal& node, VariableSet& live) { operands({node.value.get()}, live); }
  void walk(typed::SetIndex& node, VariableSet& live) {
    operands({node.value.get(), node.object.get(), node.index.get()}, live);
  }
  void walk(typed::SetField& node, VariableSet& live) { operands({node.value.get(), node.object.get()}, live); }
  void walk(typed::Unpack& node, VariableSet& live) {
    for (const typed::Target target : node.targets) set(target, live);
    walk(*node.value, live);  // the slot is emptied after its last use
  }
  void walk(typed::If& node, VariableSet& live) {
    VariableSet after = live;
    walk(node.otherwise, live);
    for (auto branch = node.branches.rbegin(); branch != node.branches.rend(); ++branch) {
      VariableSet body = after;
      walk(branch->body, body);
      live.add(body);
      walk(*branch->condition, live);
    }
  }
  void walk(typed::While& node, VariableSet& live) {
    loop(&node, node.at_end, live, [&](VariableSet& body, const VariableSet& behind) {
      walk(node.body, body);
      // The end of the loop comes after the condition, too.
      body.add(behind);
      walk(*node.condition, body);
    });
  }
  void walk(typed::ForRange& node, VariableSet& live) {
    loop(&node, node.at_end, live, [&](VariableSet& body, const VariableSet&) { walk(node.body, body); });
    for (typed::ExprPtr* limit : {&node.step, &node.stop, &node.start}) walk(**limit, live);
  }
  void walk(typed::ForEach& node, VariableSet& live) {
    loop(&node, node.at_end, live, [&](VariableSet& body, const VariableSet&) {
      walk(node.body, body);
      set({node.variable, SlotKind::Value}, body);
    });
    operands({node.iterable.get()}, live);
  }
  void walk(typed::RecastAll& node, VariableSet& live) {
    for (const typed::Recast& recast : node.recasts) {
      if (recast.to == SlotKind::Value) live.remove(indexOf(recast.variable));
      if (recast.from == SlotKind::Value) live.add(indexOf(recast.variable));
    }
  }
  void walk(typed::Break&, VariableSet& live) { live = loops_.back().exit; }
  void walk(typed::Continue&, VariableSet& live) { live = loops_.back().head; }
  void walk(typed::Return& node, VariableSet& live) {
    live = VariableSet();
    if (node.value != nullptr) walk(*node.value, live);
  }
  void walk(typed::Fail& node, VariableSet& live) {
    live = VariableSet();
    walk(*node.message, live);
  }

  void walk(typed::With& node, VariableSet& live) {
    walk(node.body, live);
    for (size_t i = node.scopes.size(); i-- > 0;) {
      if (node.scopes[i].handler != nullptr) walk(*node.scopes[i].handler, live);
    }
  }
  void walk(typed::Register&, VariableSet&) {}
  void walk(typed::RunModule&, VariableSet&) {}

  // [walk_round] walks one iteration backwards; it also gets what is read where the loop ends by itself. [live]: first
  // after the loop, then before it.
  template <class Walk>
  void loop(const void* key, typed::Block& at_end, VariableSet& live, Walk walk_round) {
    auto found = read_first_.find(key);
    if (found == read_first_.end()) {
      const bool was_marking = std::exchange(is_marking_, false);
      loops_.push_back({});
      VariableSet round;
      walk_round(round, VariableSet());
      loops_.pop_back();
      is_marking_ = was_marking;
      found = read_first_.emplace(key, std::move(round)).first;
    }
    const VariableSet exit = live;
    walk(at_end, live);
    const VariableSet behind = live;
    live.add(exit);
    live.add(found->second);
    if (!is_marking_) return;
    loops_.push_back({exit, live});
    VariableSet round = live;
    walk_round(round, behind);
    loops_.pop_back();
  }

  void walk(typed::Expr& expr, VariableSet& live) {
    boost::variant2::visit([&](auto& node) { walk(node, live); }, expr.node);
  }
  void walk(typed::Constant&, VariableSet&) {}
  void walk(typed::ReadGlobal&, VariableSet&) {}
  void walk(typed::FunctionValue&, VariableSet&) {}
  void walk(typed::ReadVariable& node, VariableSet& live) {
    if (node.kind != SlotKind::Value) return;
    const size_t index = indexOf(node.variable);
    if (is_marking_) node.is_last_use = !live.has(index);
    live.add(index);
  }
  void walk(typed::Operate& node, VariableSet& live) { operands({node.left.get(), node.right.get()}, live); }
  void walk(typed::Logical& node, VariableSet& live) {
    const VariableSet after = live;
    for (auto operand = node.operands.rbegin(); operand != node.operands.rend(); ++operand) {
      live.add(after);
      walk(**operand, live);
    }
  }
  void walk(typed::Conditional& node, VariableSet& live) {
    VariableSet value = live;
    walk(*node.otherwise, live);
    walk(*node.value, value);
    live.add(value);
    walk(*node.condition, live);
  }
  void walk(typed::CallOperator& node, VariableSet& live) { pushed(node.arguments, live); }
  void walk(typed::CallDynamic& node, VariableSet& live) { pushed(node.arguments, live); }
  void walk(typed::CallBuiltin& node, VariableSet& live) { pushed(node.arguments, live); }
  void walk(typed::MakeList& node, VariableSet& live) { pushed(node.items, live); }
  void walk(typed::MakeTuple& node, VariableSet& live) { pushed(node.items, live); }
  void walk(typed::MakeDict& node, VariableSet& live) { pushed(node.items, live); }
  void walk(typed::MakeStruct& node, VariableSet& live) { pushed(node.fields, live); }
  void walk(typed::GetField& node, VariableSet& live) { operands({node.object.get()}, live); }
  void walk(typed::CallFunction& node, VariableSet& live) {
    // Variables are passed after all other arguments have been evaluated.
    for (auto argument = node.arguments.rbegin(); argument != node.arguments.rend(); ++argument) {
      if (get_if<typed::ReadVariable>(&(*argument)->node) != nullptr) walk(**argument, live);
    }
    for (auto argument = node.arguments.rbegin(); argument != node.arguments.rend(); ++argument) {
      if (get_if<typed::ReadVariable>(&(*argument)->node) == nullptr) walk(**argument, live);
    }
  }
  void walk(typed::MakeSlice& node, VariableSet& live) {
    if (auto* object = get_if<typed::ReadVariable>(&node.object->node)) keep(*object, live);
    for (typed::ExprPtr* bound : {&node.step, &node.stop, &node.start}) walk(**bound, live);
    if (get_if<typed::ReadVariable>(&node.object->node) == nullptr) walk(*node.object, live);
  }
  void walk(typed::Sequence& node, VariableSet& live) {
    walk(*node.value, live);
    walk(node.statements, live);
  }

  void pushed(std::vector<typed::ExprPtr>& items, VariableSet& live) {
    for (auto item = items.rbegin(); item != items.rend(); ++item) walk(**item, live);
  }

  // Operands that an instruction reads in place: a variable's slot is read after the others have been evaluated, and
  // nothing is moved out of it.
  void operands(std::initializer_list<typed::Expr*> list, VariableSet& live) {
    for (typed::Expr* operand : list) {
      if (operand == nullptr) continue;
      if (auto* variable = get_if<typed::ReadVariable>(&operand->node)) keep(*variable, live);
    }
    for (auto operand = std::rbegin(list); operand != std::rend(list); ++operand) {
      if (*operand != nullptr && get_if<typed::ReadVariable>(&(*operand)->node) == nullptr) walk(**operand, live);
    }
  }
  void keep(typed::ReadVariable& node, VariableSet& live) {
    if (node.kind == SlotKind::Value) live.add(indexOf(node.variable));
  }

  struct OpenLoop {
    VariableSet exit;
    VariableSet head;
  };

  size_t named_;
  bool is_marking_ = true;
  std::vector<OpenLoop> loops_;
  std::unordered_map<const void*, VariableSet> read_first_;  // by loop
};

}  // namespace

void markLastUses(typed::Function& function) {
  VariableSet live;
  Liveness(function.names.size()).walk(function.body, live);
}

}  // namespace boxcar::interp
