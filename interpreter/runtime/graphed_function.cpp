#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/runtime/graphed_function.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace boxcar::interp {
namespace {

// Built-ins whose effect or result depends on when they run.
constexpr std::string_view kOnceOnly[] = {"print", "clock", "manual_seed"};

// Returns why [instruction] cannot be part of a graph; nothing if it can.
std::optional<std::string> refusalOf(const Instruction& instruction) {
  switch (instruction.op) {
    case Opcode::CallBuiltin: {
      const std::string_view name = builtins()[instruction.a].name();
      if (std::ranges::find(kOnceOnly, name) == std::end(kOnceOnly)) return std::nullopt;
      return fmt::format("calls `{}`", name);
    }
    case Opcode::EnterScope:
    case Opcode::EnterHandler: return "opens a scope with `with`";
    case Opcode::Register: return "registers a kernel";
    case Opcode::BeginGlobal: return "sets a constant";
    default: return std::nullopt;
  }
}

class Reader final {
 public:
  Reader(std::string_view name, GraphedFunction& found) : name_(nameOfFunction(name)), found_(found) {}

  void read(const Executable& program, const CodeFunction& function) {
    if (!seen_.insert(&function).second) return;
    for (const Instruction& instruction : function.code) {
      if (const auto refusal = refusalOf(instruction)) {
        const std::string_view name = nameOfFunction(function.name);
        const std::string where = name == name_ ? "it" : fmt::format("`{}`, which it calls,", name);
        BOXCAR_FAIL(
            "cuda_graph(): `{}` cannot be captured: {} {}, which a replay of the graph would not repeat. Do that "
            "outside of the function",
            name_, where, *refusal);
      }
      switch (instruction.op) {
        case Opcode::LoadGlobal: addConstant(program, instruction.index()); break;
        case Opcode::LoadFunction:
        case Opcode::CallFunction: read(*program.function(instruction.index()).program, instruction.index()); break;
        case Opcode::LoadImported:
        case Opcode::CallImported: {
          const ExecutableFunction& callee = program.imported(instruction.index());
          read(*callee.program, *callee.source);
          break;
        }
        case Opcode::CallOperator: readOperator(program, program.unit().operator_sites[instruction.index()]); break;
        default: break;
      }
    }
  }

 private:
  void read(const Executable& program, uint32_t index) { read(program, program.unit().functions[index]); }

  // Reads the body of an operator that the script declares.
  void readOperator(const Executable& program, const OperatorSite& site) {
    for (const CodeOperator& op : program.unit().operators) {
      if (op.function && op.schema.operator_name() == site.name) read(program, *op.function);
    }
  }

  void addConstant(const Executable& program, uint32_t index) {
    const std::pair<const Executable*, uint32_t> constant(&program, index);
    if (std::ranges::find(found_.constants, constant) == found_.constants.end()) found_.constants.push_back(constant);
  }

  const std::string_view name_;
  GraphedFunction& found_;
  std::set<const CodeFunction*> seen_;
};

}  // namespace

std::string_view nameOfFunction(std::string_view title) noexcept {
  return title.starts_with("fn ") ? title.substr(3) : title;
}

GraphedFunction readGraphedFunction(const ExecutableFunction& function) {
  GraphedFunction found{function.program->weak_from_this(), {}, nullptr};
  Reader(function.source->name, found).read(*function.program, *function.source);
  return found;
}

}  // namespace boxcar::interp
