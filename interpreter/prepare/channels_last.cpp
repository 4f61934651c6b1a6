#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/prepare/block_flow.h>
#include <boxcar/interpreter/prepare/channels_last.h>
#include <boxcar/interpreter/prepare/effects.h>
#include <boxcar/interpreter/prepare/matcher.h>
#include <boxcar/interpreter/prepare/typed_visit.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace boxcar::interp {

using boost::variant2::get_if;

namespace {

constexpr std::string_view kToLast = "to_channels_last";
constexpr std::string_view kToFirst = "to_channels_first";

// What one function does with its images, apart from those that it calls.
struct FunctionUses {
  bool convolves = false;
  std::set<const TypedFunction*> called;
  std::set<typed::VariableId> weights;  // variables that are kernels, biases and the like
};

// What a script does with its images.
class Uses final {
 public:
  Uses(const TypedScript& script, ModuleLoader* loader) : script_(script), loader_(loader), effects_(script) {
    for (const TypedFunction& function : script.functions()) {
      current_ = &functions_[&function];
      visit(function.typed.body, true);
    }
  }

  // Whether the script would notice that a tensor lies otherwise, or is a copy.
  bool dependsOnMemory() const noexcept { return depends_on_memory_; }
  bool isConverted() const noexcept { return is_converted_; }
  bool isCalled(const TypedFunction& function) const {
    return std::ranges::any_of(functions_, [&](const auto& each) { return each.second.called.contains(&function); });
  }
  bool convolves(const TypedFunction& function) const {
    std::set<const TypedFunction*> passed;
    return convolves(function, passed);
  }
  bool isWeight(const TypedFunction& function, typed::VariableId variable) const {
    return functions_.at(&function).weights.contains(variable);
  }

 private:
  // Whether the function called [name] does, for scripts that import this one.
  bool convolves(std::string_view name) const {
    const TypedFunction* function = script_.find(name);
    if (function != nullptr) return convolves(*function);
    return std::ranges::any_of(functions_, [](const auto& each) { return each.second.convolves; });
  }

  // What a file that the script imports does.
  struct Imported {
    std::unique_ptr<TypedScript> script;
    std::unique_ptr<Uses> uses;
    bool is_library = false;
  };
  const Imported& importedUses(const typed::CallFunction& call) {
    const CodeModule& module = script_.moduleOf(call);
    const auto [found, is_new] = imported_.try_emplace(module.path);
    Imported& imported = found->second;
    if (!is_new) return imported;
    Diagnostics diagnostics;
    const CodeUnit* unit = loader_->load(script_.source(), module.path, module.span, diagnostics);
    if (unit == nullptr) return imported;
    imported.is_library = unit->source->name().starts_with(kLibraryFolder);
    if (!imported.is_library) imported.script = TypedScript::infer(unit->source, diagnostics, loader_);
    if (imported.script != nullptr) imported.uses = std::make_unique<Uses>(*imported.script, loader_);
    return imported;
  }

  void noteImported(const typed::CallFunction& call, const CalledFunction& function) {
    const Imported& imported = importedUses(call);
    if (imported.is_library) return;
    if (imported.uses == nullptr || imported.uses->dependsOnMemory()) {
      depends_on_memory_ = true;
    } else if (!imported.uses->isConverted()) {  // such as a model, which has its own edges
      current_->convolves = current_->convolves || imported.uses->convolves(function.name);
    }
  }

  bool convolves(const TypedFunction& function, std::set<const TypedFunction*>& passed) const {
    if (!passed.insert(&function).second) return false;
    const FunctionUses& uses = functions_.at(&function);
    return uses.convolves ||
           std::ranges::any_of(uses.called, [&](const TypedFunction* called) { return convolves(*called, passed); });
  }

  void visit(const typed::Block& block, bool is_body) {
    const BlockFlow flow(block, is_body);
    for (size_t i = 0; i < flow.size(); ++i) {
      typed::eachPart(
          flow.statement(i), [&](const typed::Expr& part) { visit(part, &flow, i); },
          [&](const typed::Block& inner) { visit(inner, false); });
    }
  }

  // [flow]: null within an expression's own statements.
  void visit(const typed::Expr& expr, const BlockFlow* flow, size_t statement) {
    if (const auto* call = get_if<typed::CallFunction>(&expr.node)) {
      const CalledFunction function = script_.called(*call);
      if (function.own != nullptr) {
        current_->called.insert(function.own);
      } else {
        noteImported(*call, function);
      }
      // Those of imported files may not be fused yet.
      current_->convolves =
          current_->convolves || function.name == "fused_conv2d_layer" || function.name == "conv2d_layer";
      is_converted_ = is_converted_ || function.name == kToLast;
    } else if (const auto* operation = get_if<typed::CallOperator>(&expr.node)) {
      noteOperator(*operation, flow, statement);
    } else if (const auto* builtin = get_if<typed::CallBuiltin>(&expr.node)) {
      constexpr std::string_view kStrided[] = {"tensor.stride", "tensor.strides", "tensor.is_contiguous",
                                               "tensor.storage_offset", "tensor.data_ptr"};
      const std::string_view name = builtins()[builtin->builtin].name();
      // Calls of what is known at run time only may do any of these.
      depends_on_memory_ = depends_on_memory_ || std::ranges::find(kStrided, name) != std::end(kStrided) ||
                           name == "call_method" || name == "call_function" || name == "updated";
    } else if (get_if<typed::CallDynamic>(&expr.node) != nullptr) {
      depends_on_memory_ = true;
    }
    typed::eachOperand(
        expr, [&](const typed::Expr& operand) { visit(operand, flow, statement); },
        [&](const typed::Stmt& inner) {
          typed::eachPart(
              inner, [&](const typed::Expr& part) { visit(part, nullptr, 0); },
              [&](const typed::Block& block) { visit(block, false); });
        });
  }

