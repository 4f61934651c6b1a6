#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/bytecode/bytecode_text.h>
#include <boxcar/interpreter/bytecode/disassembler.h>
#include <boxcar/interpreter/bytecode/struct_layout.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar::interp {
namespace {

// The columns of the span after an instruction's operands, and of the comment after the span.
constexpr size_t kSpanColumn = 44;
constexpr size_t kCommentColumn = 59;

void padTo(std::string& line, size_t column) { line.resize(std::max(line.size() + 1, column), ' '); }

class Disassembler {
 public:
  explicit Disassembler(const CodeUnit& unit) : unit_(unit) {}

  std::string runOne(size_t index) {
    writeFunction(index);
    text_.erase(0, 1);
    return std::move(text_);
  }

  std::string run() {
    collectSources();
    labelStructs();
    write("{}\n", kBytecodeHeader);
    for (size_t i = 0; i < unit_.structs.size(); ++i) writeStruct(i);
    for (size_t i = 0; i < unit_.fields.size(); ++i) {
      const CodeField& field = unit_.fields[i];
      write("field {} {} {}\n", i, typeText(field.type), nameText(layoutOf(field.type)->fields[field.index].name));
    }
    for (size_t i = 0; i < unit_.constants.size(); ++i) write("constant {} {}\n", i, constantText(unit_.constants[i]));
    for (size_t i = 0; i < unit_.types.size(); ++i) write("type {} {}\n", i, typeText(unit_.types[i]));
    for (size_t i = 0; i < unit_.operator_sites.size(); ++i) {
      const OperatorSite& site = unit_.operator_sites[i];
      write("site {} {} {} -> {}\n", i, site.name, site.arguments, site.results);
    }
    for (size_t i = 0; i < unit_.dynamic_sites.size(); ++i) writeDynamicSite(i);
    for (size_t i = 0; i < unit_.globals.size(); ++i) {
      write("global {} {}: {}\n", i, nameText(unit_.globals[i].name), typeText(unit_.globals[i].type));
    }
    for (size_t i = 0; i < unit_.modules.size(); ++i) {
      const CodeModule& module = unit_.modules[i];
      const std::string alias = module.alias.empty() ? "" : " as " + nameText(module.alias);
      write("module {} {}{} {}\n", i, quotedText(module.path), alias, spanText(module.span));
    }
    for (size_t i = 0; i < unit_.imports.size(); ++i) writeImport(i);
    for (const CodeOperator& op : unit_.operators) {
      write("op {} = ", op.schema);
      op.function ? write("fn {}", *op.function) : write("declared");
      write(" {}\n", spanText(op.span));
    }
    for (const CodeExport& exported : unit_.exports) {
      write("export {} = fn {} {}\n", labelled(exported.schema), exported.function, spanText(exported.span));
    }
    for (size_t i = 0; i < unit_.handlers.size(); ++i) writeHandler(i);
    for (size_t i = 0; i < unit_.scopes.size(); ++i) write("scope {} {}\n", i, scopeText(unit_.scopes[i]));
    for (size_t i = 0; i < unit_.functions.size(); ++i) writeFunction(i);
    for (size_t i = 0; i < sources_.size(); ++i) writeSource(i);
    write("end\n");
    return std::move(text_);
  }

 private:
  template <class... Args>
  void write(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...);
  }

  // The unit's source first, then those of functions from elsewhere.
  void collectSources() {
    sources_.push_back(unit_.source.get());
    for (const CodeFunction& function : unit_.functions) {
      if (std::ranges::find(sources_, function.source.get()) == sources_.end())
        sources_.push_back(function.source.get());
    }
  }
  size_t sourceOf(const CodeFunction& function) const {
    return static_cast<size_t>(std::ranges::find(sources_, function.source.get()) - sources_.begin());
  }

  // Written verbatim after all code: a last line without a line break and carriage returns can be read back, too.
  void writeSource(size_t index) {
    write("\nsource {} {}\n", index, quotedText(sources_[index]->name()));
    std::string_view text = sources_[index]->text();
    for (;;) {
      const size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      write("|{}{}\n", line.empty() ? "" : " ", line);
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
    }
  }

