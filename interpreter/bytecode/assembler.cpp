#include <boxcar/interpreter/bytecode/assembler.h>
#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/bytecode/bytecode_text.h>
#include <boxcar/interpreter/bytecode/constant_reader.h>
#include <boxcar/interpreter/bytecode/struct_layout.h>
#include <boxcar/interpreter/bytecode/verifier.h>
#include <boxcar/interpreter/syntax/line_cursor.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/schema/parse_schema.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar::interp {
namespace {

std::optional<Opcode> findOpcode(std::string_view name) {
  static const auto opcodes = [] {
    std::unordered_map<std::string_view, Opcode> result;
    for (size_t i = 0; i < kOpcodeCount; ++i) result.emplace(kOpcodes[i].name, static_cast<Opcode>(i));
    return result;
  }();
  const auto found = opcodes.find(name);
  if (found == opcodes.end()) return std::nullopt;
  return found->second;
}

// Returns " Did you mean 'x'?" from the names of the elements of [range].
template <class Range, class NameOf>
std::string suggestion(std::string_view name, const Range& range, NameOf nameOf) {
  std::vector<std::string_view> names;
  for (const auto& element : range) names.push_back(nameOf(element));
  return didYouMean(name, names);
}

class Assembler {
 public:
  explicit Assembler(SourcePtr text) : text_(std::move(text)), line_(text_, {}) {}

  CodeUnit run() {
    if (!nextLine() || line_.rest().substr(0, span_.end - span_.begin) != kBytecodeHeader) {
      line_.fail(span_, "the first line must be `{}`", kBytecodeHeader);
    }
    findLabels();
    bool has_ended = false;
    while (!has_ended) {
      if (!nextLine()) line_.fail(span_, "the text is cut off: its last line must be `end`");
      has_ended = readLine();
    }
    if (nextLine()) line_.fail(span_, "nothing may follow `end`");
    return finish();
  }

 private:
  // The lines of functions and their instructions, for the verifier's messages.
  struct FunctionLines {
    Span span;
    std::optional<size_t> source;
    std::vector<Span> code;
  };

  // ---- Lines ----

  // Moves to the next line that is neither empty nor a comment, or to the end of the text if there is none.
  bool nextLine() {
    while (next_ <= text_->text().size()) {
      rawLine();
      if (!line_.atEnd()) {
        span_.begin = line_.at();
        return true;
      }
    }
    const auto end = static_cast<uint32_t>(text_->text().size());
    span_ = {end, end};
    return false;
  }

  void rawLine() {
    const std::string_view text = text_->text();
    const size_t end = std::min(text.find('\n', next_), text.size());
    span_ = {static_cast<uint32_t>(next_), static_cast<uint32_t>(end)};
    line_ = LineCursor(text_, span_);
    next_ = end + 1;
    while (span_.end > span_.begin && (text[span_.end - 1] == '\r' || text[span_.end - 1] == ' ')) --span_.end;
  }

  // Returns true for the last line.
  bool readLine() {
    const char first = line_.peek();
    if (first >= '0' && first <= '9') {
      readInstruction();
      return false;
    }
    const uint32_t begin = line_.skipSpaces();
    const std::string_view word = line_.word();
    if (word == "end") {
      line_.needEnd();
      return true;
    }
    const auto kind = std::ranges::find(lineKinds(), word, &LineKind::word);
    if (kind == lineKinds().end()) failLine({begin, line_.at()});
    (this->*kind->read)();
    line_.needEnd();
    return false;
  }

  // What a line may begin with, and the function that reads the rest of it.
  struct LineKind {
    std::string_view word;
    void (Assembler::*read)();
  };
  static std::span<const LineKind> lineKinds() {
    static constexpr LineKind kinds[] = {
        {"struct", &Assembler::readStruct},
        {"field", &Assembler::readFieldLine},
        {"constant", &Assembler::readConstantLine},
        {"type", &Assembler::readTypeLine},
        {"site", &Assembler::readSite},
        {"dynamic", &Assembler::readDynamicSite},
        {"global", &Assembler::readGlobal},
        {"module", &Assembler::readModule},
        {"import", &Assembler::readImport},
        {"op", &Assembler::readOperator},
        {"export", &Assembler::readExport},
        {"handler", &Assembler::readHandler},
        {"scope", &Assembler::readScope},
        {"fn", &Assembler::readFunction},
        {"slots", &Assembler::readSlots},
        {"name", &Assembler::readSlotName},
        {"source", &Assembler::readSource},
    };
    return kinds;
  }

