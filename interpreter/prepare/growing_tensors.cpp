#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/prepare/block_flow.h>
#include <boxcar/interpreter/prepare/block_pass.h>
#include <boxcar/interpreter/prepare/expression_text.h>
#include <boxcar/interpreter/prepare/growing_tensors.h>
#include <boxcar/interpreter/prepare/typed_visit.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace boxcar::interp {

using boost::variant2::get_if;

namespace {

using Origin = BlockFlow::Origin;

template <size_t n>
bool isOneOf(std::string_view name, const std::string_view (&names)[n]) {
  return std::ranges::find(names, name) != std::end(names);
}

// Those that read strided tensors as they are, and whose results do not depend on the strides.
constexpr std::string_view kReaders[] = {"aten::matmul", "aten::bmm", "aten::mm", "aten::sym_size", "aten::size"};
// Those whose results show elements of their first argument, in other places.
constexpr std::string_view kViews[] = {"aten::transpose", "aten::permute", "aten::t",      "aten::unsqueeze",
                                       "aten::expand",    "aten::reshape", "aten::repeat", "aten::alias"};
constexpr std::string_view kQuestions[] = {"len",         "tensor.size",  "tensor.shape",  "tensor.dim",
                                           "tensor.ndim", "tensor.dtype", "tensor.device", "tensor.numel"};

// What becomes of a tensor.
struct Fate {
  bool fits = true;    // only what does not depend on its strides reads it
  bool lasts = false;  // the program joins it with another tensor, or its caller gets it

  void add(const Fate& other) {
    fits = fits && other.fits;
    lasts = lasts || other.lasts;
  }
};

// Follows the tensors of a script's functions through its variables, calls and returns.
class Fates final {
 public:
  Fates(const TypedScript& script, ScriptRole role) : script_(script), role_(role) {
    for (const TypedFunction& function : script.functions()) addBody(&function, function.typed.body);
    addBody(nullptr, script.statements());
  }

  // What becomes of the tensor that [statement] of the body of [function] sets its variable to.
  Fate of(const TypedFunction& function, size_t statement) {
    seen_.clear();
    const Body& body = *by_function_.at(&function);
    return ofVariable(body, *body.flow.definedBy(statement), Origin{Origin::Kind::Statement, statement});
  }
  // Whether [statement] is the one at place [at] of the body itself, not of a block in it.
  bool isInBody(const TypedFunction& function, const typed::Stmt& statement, size_t at) const {
    const Body& body = *by_function_.at(&function);
    return at < body.flow.size() && &body.flow.statement(at) == &statement;
  }

 private:
  struct Body {
    Body(const TypedFunction* of, const typed::Block& block) : function(of), flow(block, true) {}
    const TypedFunction* function;  // null for the script's statements
    BlockFlow flow;
  };
  struct CallSite {
    const Body* body;
    size_t place;                  // in the body
    const typed::Stmt* statement;  // there, or in a block there
    const typed::Expr* call;

    bool isInner() const { return &body->flow.statement(place) != statement; }
  };
  // How an expression's value is used.
  enum class Use : uint8_t { Other, Read, Returned, Set };
  // A variable with the value that it got somewhere.
  struct Variable {
    const Body& body;
    typed::VariableId id;
    std::optional<Origin> origin;            // none: wherever it got its value
    size_t place = 0;                        // in the body, where it is read
    std::optional<typed::VariableId> set{};  // by the statement that reads it
    size_t depth = 0;                        // of the tuples and lists that the statement returns it in
    size_t position = 0;                     // in the outermost of these
  };

  void addBody(const TypedFunction* function, const typed::Block& block) {
    const Body& body = bodies_.emplace_back(function, block);
    if (function != nullptr) by_function_.emplace(function, &body);
    for (size_t i = 0; i < body.flow.size(); ++i) noteCalls(body, body.flow.statement(i), i);
  }

  void noteCalls(const Body& body, const typed::Stmt& statement, size_t at) {
    typed::eachPart(
        statement, [&](const typed::Expr& part) { noteCalls(body, part, statement, at); },
        [&](const typed::Block& block) {
          for (const typed::StmtPtr& each : block) noteCalls(body, *each, at);
        });
  }
  void noteCalls(const Body& body, const typed::Expr& expr, const typed::Stmt& statement, size_t at) {
    if (const auto* call = get_if<typed::CallFunction>(&expr.node)) {
      const CalledFunction function = script_.called(*call);
      if (function.own != nullptr) sites_[function.own].push_back({&body, at, &statement, &expr});
    }
    if (const auto* value = get_if<typed::FunctionValue>(&expr.node); value != nullptr && !value->is_imported) {
      has_function_values_ = true;  // which may be called anywhere
    }
    typed::eachOperand(
        expr, [&](const typed::Expr& operand) { noteCalls(body, operand, statement, at); },
        [&](const typed::Stmt& inner) { noteCalls(body, inner, at); });
  }