  // Structs of one name get different labels.
  void labelStructs() {
    std::vector<std::string> used;
    for (const CodeStruct& each : unit_.structs) {
      const std::string name(each.type->text());
      std::string label = name;
      for (size_t i = 2; std::ranges::find(used, label) != used.end(); ++i) label = fmt::format("{}_{}", name, i);
      if (label != name) labels_.emplace(each.type, placeholderStruct(used.size(), label));
      used.push_back(std::move(label));
    }
  }

  // Returns [type] with labels instead of the names of structs.
  TypePtr labelled(TypePtr type) const {
    return replaceStructs(type, [this](TypePtr each) {
      const auto found = labels_.find(each);
      return found == labels_.end() ? each : found->second;
    });
  }
  FunctionSchema labelled(const FunctionSchema& schema) const {
    if (labels_.empty()) return schema;
    const auto all = [this](const std::vector<Argument>& arguments) {
      std::vector<Argument> result;
      for (const Argument& each : arguments) {
        result.emplace_back(each.name(), labelled(each.type()), each.N(), each.default_value(), each.kwarg_only(),
                            each.alias_info());
      }
      return result;
    };
    return {schema.operator_name(), all(schema.arguments()), all(schema.returns()), schema.is_vararg(),
            schema.is_varret()};
  }
  std::string typeText(TypePtr type) const { return std::string(labelled(type)->text()); }

  void writeStruct(size_t index) {
    const CodeStruct& each = unit_.structs[index];
    const StructLayout& layout = *layoutOf(each.type);
    write("struct {} {}", index, typeText(each.type));
    if (labels_.contains(each.type)) write(" called {}", layout.name);
    switch (each.origin) {
      case CodeStruct::Origin::Declared: write(" declared"); break;
      case CodeStruct::Origin::Imported: write(" of module {}", each.module); break;
      case CodeStruct::Origin::Reached: write(" reached"); break;
    }
    write(" {} (", quotedText(layout.source));
    for (size_t i = 0; i < layout.fields.size(); ++i) {
      write("{}{} {}", i == 0 ? "" : ", ", typeText(layout.fields[i].type), nameText(layout.fields[i].name));
      if (i < each.defaults.size() && each.defaults[i]) write(" = {}", constantText(*each.defaults[i]));
    }
    write(") {}\n", spanText(each.span));
  }

  static std::string fieldText(const CodeField& field) {
    const StructLayout& layout = *layoutOf(field.type);
    return fmt::format("{}.{}", layout.name, layout.fields[field.index].name);
  }

  static std::string spanText(Span span) { return fmt::format("@{}..{}", span.begin, span.end); }

  void writeDynamicSite(size_t index) {
    const DynamicSite& site = unit_.dynamic_sites[index];
    write("dynamic {} {}", index, site.name);
    if (site.overload) write(".{}", *site.overload);
    write(" ({}", site.positional);
    for (const std::string& keyword : site.keywords) write(", {}=", nameText(keyword));
    write(")\n");
  }

  void writeImport(size_t index) {
    const CodeImport& import = unit_.imports[index];
    write("import {} {} of module {} (", index, nameText(import.name), import.module);
    for (size_t i = 0; i < import.arguments.size(); ++i)
      write("{}{}", i == 0 ? "" : ", ", toString(import.arguments[i]));
    write(") -> {}\n", toString(import.result));
  }

  void writeHandler(size_t index) {
    const CodeHandler& handler = unit_.handlers[index];
    write("handler {} {} = fn {}", index, handlerText(handler), handler.function);
    if (handler.exit) write(" exit fn {}", *handler.exit);
    write(" {}\n", spanText(handler.span));
  }

  static std::string handlerText(const CodeHandler& handler) {
    switch (handler.kind) {
      case HandlerKind::Impl: return fmt::format("impl {} @ {}", handler.op, handler.key);
      case HandlerKind::Fallback: return fmt::format("fallback @ {}", handler.key);
      case HandlerKind::Mode: break;
    }
    return fmt::format("mode {} @ {}", nameText(handler.name), handler.key);
  }