  [[noreturn]] void failLine(Span word) {
    const std::string hint = suggestion(text_->text(word), lineKinds(), [](const LineKind& kind) { return kind.word; });
    if (!hint.empty()) line_.fail(word, "no line begins with `{}`.{}", text_->text(word), hint);
    std::string words;
    for (const LineKind& kind : lineKinds()) words += fmt::format("{}, ", kind.word);
    line_.moveTo(word.begin);
    line_.failExpected(fmt::format("an instruction or what a line may begin with: {}end", words));
  }

  // ---- Structs ----

  // The types that a label can mean: a placeholder while structs are read, then the struct's type.
  class Labels final : public TypeNames {
   public:
    TypePtr find(std::string_view name) const override {
      const auto found = types.find(std::string(name));
      return found == types.end() ? nullptr : found->second;
    }
    bool qualifies(std::string_view) const override { return false; }
    std::vector<std::string_view> candidates() const override {
      std::vector<std::string_view> names;
      for (const auto& [name, type] : types) names.push_back(name);
      return names;
    }

    std::unordered_map<std::string, TypePtr> types;
  };

  // Structs refer to one another, so their labels are known before the first of them is read.
  void findLabels() {
    const std::string_view text = text_->text();
    for (size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size()) + 1) {
      LineCursor line(text_,
                      {static_cast<uint32_t>(at), static_cast<uint32_t>(std::min(text.find('\n', at), text.size()))});
      if (line.word() != "struct") continue;
      line.word();
      const std::string label(line.word());
      if (!label.empty() && labels_.types.emplace(label, nullptr).second) {
        labels_.types[label] = placeholderStruct(label_order_.size(), label);
        label_order_.push_back(label);
      }
    }
  }

  void readStruct() {
    readIndex("struct", unit_.structs.size());
    if (has_types_) line_.fail(span_, "the lines of structs come before all lines that name types");
    const uint32_t label_begin = line_.skipSpaces();
    const std::string label(line_.word());
    if (drafts_.size() >= label_order_.size() || label_order_[drafts_.size()] != label) {
      line_.fail({label_begin, line_.at()}, "another struct is called `{}`", label);
    }
    StructDraft draft{line_.take("called ") ? readName() : label, {}, {}};
    CodeStruct made;
    if (line_.take("of")) {
      made.origin = CodeStruct::Origin::Imported;
      made.module = readReference("module", spellingOf(Operand::Module).expected);
    } else if (line_.take("reached")) {
      made.origin = CodeStruct::Origin::Reached;
    } else if (!line_.take("declared")) {
      line_.failExpected("`declared`, `of module 0` or `reached`");
    }
    draft.source = readQuoted(line_);
    line_.need("(");
    while (!line_.take(")")) {
      if (!draft.fields.empty()) line_.need(",");
      StructField field;
      field.type = typeHere();
      field.name = readName();
      draft.fields.push_back(std::move(field));
      std::optional<IValue>& initial = made.defaults.emplace_back();
      if (line_.take("=")) initial = readConstant(line_);
    }
    if (made.origin == CodeStruct::Origin::Reached) made.defaults.clear();
    made.span = readOptionalSpan().value_or(Span{});
    drafts_.push_back(std::move(draft));
    add(UnitPart::Struct, unit_.structs, std::move(made));
  }

  // Makes the types of the structs, which have all been read.
  void finishStructs() {
    if (std::exchange(has_types_, true)) return;
    if (drafts_.size() < label_order_.size()) {
      line_.fail(span_, "the lines of structs come before all lines that name types");
    }
    const std::vector<const StructLayout*> layouts = makeStructs(drafts_);
    for (size_t i = 0; i < layouts.size(); ++i) {
      unit_.structs[i].type = layouts[i]->type;
      labels_.types[label_order_[i]] = layouts[i]->type;
    }
  }

