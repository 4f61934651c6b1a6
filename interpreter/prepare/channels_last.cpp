#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/prepare/channels_last.h>
#include <boxcar/interpreter/prepare/typed_visit.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace boxcar::interp {

using boost::variant2::get_if;

namespace {

constexpr std::string_view kToLast = "to_channels_last";
constexpr std::string_view kToFirst = "to_channels_first";

// What a script does with its images.
struct Uses {
  bool convolves = false;
  bool depends_on_strides = false;
  bool is_converted = false;
  bool writes_arguments = false;  // the caller would not see what is written to a copy
  std::set<const TypedFunction*> called;
};

class UseFinder final {
 public:
  explicit UseFinder(const TypedScript& script) : script_(script) {
    for (const TypedFunction& function : script.functions()) {
      noteArguments(function);
      visit(function.typed.body);
    }
  }

  Uses uses;

 private:
  // The arguments of a function that still are what the caller gave, wherever they are read.
  void noteArguments(const TypedFunction& function) {
    arguments_.clear();
    for (size_t i = 0; i < function.declared->schema.arguments().size(); ++i) {
      arguments_.insert(static_cast<typed::VariableId>(i));
    }
    removeAssigned(function.typed.body);
  }
  void removeAssigned(const typed::Block& block) {
    for (const typed::StmtPtr& statement : block) {
      typed::eachAssigned(*statement, [this](typed::VariableId variable) { arguments_.erase(variable); });
      typed::eachPart(
          *statement, [](const typed::Expr&) {}, [this](const typed::Block& inner) { removeAssigned(inner); });
    }
  }
  void noteWrites(const typed::CallOperator& call) {
    const auto op = Dispatcher::singleton().findSchema(call.name);
    for (size_t i = 0; op && i < call.arguments.size(); ++i) {
      const auto* read = get_if<typed::ReadVariable>(&call.arguments[i]->node);
      if (read == nullptr || !op->schema().arguments()[i].is_write()) continue;
      uses.writes_arguments = uses.writes_arguments || arguments_.contains(read->variable);
    }
  }

  void visit(const typed::Block& block) {
    for (const typed::StmtPtr& statement : block) visit(*statement);
  }
  void visit(const typed::Stmt& statement) {
    typed::eachPart(
        statement, [this](const typed::Expr& part) { visit(part); },
        [this](const typed::Block& block) { visit(block); });
  }
  void visit(const typed::Expr& expr) {
    if (const auto* call = get_if<typed::CallFunction>(&expr.node)) {
      const CalledFunction function = script_.called(*call);
      if (function.own != nullptr) uses.called.insert(function.own);
      uses.convolves = uses.convolves || function.name == "fused_conv2d_layer";
      uses.is_converted = uses.is_converted || function.name == kToLast;
    } else if (const auto* operation = get_if<typed::CallOperator>(&expr.node)) {
      constexpr std::string_view kStrided[] = {"aten::view",         "aten::as_strided",   "aten::as_strided_",
                                               "aten::set_",         "aten::view_as",      "aten::stride",
                                               "aten::_unsafe_view", "aten::is_contiguous"};
      noteWrites(*operation);
      uses.convolves = uses.convolves || operation->name.name == "fused::convolution";
      uses.depends_on_strides =
          uses.depends_on_strides || std::ranges::find(kStrided, operation->name.name) != std::end(kStrided);
    } else if (const auto* builtin = get_if<typed::CallBuiltin>(&expr.node)) {
      constexpr std::string_view kStrided[] = {"tensor.stride", "tensor.strides", "tensor.is_contiguous",
                                               "tensor.storage_offset", "tensor.data_ptr"};
      uses.depends_on_strides = uses.depends_on_strides ||
                                std::ranges::find(kStrided, builtins()[builtin->builtin].name()) != std::end(kStrided);
    } else if (get_if<typed::CallDynamic>(&expr.node) != nullptr) {
      uses.depends_on_strides = true;  // it may be any of these
    }
    typed::eachOperand(
        expr, [this](const typed::Expr& operand) { visit(operand); },
        [this](const typed::Stmt& statement) { visit(statement); });
  }

  const TypedScript& script_;
  std::set<typed::VariableId> arguments_;
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

std::vector<Edit> keepChannelsLast(const TypedScript& script) {
  const Uses uses = UseFinder(script).uses;
  std::vector<Edit> edits;
  if (!uses.convolves || uses.depends_on_strides || uses.is_converted || uses.writes_arguments) return edits;
  for (const TypedFunction& function : script.functions()) {
    const typed::Block& body = function.typed.body;
    if (uses.called.contains(&function) || function.declared->isMethod() || body.empty()) continue;
    std::string conversions;
    for (const Argument& argument : function.declared->schema.arguments()) {
      if (argument.type()->kind() != TypeKind::Tensor) continue;
      conversions += fmt::format("{0} = {1}({0})\n", argument.name(), kToLast);
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