  static std::string scopeText(const CodeScope& scope) {
    switch (scope.kind) {
      case CodeScopeKind::Mode: return fmt::format("handler {}", scope.index);
      case CodeScopeKind::ImportedMode: return fmt::format("mode {} of module {}", nameText(scope.name), scope.index);
      case CodeScopeKind::Include: return "include " + keysText(scope.keys);
      case CodeScopeKind::Exclude: return "exclude " + keysText(scope.keys);
      case CodeScopeKind::InferenceMode: break;
    }
    return "inference_mode";
  }

  static std::string keysText(DispatchKeySet keys) {
    std::string text;
    for (uint16_t i = 1; i < num_functionality_keys; ++i) {
      const auto key = static_cast<DispatchKey>(i);
      if (keys.has(key)) text += fmt::format("{}{}", text.empty() ? "" : ", ", key);
    }
    return text;
  }

  void writeFunction(size_t index) {
    const CodeFunction& function = unit_.functions[index];
    const size_t source = sourceOf(function);
    write("\nfn {} {} {} -> {}{} {}\n", index, quotedText(function.name), function.argument_count,
          toString(function.result), source == 0 ? "" : fmt::format(" source {}", source), spanText(function.span));
    if (!function.slots.empty()) {
      write("  slots");
      for (const SlotKind kind : function.slots) write(" {}", toString(kind));
      write("\n");
    }
    for (const SlotName& name : function.slot_names) {
      write("  name {}{} {}\n", slotLetter(function.slots[name.slot]), name.slot, nameText(name.name));
    }
    uint32_t last_line = 0;
    for (size_t i = 0; i < function.code.size(); ++i) {
      const uint32_t line = function.source->position(function.spans[i].begin).line;
      if (line != last_line) {
        write("; {}:{}: {}\n", function.source->name(), line, utf8::withoutSpaces(function.source->line(line)));
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
      case Operand::Struct: comment = unit_.structs[field].type->text(); return fmt::format("struct {}", field);
      case Operand::Field: comment = fieldText(unit_.fields[field]); return fmt::format("field {}", field);
      case Operand::Builtin: return std::string(builtins()[field].name());
      case Operand::Target: return fmt::format("-> {}", static_cast<int64_t>(at) + 1 + static_cast<int16_t>(field));
      case Operand::WideImmediate: return std::to_string(instruction.wide());
      case Operand::IntConstant:
      case Operand::FloatConstant:
      case Operand::Constant: comment = constantText(unit_.constants[index]); return fmt::format("constant {}", index);
      case Operand::Function: comment = firstLine(unit_.functions[index].name); return fmt::format("fn {}", index);
      case Operand::OperatorSite:
        comment = toString(unit_.operator_sites[index].name);
        return fmt::format("site {}", index);
      case Operand::DynamicSite: comment = unit_.dynamic_sites[index].name; return fmt::format("dynamic {}", index);
      case Operand::Module: comment = quotedText(unit_.modules[index].path); return fmt::format("module {}", index);
      case Operand::ImportedFunction:
        comment = nameText(unit_.imports[index].name);
        return fmt::format("import {}", index);
      case Operand::Scope: comment = scopeComment(unit_.scopes[index]); return fmt::format("scope {}", index);
      case Operand::Handler: comment = handlerText(unit_.handlers[index]); return fmt::format("handler {}", index);
      case Operand::Global: comment = nameText(unit_.globals[index].name); return fmt::format("global {}", index);
      case Operand::FarTarget: return fmt::format("-> {}", static_cast<int64_t>(at) + 1 + instruction.wide());
      default: return fmt::format("{}{}", slotLetter(function.slots[field]), field);
    }
  }

  std::string scopeComment(const CodeScope& scope) const {
    return scope.kind == CodeScopeKind::Mode ? handlerText(unit_.handlers[scope.index]) : scopeText(scope);
  }

  static std::string firstLine(std::string text) {
    const size_t end = text.find('\n');
    if (end != std::string::npos) text.resize(end);
    return text;
  }

  const CodeUnit& unit_;
  std::vector<const Source*> sources_;
  std::unordered_map<TypePtr, TypePtr> labels_;  // of structs whose name another struct has
  std::string text_;
};

}  // namespace

std::string disassemble(const CodeUnit& unit) { return Disassembler(unit).run(); }

std::string disassembleFunction(const CodeUnit& unit, size_t index) { return Disassembler(unit).runOne(index); }

}  // namespace boxcar::interp