  void readFieldLine() {
    readIndex("field", unit_.fields.size());
    const uint32_t begin = line_.skipSpaces();
    const TypePtr type = readType();
    const StructLayout* const layout = layoutOf(type);
    if (layout == nullptr) line_.fail({begin, line_.at()}, "{} is not a struct", *type);
    const uint32_t name_begin = line_.skipSpaces();
    const std::string name = readName();
    const auto index = layout->indexOf(name);
    if (!index) {
      line_.fail(
          {name_begin, line_.at()}, "{} has no field `{}`.{}", *type, name,
          suggestion(name, layout->fields, [](const StructField& each) -> std::string_view { return each.name; }));
    }
    unit_.fields.push_back({type, *index});
  }

  // ---- What functions share ----

  void readConstantLine() {
    readIndex("constant", unit_.constants.size());
    unit_.constants.push_back(readConstant(line_));
  }

  void readTypeLine() {
    readIndex("type", unit_.types.size());
    unit_.types.push_back(readType());
  }

  void readGlobal() {
    readIndex("global", unit_.globals.size());
    std::string name = readName();
    line_.need(":");
    unit_.globals.push_back({std::move(name), readType()});
  }

  // Things are numbered in order of appearance.
  void readIndex(std::string_view what, size_t expected) {
    const uint32_t begin = line_.skipSpaces();
    const auto index = line_.number<uint32_t>("the number of this " + std::string(what));
    if (index == expected) return;
    line_.fail({begin, line_.at()}, "this is {0} {1}, but its number is {2}{3}", what, expected, index,
               index < expected ? fmt::format("; there is a {} {} already", what, index) : "");
  }

  std::string readName() {
    if (line_.peek() == '"') return readQuoted(line_);
    const std::string_view name = line_.word();
    if (name.empty()) line_.failExpected("a name");
    return std::string(name);
  }

  Span readSpan() {
    const uint32_t begin = line_.skipSpaces();
    line_.need("@");
    Span span;
    span.begin = line_.number<uint32_t>("the first byte of a span");
    line_.need("..");
    span.end = line_.number<uint32_t>("the end of a span");
    if (span.end < span.begin) line_.fail({begin, line_.at()}, "this span ends before it begins");
    return span;
  }

  // Reads a span if there is one.
  std::optional<Span> readOptionalSpan() {
    if (line_.peek() != '@') return std::nullopt;
    return readSpan();
  }

  // Returns what [parse] makes of the text from here on; its errors point into this line.
  template <class Parse>
  auto readSchemaText(std::string_view text, Parse parse) {
    const uint32_t begin = line_.at();
    try {
      return parse(text);
    } catch (const SchemaError& error) {
      const auto at = static_cast<uint32_t>(begin + error.offset());
      line_.fail({at, static_cast<uint32_t>(at + error.length())}, "{}", error.reason());
    }
  }

  TypePtr readType() {
    finishStructs();
    return typeHere();
  }

  TypePtr typeHere() {
    line_.skipSpaces();
    const TypePrefix prefix =
        readSchemaText(line_.rest(), [this](std::string_view text) { return parseTypePrefix(text, &labels_); });
    line_.moveTo(static_cast<uint32_t>(line_.at() + prefix.length));
    return prefix.type;
  }

  void readSite() {
    readIndex("site", unit_.operator_sites.size());
    OperatorSite site;
    site.name = readOperatorName();
    site.arguments = line_.number<uint16_t>("the number of arguments");
    line_.need("->");
    site.results = line_.number<uint16_t>("the number of results");
    unit_.operator_sites.push_back(std::move(site));
  }

  void readDynamicSite() {
    readIndex("dynamic", unit_.dynamic_sites.size());
    DynamicSite site;
    const std::string_view name = line_.word(":.");
    if (name.empty()) line_.failExpected("the name of an operator");
    const size_t dot = name.find('.');
    site.name = name.substr(0, dot);
    if (dot != std::string_view::npos) site.overload = name.substr(dot + 1);
    line_.need("(");
    site.positional = line_.number<uint16_t>("the number of positional arguments");
    while (line_.take(",")) {
      site.keywords.push_back(readName());
      line_.need("=");
    }
    line_.need(")");
    unit_.dynamic_sites.push_back(std::move(site));
  }