  void noteOperator(const typed::CallOperator& call, const BlockFlow* flow, size_t statement) {
    constexpr std::string_view kStrided[] = {"aten::view",         "aten::as_strided",   "aten::as_strided_",
                                             "aten::set_",         "aten::view_as",      "aten::stride",
                                             "aten::_unsafe_view", "aten::is_contiguous"};
    depends_on_memory_ = depends_on_memory_ || std::ranges::find(kStrided, call.name.name) != std::end(kStrided);
    if (call.name.name == "fused::convolution" || call.name.name == "aten::conv2d") {
      current_->convolves = true;
      for (size_t i = 1; i < call.arguments.size(); ++i) {
        const auto* weight = get_if<typed::ReadVariable>(&call.arguments[i]->node);
        if (weight != nullptr) current_->weights.insert(weight->variable);
      }
    }
    const auto op = Dispatcher::singleton().findSchema(call.name);
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      if (op && !op->schema().arguments()[i].is_write()) continue;
      if (op && isTemporary(script_, *call.arguments[i])) continue;
      // Views of what is written show the write, and in another format there are copies instead of some views.
      const bool is_seen_by_none =
          op && flow != nullptr && Matcher(script_, *flow, effects_, {}).isFresh({call.arguments[i].get(), statement});
      depends_on_memory_ = depends_on_memory_ || !is_seen_by_none;
    }
  }

  const TypedScript& script_;
  ModuleLoader* loader_;
  Effects effects_;
  std::map<std::string, Imported> imported_;
  bool depends_on_memory_ = false;
  bool is_converted_ = false;
  std::unordered_map<const TypedFunction*, FunctionUses> functions_;
  FunctionUses* current_ = nullptr;
};

bool isCheck(const TypedScript& script, const typed::Stmt& statement) {
  const auto* evaluated = get_if<typed::Evaluate>(&statement.node);
  const auto* call = evaluated == nullptr ? nullptr : get_if<typed::CallFunction>(&evaluated->value->node);
  return call != nullptr && script.called(*call).name.starts_with("check_");
}

// The result of a linear layer has the order of its input's last dimension, so it needs no conversion.
bool mayBeImage(const TypedScript& script, const typed::Expr& expr) {
  const auto* call = get_if<typed::CallFunction>(&expr.node);
  return expr.type->kind() == TypeKind::Tensor &&
         (call == nullptr || script.called(*call).name.find("linear") == std::string_view::npos);
}

void convertResults(const TypedScript& script, const typed::Block& block, std::vector<Edit>& edits) {
  for (const typed::StmtPtr& statement : block) {
    const auto* returned = get_if<typed::Return>(&statement->node);
    if (returned != nullptr && returned->value != nullptr && mayBeImage(script, *returned->value)) {
      const Span span = returned->value->span;
      edits.push_back({span, fmt::format("{}({})", kToFirst, script.source()->text(span))});
    }
    typed::eachPart(
        *statement, [](const typed::Expr&) {},
        [&](const typed::Block& inner) { convertResults(script, inner, edits); });
  }
}

}  // namespace

std::vector<Edit> keepChannelsLast(const TypedScript& script, ModuleLoader* loader) {
  const Uses uses(script, loader);
  std::vector<Edit> edits;
  if (uses.dependsOnMemory() || uses.isConverted()) return edits;
  for (const TypedFunction& function : script.functions()) {
    const typed::Block& body = function.typed.body;
    if (body.empty() || function.declared->isMethod() || uses.isCalled(function) || !uses.convolves(function)) continue;
    std::string conversions;
    const std::vector<Argument>& arguments = function.declared->schema.arguments();
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].type()->kind() != TypeKind::Tensor) continue;
      if (uses.isWeight(function, static_cast<typed::VariableId>(i))) continue;
      conversions += fmt::format("{0} = {1}({0})\n", arguments[i].name(), kToLast);
    }
    if (conversions.empty()) continue;
    // The checks come first: their errors are about what the caller gave.
    const auto first = std::ranges::find_if_not(
        body, [&script](const typed::StmtPtr& statement) { return isCheck(script, *statement); });
    if (first == body.end()) continue;
    edits.push_back({{(*first)->span.begin, (*first)->span.begin}, conversions});
    convertResults(script, body, edits);
  }
  return edits;
}

}  // namespace boxcar::interp
