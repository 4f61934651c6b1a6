#include <boxcar/interpreter/builtins.h>
#include <boxcar/interpreter/disassembler.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace boxcar::interp {
namespace {

// Where the text of an instruction's operands is followed by its span, and the span by a comment.
constexpr size_t kSpanColumn = 44;
constexpr size_t kCommentColumn = 59;

std::string_view trimmed(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

void padTo(std::string& line, size_t column) { line.resize(std::max(line.size() + 1, column), ' '); }

class Disassembler {
 public:
  explicit Disassembler(const CodeUnit& unit) : unit_(unit) {}

  std::string run() {
    write("boxcar bytecode 1\n");
    write("source {}\n", pythonStringRepr(unit_.source->name()));
    for (size_t i = 0; i < unit_.constants.size(); ++i) write("constant {} {}\n", i, repr(unit_.constants[i]));
    for (size_t i = 0; i < unit_.types.size(); ++i) write("type {} {}\n", i, unit_.types[i]->text());
    for (size_t i = 0; i < unit_.operator_sites.size(); ++i) {
      const OperatorSite& site = unit_.operator_sites[i];
      write("site {} {} {} -> {}\n", i, site.name, site.arguments, site.results);
    }
    for (size_t i = 0; i < unit_.dynamic_sites.size(); ++i) writeDynamicSite(i);
    for (size_t i = 0; i < unit_.globals.size(); ++i) {
      write("global {} {}: {}\n", i, unit_.globals[i].name, unit_.globals[i].type->text());
    }
    for (const CodeOperator& op : unit_.operators) {
      write("op {} = ", op.schema);
      op.function ? write("fn {}", *op.function) : write("declared");
      write(" {}\n", spanText(op.span));
    }
    for (size_t i = 0; i < unit_.functions.size(); ++i) writeFunction(i);
    return std::move(text_);
  }

 private:
  template <class... Args>
  void write(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  static std::string spanText(Span span) { return fmt::format("@{}..{}", span.begin, span.end); }

  void writeDynamicSite(size_t index) {
    const DynamicSite& site = unit_.dynamic_sites[index];
    write("dynamic {} {}", index, site.name);
    if (site.overload) write(".{}", *site.overload);
    write(" ({}", site.positional);
    for (const std::string& keyword : site.keywords) write(", {}=", keyword);
    write(")\n");
  }

  static char letter(SlotKind kind) { return "ifbv"[static_cast<size_t>(kind)]; }

  void writeFunction(size_t index) {
    const CodeFunction& function = unit_.functions[index];
    write("\nfn {} {} {} -> {} {}\n", index, pythonStringRepr(function.name), function.argument_count,
          toString(function.result), spanText(function.span));
    if (!function.slots.empty()) {
      write("  slots");
      for (const SlotKind kind : function.slots) write(" {}", toString(kind));
      write("\n");
    }
    for (const SlotName& name : function.slot_names) {
      write("  name {}{} {}\n", letter(function.slots[name.slot]), name.slot, name.name);
    }
    uint32_t last_line = 0;
    for (size_t i = 0; i < function.code.size(); ++i) {
      const uint32_t line = function.source->position(function.spans[i].begin).line;
      if (line != last_line) {
        write("; {}:{}: {}\n", function.source->name(), line, trimmed(function.source->line(line)));
        last_line = line;
      }
      writeInstruction(function, i);
    }
  }

  void writeInstruction(const CodeFunction& function, size_t at) {
    const Instruction& instruction = function.code[at];
    const OpcodeInfo& opcode = info(instruction.op);
    std::string line = fmt::format("  {:>4}  {}", at, opcode.name);
    std::string comment;
    const uint16_t fields[] = {instruction.a, instruction.b, instruction.c};
    bool is_first = true;
    for (size_t field = 0; field < 3; ++field) {
      const Operand operand = opcode.operands[field];
      if (operand == Operand::None) continue;
      line += is_first ? " " : ", ";
      is_first = false;
      line += operandText(operand, function, at, fields[field], comment);
      if (isWide(operand)) break;
    }
    padTo(line, kSpanColumn);
    line += spanText(function.spans[at]);
    if (!comment.empty()) {
      padTo(line, kCommentColumn);
      line += "; " + comment;
    }
    write("{}\n", line);
  }

  std::string operandText(Operand operand, const CodeFunction& function, size_t at, uint16_t field,
                          std::string& comment) const {
    const Instruction& instruction = function.code[at];
    const uint32_t index = instruction.index();
    switch (operand) {
      case Operand::Argument: return fmt::format("#{}", field);
      case Operand::Immediate:
      case Operand::Divisor:
      case Operand::BoolImmediate: return std::to_string(static_cast<int16_t>(field));
      case Operand::Count:
      case Operand::ArgumentCount: return std::to_string(field);
      case Operand::Type:
      case Operand::ListType: comment = unit_.types[field]->text(); return fmt::format("type {}", field);
      case Operand::Builtin: return std::string(builtins()[field].name());
      case Operand::Target: return fmt::format("-> {}", static_cast<int64_t>(at) + 1 + static_cast<int16_t>(field));
      case Operand::WideImmediate: return std::to_string(instruction.wide());
      case Operand::IntConstant:
      case Operand::FloatConstant:
      case Operand::Constant:
        comment = firstLine(repr(unit_.constants[index]));
        return fmt::format("constant {}", index);
      case Operand::Function: comment = unit_.functions[index].name; return fmt::format("fn {}", index);
      case Operand::OperatorSite:
        comment = toString(unit_.operator_sites[index].name);
        return fmt::format("site {}", index);
      case Operand::DynamicSite: comment = unit_.dynamic_sites[index].name; return fmt::format("dynamic {}", index);
      case Operand::Module: comment = unit_.modules[index].path; return fmt::format("module {}", index);
      case Operand::ImportedFunction: comment = unit_.imports[index].name; return fmt::format("import {}", index);
      case Operand::Scope: return fmt::format("scope {}", index);
      case Operand::Handler:
        comment = unit_.functions[unit_.handlers[index].function].name;
        return fmt::format("handler {}", index);
      case Operand::Global: comment = unit_.globals[index].name; return fmt::format("global {}", index);
      case Operand::FarTarget: return fmt::format("-> {}", static_cast<int64_t>(at) + 1 + instruction.wide());
      default: return fmt::format("{}{}", letter(function.slots[field]), field);
    }
  }

  static std::string firstLine(std::string text) {
    const size_t end = text.find('\n');
    if (end != std::string::npos) text.resize(end);
    return text;
  }

  const CodeUnit& unit_;
  std::string text_;
};

}  // namespace

std::string disassemble(const CodeUnit& unit) { return Disassembler(unit).run(); }

}  // namespace boxcar::interp