  // ---- Declarations ----

  // [thing] is what the current line describes.
  template <class T>
  void add(UnitPart part, std::vector<T>& things, T thing) {
    linesOf(part).push_back(span_);
    things.push_back(std::move(thing));
  }
  std::vector<Span>& linesOf(UnitPart part) { return part_lines_[static_cast<size_t>(part)]; }

  // `fn 1`, `module 1` …
  uint32_t readReference(std::string_view word, std::string_view expected) {
    if (!line_.take(word)) line_.failExpected(expected);
    return line_.number<uint32_t>(fmt::format("the number of a {}", word));
  }
  uint32_t readFunctionReference() { return readReference("fn", spellingOf(Operand::Function).expected); }
  uint32_t readModuleReference() {
    line_.need("of");
    return readReference("module", spellingOf(Operand::Module).expected);
  }

  FunctionSchema readSchema() {
    finishStructs();
    line_.skipSpaces();
    SchemaPrefix prefix =
        readSchemaText(line_.rest(), [this](std::string_view text) { return parseSchemaPrefix(text, &labels_); });
    line_.moveTo(static_cast<uint32_t>(line_.at() + prefix.length));
    line_.need("=");
    return std::move(prefix.schema);
  }

  // `aten::add.Tensor`
  OperatorName readOperatorName() {
    const uint32_t begin = line_.skipSpaces();
    const std::string_view text = line_.word(":.");
    line_.moveTo(begin);
    OperatorName name = readSchemaText(text, parseName);
    line_.moveTo(static_cast<uint32_t>(begin + text.size()));
    return name;
  }

  DispatchKey readKey() {
    const uint32_t begin = line_.skipSpaces();
    const std::string_view name = line_.word();
    if (name.empty()) line_.failExpected("a dispatch key");
    try {
      return parseDispatchKey(name);
    } catch (const Error& error) {
      line_.fail({begin, line_.at()}, "{}", error.message());
    }
  }

  void readModule() {
    readIndex("module", unit_.modules.size());
    CodeModule module;
    module.path = readQuoted(line_);
    if (line_.take("as ")) module.alias = readName();
    module.span = readOptionalSpan().value_or(Span{});
    add(UnitPart::Module, unit_.modules, std::move(module));
  }

  void readImport() {
    readIndex("import", unit_.imports.size());
    CodeImport import;
    import.name = readName();
    import.module = readModuleReference();
    line_.need("(");
    while (!line_.take(")")) {
      if (!import.arguments.empty()) line_.need(",");
      import.arguments.push_back(readSlotKind());
    }
    line_.need("->");
    import.result = readSlotKind();
    add(UnitPart::Import, unit_.imports, std::move(import));
  }

  void readOperator() {
    CodeOperator op{readSchema(), std::nullopt, {}};
    if (line_.take("fn")) {
      op.function = line_.number<uint32_t>("the number of a function");
    } else if (!line_.take("declared")) {
      line_.failExpected("the operator's body, as in `fn 1`, or `declared`");
    }
    op.span = readOptionalSpan().value_or(Span{});
    add(UnitPart::Operator, unit_.operators, std::move(op));
  }

  void readExport() {
    CodeExport exported{readSchema(), readFunctionReference(), readOptionalSpan().value_or(Span{})};
    add(UnitPart::Export, unit_.exports, std::move(exported));
  }

  void readHandler() {
    readIndex("handler", unit_.handlers.size());
    CodeHandler handler;
    if (line_.take("impl")) {
      handler.kind = HandlerKind::Impl;
      handler.op = readOperatorName();
    } else if (line_.take("fallback")) {
      handler.kind = HandlerKind::Fallback;
    } else if (line_.take("mode")) {
      handler.name = readName();
    } else {
      line_.failExpected("impl, fallback or mode");
    }
    line_.need("@");
    handler.key = readKey();
    line_.need("=");
    handler.function = readFunctionReference();
    if (line_.take("exit")) handler.exit = readFunctionReference();
    handler.span = readOptionalSpan().value_or(Span{});
    add(UnitPart::Handler, unit_.handlers, std::move(handler));
  }