  // What becomes of what a variable has from [origin] on, or ever.
  Fate ofVariable(const Body& body, typed::VariableId id, std::optional<Origin> origin) {
    Fate fate;
    const int kind = origin ? static_cast<int>(origin->kind) : -1;
    if (!seen_.emplace(&body, id, kind, origin ? origin->statement : 0).second) return fate;
    const size_t begin = origin && origin->kind != Origin::Kind::Outside ? origin->statement + 1 : 0;
    for (size_t i = begin; i < body.flow.size() && fate.fits; ++i) {
      if (origin && body.flow.originOf(id, i) != *origin) break;
      Variable variable{body, id, origin, i};
      readIn(body.flow.statement(i), variable, fate);
    }
    return fate;
  }

  // What becomes of the tensors in a variable's lists or tuples, [depth] of them in one another.
  Fate ofContainer(const Body& body, typed::VariableId id, size_t depth) {
    if (depth == 0) return ofVariable(body, id, std::nullopt);
    Fate fate;
    if (!seen_.emplace(&body, id, -2, depth).second) return fate;
    for (size_t i = 0; i < body.flow.size() && fate.fits; ++i)
      readContainer(body.flow.statement(i), body, id, depth, fate);
    return fate;
  }
  void readContainer(const typed::Stmt& statement, const Body& body, typed::VariableId id, size_t depth, Fate& fate) {
    const auto* unpacked = get_if<typed::Unpack>(&statement.node);
    if (unpacked != nullptr && isVariable(*unpacked->value, id)) {
      for (const typed::Target& target : unpacked->targets) fate.add(ofContainer(body, target.variable, depth - 1));
      return;
    }
    const auto* set = get_if<typed::SetVariable>(&statement.node);
    if (set != nullptr && isVariable(*set->value, id)) {
      fate.add(ofContainer(body, set->target.variable, depth));
      return;
    }
    typed::eachPart(
        statement, [&](const typed::Expr& part) { readContainer(part, id, depth, fate); },
        [&](const typed::Block& block) {
          for (const typed::StmtPtr& each : block) readContainer(*each, body, id, depth, fate);
        });
  }
  // It may be given to the script's functions, and asked for its length.
  void readContainer(const typed::Expr& expr, typed::VariableId id, size_t depth, Fate& fate) {
    if (isVariable(expr, id)) fate.fits = false;
    const auto* call = get_if<typed::CallFunction>(&expr.node);
    const auto* builtin = get_if<typed::CallBuiltin>(&expr.node);
    const CalledFunction function = call != nullptr ? script_.called(*call) : CalledFunction{};
    const bool asks = (builtin != nullptr && builtins()[builtin->builtin].name() == "len") ||
                      (call != nullptr && function.own == nullptr && function.name.starts_with("check_"));
    size_t number = 0;
    typed::eachOperand(
        expr,
        [&](const typed::Expr& operand) {
          const size_t parameter = number++;
          if (!isVariable(operand, id)) {
            readContainer(operand, id, depth, fate);
          } else if (function.own != nullptr) {
            fate.add(ofContainer(*by_function_.at(function.own), static_cast<typed::VariableId>(parameter), depth));
          } else if (!asks) {
            fate.fits = false;
          }
        },
        [&](const typed::Stmt&) { fate.fits = false; });
  }

  static bool isVariable(const typed::Expr& expr, typed::VariableId id) {
    const auto* read = get_if<typed::ReadVariable>(&expr.node);
    return read != nullptr && read->variable == id;
  }

