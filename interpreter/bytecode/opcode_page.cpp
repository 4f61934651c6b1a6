#include <boxcar/interpreter/bytecode/bytecode_text.h>
#include <boxcar/interpreter/bytecode/opcode_page.h>
#include <boxcar/interpreter/bytecode/opcodes.h>
#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace boxcar::interp {
namespace {

// A row of the table: an opcode or, if there is none, a group's title and text.
struct Row {
  const OpcodeInfo* opcode;
  std::string_view title;
  std::string_view text;
};

constexpr Row kRows[] = {
#define BOXCAR_OPCODE_GROUP(title, text) {nullptr, title, text},
#define BOXCAR_OPCODE(name, ...) {&info(Opcode::name), {}, {}},
#include <boxcar/interpreter/bytecode/opcode_table.h>
};

class PageWriter {
 public:
  std::string run() {
    write("# Opcodes\n\n");
    write(
        "The instructions of boxcar's machine, as `boxcar dis --opcodes` prints them. a, b and c are the operands, in "
        "the "
        "order in which they are written; \"stack\" says how many values an instruction takes from the stack and "
        "leaves "
        "there. An instruction that may fail ends the run with an error that shows the script's line.\n\n");
    write("| operand | is |\n|---|---|\n");
    writeOperands();
    for (const Row& row : kRows) {
      row.opcode != nullptr ? writeOpcode(*row.opcode) : writeGroup(row);
    }
    return std::move(text_);
  }

 private:
  template <class... Args>
  void write(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...);
  }

  // Writes every spelling once.
  void writeOperands() {
    for (auto i = static_cast<uint8_t>(Operand::None); i <= static_cast<uint8_t>(Operand::FarTarget); ++i) {
      const auto [form, expected] = spellingOf(static_cast<Operand>(i));
      const std::string line = fmt::format("| `{}` | {} |\n", form, expected);
      if (!form.empty() && text_.find(line) == std::string::npos) text_ += line;
    }
  }

  void writeGroup(const Row& row) {
    write("\n## {}\n\n", row.title);
    if (!row.text.empty()) write("{}\n\n", row.text);
    write("| opcode | a | b | c | stack | effect | |\n|---|---|---|---|---|---|---|\n");
  }

  void writeOpcode(const OpcodeInfo& opcode) {
    write("| `{}` |", opcode.name);
    for (const Operand operand : opcode.operands) {
      const std::string_view form = spellingOf(operand).form;
      form.empty() ? write(" |") : write(" `{}` |", form);
    }
    write(" {} | {} | {} |\n", stackText(opcode), cell(opcode.effect), note(opcode.then));
  }

  static std::string stackText(const OpcodeInfo& opcode) {
    if (opcode.takes == 0 && opcode.leaves == 0) return {};
    return fmt::format("{} → {}", countText(opcode.takes), countText(opcode.leaves));
  }

  static std::string countText(int8_t count) {
    switch (count) {
      case kFieldA: return "a";
      case kFieldB: return "b";
      case kFieldC: return "c";
      case kTwiceFieldB: return "2b";
      case kSite: return "as b says";
      default: return std::to_string(count);
    }
  }

  // Escapes text for a cell, where `|` would end the cell and `*` might emphasise.
  static std::string cell(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
      if (c == '|' || c == '*' || c == '<' || c == '~' || c == '_') escaped += '\\';
      escaped += c;
    }
    return escaped;
  }

  static std::string_view note(Then then) {
    switch (then) {
      case Then::MayFail: return "may fail";
      case Then::Jump: return "jumps";
      case Then::Return:
      case Then::Fail:
      case Then::Halt: return "ends the path";
      case Then::Next: break;
    }
    return {};
  }

  std::string text_;
};

}  // namespace

std::string opcodePage() { return PageWriter().run(); }

}  // namespace boxcar::interp