  void readScope() {
    readIndex("scope", unit_.scopes.size());
    CodeScope scope;
    if (line_.take("handler")) {
      scope.kind = CodeScopeKind::Mode;
      scope.index = line_.number<uint32_t>("the number of a handler");
    } else if (line_.take("mode")) {
      scope.kind = CodeScopeKind::ImportedMode;
      scope.name = readName();
      scope.index = readModuleReference();
    } else if (line_.take("include")) {
      scope.kind = CodeScopeKind::Include;
      scope.keys = readScopeKeys();
    } else if (line_.take("exclude")) {
      scope.kind = CodeScopeKind::Exclude;
      scope.keys = readScopeKeys();
    } else if (!line_.take("inference_mode")) {
      line_.failExpected("handler, mode, include, exclude or inference_mode");
    }
    add(UnitPart::Scope, unit_.scopes, std::move(scope));
  }

  DispatchKeySet readScopeKeys() {
    DispatchKeySet keys;
    do {
      const uint32_t begin = line_.skipSpaces();
      const DispatchKey key = readKey();
      if (key == DispatchKey::Undefined || toFunctionalityKey(key) != key) {
        line_.fail({begin, line_.at()}, "a scope has functionality keys, such as `Tracer`; `{}` is none", key);
      }
      keys = keys.add(key);
    } while (line_.take(","));
    return keys;
  }

  // ---- Functions ----

  CodeFunction& current(std::string_view what) {
    if (unit_.functions.empty()) line_.fail(span_, "{} must follow the `fn` line that it belongs to", what);
    return unit_.functions.back();
  }

  SlotKind readSlotKind() {
    constexpr SlotKind kKinds[] = {SlotKind::Int, SlotKind::Float, SlotKind::Bool, SlotKind::Value};
    const uint32_t begin = line_.skipSpaces();
    const std::string_view name = line_.word();
    for (const SlotKind kind : kKinds) {
      if (name == toString(kind)) return kind;
    }
    line_.moveTo(begin);
    line_.failExpected("Int, Float, Bool or Value");
  }

  void readFunction() {
    readIndex("fn", unit_.functions.size());
    CodeFunction function;
    FunctionLines lines{span_, {}, {}};
    function.name = readQuoted(line_);
    function.argument_count = line_.number<uint16_t>("the number of arguments");
    line_.need("->");
    function.result = readSlotKind();
    if (line_.take("source")) lines.source = line_.number<uint32_t>("the number of a source");
    function.span = readOptionalSpan().value_or(Span{});
    unit_.functions.push_back(std::move(function));
    function_lines_.push_back(std::move(lines));
  }

  void readSlots() {
    CodeFunction& function = current("slots");
    if (!function.slots.empty() || !function.code.empty()) {
      line_.fail(span_, "the slots of a function must be given once, before its code");
    }
    while (!line_.atEnd()) function.slots.push_back(readSlotKind());
  }

  void readSlotName() {
    SlotName& name = current("name").slot_names.emplace_back();
    name.slot = readSlot("a slot, as in `v0`");
    name.name = readName();
  }

  // Reads the number of an existing slot, written with the letter of its kind.
  uint16_t readSlot(std::string_view expected) {
    const CodeFunction& function = current("a slot");
    const uint32_t begin = line_.skipSpaces();
    const char letter = line_.peek();
    if (letter == '\0' || std::string_view("ifbv").find(letter) == std::string_view::npos) line_.failExpected(expected);
    line_.moveTo(begin + 1);
    if (line_.rest().empty() || line_.rest()[0] < '0' || line_.rest()[0] > '9') {
      line_.moveTo(begin);
      line_.failExpected(expected);
    }
    const auto slot = line_.number<uint32_t>("the number of a slot");
    if (slot >= function.slots.size()) {
      line_.fail({begin, line_.at()}, "there is no slot {}: the function has {}", slot, function.slots.size());
    }
    const SlotKind kind = function.slots[slot];
    if (slotLetter(kind) != letter) {
      line_.fail({begin, line_.at()}, "slot {} is of kind {}: write {}{}", slot, toString(kind), slotLetter(kind),
                 slot);
    }
    return static_cast<uint16_t>(slot);
  }