  void readIn(const typed::Stmt& statement, Variable& variable, Fate& fate) {
    const bool returns = get_if<typed::Return>(&statement.node) != nullptr;
    const auto* set = get_if<typed::SetVariable>(&statement.node);
    variable.set = set != nullptr ? std::optional(set->target.variable) : std::nullopt;
    typed::eachPart(
        statement,
        [&](const typed::Expr& part) {
          read(part, returns ? Use::Returned : set != nullptr ? Use::Set : Use::Other, variable, fate);
        },
        [&](const typed::Block& block) {
          for (const typed::StmtPtr& each : block) {
            if (variable.origin) {
              readInBlock(*each, variable, fate);
            } else {
              readIn(*each, variable, fate);
            }
          }
        });
  }
  // Where a variable's value comes from matters, reads within loops and branches are not followed.
  void readInBlock(const typed::Stmt& statement, Variable& variable, Fate& fate) {
    typed::eachPart(
        statement, [&](const typed::Expr& part) { read(part, Use::Other, variable, fate); },
        [&](const typed::Block& block) {
          for (const typed::StmtPtr& each : block) readInBlock(*each, variable, fate);
        });
  }

  void read(const typed::Expr& expr, Use use, Variable& variable, Fate& fate) {
    if (const auto* read = get_if<typed::ReadVariable>(&expr.node)) {
      if (read->variable == variable.id) end(use, variable, fate);
    } else if (const auto* op = get_if<typed::CallOperator>(&expr.node)) {
      readIn(*op, use, variable, fate);
    } else if (const auto* call = get_if<typed::CallFunction>(&expr.node)) {
      readIn(*call, variable, fate);
    } else if (const auto* builtin = get_if<typed::CallBuiltin>(&expr.node)) {
      const bool asks = isOneOf(builtins()[builtin->builtin].name(), kQuestions);
      for (const typed::ExprPtr& argument : builtin->arguments) {
        this->read(*argument, asks ? Use::Read : Use::Other, variable, fate);
      }
    } else if (const auto* tuple = get_if<typed::MakeTuple>(&expr.node)) {
      readItems(tuple->items, use, variable, fate);
    } else if (const auto* list = get_if<typed::MakeList>(&expr.node)) {
      readItems(list->items, use, variable, fate);
    } else {
      typed::eachOperand(
          expr, [&](const typed::Expr& operand) { this->read(operand, Use::Other, variable, fate); },
          [&](const typed::Stmt& statement) { readInBlock(statement, variable, fate); });
    }
  }