  void readInstruction() {
    CodeFunction& function = current("an instruction");
    readIndex("instruction", function.code.size());
    const uint32_t begin = line_.skipSpaces();
    const std::string_view name = line_.word();
    const auto op = findOpcode(name);
    if (!op) {
      if (name.empty()) line_.failExpected("the name of an opcode");
      line_.fail({begin, line_.at()}, "there is no opcode `{}`.{}", name,
                 suggestion(name, kOpcodes, [](const OpcodeInfo& opcode) { return opcode.name; }));
    }
    Instruction instruction{*op};
    uint16_t* const fields[] = {&instruction.a, &instruction.b, &instruction.c};
    bool is_first = true;
    for (size_t field = 0; field < 3; ++field) {
      const Operand operand = info(*op).operands[field];
      if (operand == Operand::None) continue;
      if (!std::exchange(is_first, false) && !line_.take(",")) {
        line_.failExpected(fmt::format("`,` and {}", spellingOf(operand).expected));
      }
      if (isWide(operand)) {
        instruction = Instruction::wide(*op, instruction.a, readWide(operand));
        break;
      }
      *fields[field] = readField(operand);
    }
    const uint32_t end = line_.at();
    const std::optional<Span> span = readOptionalSpan();
    line_.needEnd();
    function.code.push_back(instruction);
    function.spans.push_back(span.value_or(function.span));
    function_lines_.back().code.push_back({begin, end});
  }

  uint16_t readField(Operand operand) {
    const std::string_view expected = spellingOf(operand).expected;
    const uint32_t begin = line_.skipSpaces();
    switch (operand) {
      case Operand::Argument:
        if (!line_.take("#")) line_.failExpected(expected);
        return line_.number<uint16_t>("the position of an argument");
      case Operand::Immediate: return static_cast<uint16_t>(line_.number<int16_t>("an int"));
      case Operand::Divisor: {
        const auto divisor = line_.number<int16_t>("an int");
        if (divisor == 0) line_.fail({begin, line_.at()}, "expected {}, found `0`", expected);
        return static_cast<uint16_t>(divisor);
      }
      case Operand::BoolImmediate: return line_.number<uint16_t>("a bool", 0, 1);
      case Operand::Count:
      case Operand::ArgumentCount: return line_.number<uint16_t>("a number of values");
      case Operand::Type:
      case Operand::ListType:
        if (!line_.take("type")) line_.failExpected(expected);
        return line_.number<uint16_t>("the number of a type");
      case Operand::Struct:
        if (!line_.take("struct")) line_.failExpected(expected);
        return line_.number<uint16_t>("the number of a struct");
      case Operand::Field:
        if (!line_.take("field")) line_.failExpected(expected);
        return line_.number<uint16_t>("the number of a field");
      case Operand::Builtin: return readBuiltin(expected);
      case Operand::Target: return static_cast<uint16_t>(readTarget<int16_t>(expected));
      default: break;
    }
    const uint16_t slot = readSlot(expected);
    const std::string_view letters = spellingOf(operand).form;
    const char letter = slotLetter(unit_.functions.back().slots[slot]);
    if (operand != Operand::ResultOut && operand != Operand::RangeState && operand != Operand::EachState &&
        letters.find(letter) == std::string_view::npos) {
      line_.fail({begin, line_.at()}, "expected {}, found `{}{}`", expected, letter, slot);
    }
    return slot;
  }

  uint16_t readBuiltin(std::string_view expected) {
    const uint32_t begin = line_.skipSpaces();
    const std::string_view name = line_.word(":.");
    if (name.empty()) line_.failExpected(expected);
    if (const auto builtin = findBuiltin(name)) return *builtin;
    line_.fail({begin, line_.at()}, "there is no built-in `{}`.{}", name,
               suggestion(name, builtins(), [](const Builtin& builtin) { return builtin.name(); }));
  }

  int32_t readWide(Operand operand) {
    const std::string_view expected = spellingOf(operand).expected;
    switch (operand) {
      case Operand::WideImmediate: return line_.number<int32_t>("an int");
      case Operand::FarTarget: return readTarget<int32_t>(expected);
      default: break;
    }
    // `constant 3`, `fn 3`, `site 3` …: the word is the first one of the spelling.
    const std::string_view form = spellingOf(operand).form;
    const std::string_view word = form.substr(0, form.find(' '));
    return static_cast<int32_t>(readReference(word, expected));
  }

  // Reads the distance to an instruction, counted from the next one.
  template <class Offset>
  Offset readTarget(std::string_view expected) {
    const uint32_t begin = line_.skipSpaces();
    if (!line_.take("->")) line_.failExpected(expected);
    const auto place = line_.number<uint32_t>("the number of an instruction");
    const int64_t offset = int64_t{place} - static_cast<int64_t>(unit_.functions.back().code.size()) - 1;
    if (offset != static_cast<Offset>(offset)) {
      line_.fail({begin, line_.at()}, "instruction {} is too far away for this jump, which reaches {}", place,
                 std::numeric_limits<Offset>::max());
    }
    return static_cast<Offset>(offset);
  }

  // ---- Sources ----

  // The lines of the source's text follow, each after a `|`.
  void readSource() {
    readIndex("source", sources_.size());
    std::string name = readQuoted(line_);
    line_.needEnd();
    std::string text;
    bool is_first = true;
    while (next_ < text_->text().size() && text_->text()[next_] == '|') {
      rawLine();
      if (!std::exchange(is_first, false)) text += '\n';
      std::string_view line = line_.rest().substr(1);
      if (line.starts_with(' ')) line.remove_prefix(1);
      text += line;
    }
    sources_.push_back(Source::create(std::move(name), std::move(text)));
    line_.moveTo(line_.at() + static_cast<uint32_t>(line_.rest().size()));
  }

  CodeUnit finish() {
    finishStructs();
    // Without sources, everything comes from the lines of this text.
    const bool has_sources = !sources_.empty();
    if (!has_sources) sources_.push_back(text_);
    unit_.source = sources_[0];
    for (size_t i = 0; i < unit_.functions.size(); ++i) {
      CodeFunction& function = unit_.functions[i];
      const FunctionLines& lines = function_lines_[i];
      const size_t source = lines.source.value_or(0);
      if (source >= sources_.size()) line_.fail(lines.span, "there is no source {}", source);
      function.source = sources_[source];
      if (has_sources) continue;
      function.span = lines.span;
      function.spans = lines.code;
    }
    if (!has_sources) {
      const auto show = [this](UnitPart part, auto& things) {
        for (size_t i = 0; i < things.size(); ++i) things[i].span = linesOf(part)[i];
      };
      show(UnitPart::Module, unit_.modules);
      show(UnitPart::Operator, unit_.operators);
      show(UnitPart::Export, unit_.exports);
      show(UnitPart::Handler, unit_.handlers);
      show(UnitPart::Struct, unit_.structs);
    }
    try {
      verify(unit_);
    } catch (const BytecodeError& error) {
      line_.fail(lineOf(error.place()), "{}", error.message());
    }
    return std::move(unit_);
  }

  Span lineOf(const BytecodeError::Place& place) {
    if (place.part == UnitPart::Unit) return span_;
    if (place.part != UnitPart::Function) return linesOf(place.part)[place.index];
    const FunctionLines& lines = function_lines_[place.index];
    return place.instruction ? lines.code[*place.instruction] : lines.span;
  }

  SourcePtr text_;
  size_t next_ = 0;  // begin of the line after the current one
  LineCursor line_;
  Span span_;  // the current line
  CodeUnit unit_;
  std::vector<FunctionLines> function_lines_;
  std::array<std::vector<Span>, static_cast<size_t>(UnitPart::Struct) + 1> part_lines_;
  std::vector<SourcePtr> sources_;
  Labels labels_;
  std::vector<std::string> label_order_;
  std::vector<StructDraft> drafts_;
  bool has_types_ = false;  // the types of the structs are made
};

}  // namespace

CodeUnit assemble(SourcePtr text) { return Assembler(std::move(text)).run(); }

}  // namespace boxcar::interp