  void readItems(const std::vector<typed::ExprPtr>& items, Use use, Variable& variable, Fate& fate) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (variable.depth == 0) variable.position = i;
      ++variable.depth;
      read(*items[i], use == Use::Returned ? use : Use::Other, variable, fate);
      --variable.depth;
    }
  }

  void readIn(const typed::CallOperator& call, Use use, Variable& variable, Fate& fate) {
    const std::string_view name = call.name.name;
    const auto* list = call.arguments.empty() ? nullptr : get_if<typed::MakeList>(&call.arguments[0]->node);
    const bool joins = name == "fused::append" || (name == "aten::cat" && list != nullptr);
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const typed::Expr& argument = *call.arguments[i];
      if (joins && i == 0 && list != nullptr) {
        for (size_t k = 0; k < list->items.size(); ++k) readPart(*list->items[k], k == 0, variable, fate);
      } else if (joins) {
        readPart(argument, i == 0, variable, fate);
      } else if (isOneOf(name, kReaders) || (name == "aten::scaled_dot_product_attention" && i > 0)) {
        read(argument, Use::Read, variable, fate);
      } else if (isOneOf(name, kViews) && i == 0) {
        read(argument, use == Use::Returned ? Use::Other : use, variable, fate);
      } else {
        read(argument, Use::Other, variable, fate);
      }
    }
  }
  // [part] is what a call joins with others.
  void readPart(const typed::Expr& part, bool is_first, Variable& variable, Fate& fate) {
    if (is_first && isVariable(part, variable.id)) fate.lasts = true;
    this->read(part, Use::Read, variable, fate);
  }

  void readIn(const typed::CallFunction& call, Variable& variable, Fate& fate) {
    const CalledFunction function = script_.called(call);
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      if (isVariable(*call.arguments[i], variable.id) && function.own != nullptr) {
        fate.add(ofVariable(*by_function_.at(function.own), static_cast<typed::VariableId>(i), Origin{}));
        continue;
      }
      const bool is_read = function.own == nullptr &&
                           (function.name.starts_with("check_") || (function.name == "fused_attention_layer" && i > 0));
      this->read(*call.arguments[i], is_read ? Use::Read : Use::Other, variable, fate);
    }
  }

  // The variable itself is used.
  void end(Use use, Variable& variable, Fate& fate) {
    switch (use) {
      case Use::Other: fate.fits = false; break;
      case Use::Read: break;
      case Use::Set:
        fate.add(variable.origin
                     ? ofVariable(variable.body, *variable.set, Origin{Origin::Kind::Statement, variable.place})
                     : ofVariable(variable.body, *variable.set, std::nullopt));
        break;
      case Use::Returned:
        if (variable.body.function == nullptr) {
          fate.fits = false;
        } else {
          fate.add(ofResult(*variable.body.function, variable.depth, variable.position));
        }
        break;
    }
  }

  // What becomes of what a function returns: as it is, or in [depth] tuples or lists.
  Fate ofResult(const TypedFunction& function, size_t depth, size_t position) {
    Fate fate;
    if (!returned_.emplace(&function, depth, position).second) return fate;
    const auto sites = sites_.find(&function);
    if (sites == sites_.end()) {
      fate.lasts = true;
      fate.fits = role_ == ScriptRole::Program && !has_function_values_;
      returned_.erase({&function, depth, position});
      return fate;
    }
    for (const CallSite& site : sites->second) fate.add(ofResultAt(site, depth, position));
    returned_.erase({&function, depth, position});
    return fate;
  }
  Fate ofResultAt(const CallSite& site, size_t depth, size_t position) {
    constexpr Fate kUnknown{.fits = false, .lasts = false};
    const auto follow = [&](typed::VariableId id, size_t left, Origin::Kind kind) {
      if (left > 0) return ofContainer(*site.body, id, left);
      return site.isInner() ? ofVariable(*site.body, id, std::nullopt)
                            : ofVariable(*site.body, id, Origin{kind, site.place});
    };
    if (const auto* unpacked = get_if<typed::Unpack>(&site.statement->node)) {
      if (unpacked->value.get() != site.call || depth == 0) return kUnknown;
      if (position >= unpacked->targets.size()) return kUnknown;
      return follow(unpacked->targets[position].variable, depth - 1, Origin::Kind::Unknown);
    }
    if (const auto* set = get_if<typed::SetVariable>(&site.statement->node)) {
      if (set->value.get() != site.call) return kUnknown;
      return follow(set->target.variable, depth, Origin::Kind::Statement);
    }
    const auto* returned = get_if<typed::Return>(&site.statement->node);
    if (returned == nullptr || returned->value.get() != site.call || site.body->function == nullptr) return kUnknown;
    return ofResult(*site.body->function, depth, position);
  }

  const TypedScript& script_;
  std::deque<Body> bodies_;
  std::map<const TypedFunction*, const Body*> by_function_;
  std::map<const TypedFunction*, std::vector<CallSite>> sites_;
  std::set<std::tuple<const Body*, typed::VariableId, int, size_t>> seen_;
  std::set<std::tuple<const TypedFunction*, size_t, size_t>> returned_;
  ScriptRole role_;
  bool has_function_values_ = false;
};

class GrowthPass final : public BlockPass {
 public:
  GrowthPass(Fates& fates, const TypedScript& script, Effects& effects, const TypedFunction& function,
             std::vector<Edit>& edits)
      : BlockPass(script, effects, function, edits), fates_(fates), function_(function) {}

 private:
  bool replace(Place root) override {
    const auto* call = get_if<typed::CallOperator>(&root.expr->node);
    if (call == nullptr || call->name.name != "aten::cat" || !call->name.overload_name.empty()) return false;
    const auto* parts = get_if<typed::MakeList>(&call->arguments[0]->node);
    if (parts == nullptr || parts->items.size() != 2) return false;
    const typed::Stmt& statement = flow().statement(root.statement);
    const auto* set = get_if<typed::SetVariable>(&statement.node);
    if (set == nullptr || set->value.get() != root.expr) return false;
    if (!fates_.isInBody(function_, statement, root.statement)) return false;
    const Fate fate = fates_.of(function_, root.statement);
    if (!fate.fits || !fate.lasts) return false;
    const SourcePtr& source = script().source();
    const auto self = textOf(*parts->items[0], source);
    const auto other = textOf(*parts->items[1], source);
    const auto dim = textOf(*call->arguments[1], source);
    if (!self || !other || !dim) return false;
    apply(root, {}, fmt::format("fused::append({}, {}, {})", *self, *other, *dim));
    return true;
  }

  Fates& fates_;
  const TypedFunction& function_;
};

}  // namespace

std::vector<Edit> growTensors(const TypedScript& script, ScriptRole role) {
  Fates fates(script, role);
  Effects effects(script);
  std::vector<Edit> edits;
  for (const TypedFunction& function : script.functions()) {
    GrowthPass(fates, script, effects, function, edits).run(function.typed.body, true);
  }
  return edits;
}

}  // namespace boxcar::interp
