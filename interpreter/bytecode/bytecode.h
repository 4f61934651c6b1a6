#pragma once

// Compiled scripts: codegen emits them, the verifier checks them, the machine runs them.

#include <boxcar/interpreter/bytecode/opcodes.h>
#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/type.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::interp {

// 8 bytes: the opcode and three fields, two of which may be one wide number.
struct Instruction {
  Opcode op;
  uint16_t a = 0;
  uint16_t b = 0;
  uint16_t c = 0;

  static constexpr Instruction wide(Opcode op, uint16_t a, int32_t number) noexcept {
    const auto bits = static_cast<uint32_t>(number);
    return {op, a, static_cast<uint16_t>(bits), static_cast<uint16_t>(bits >> 16)};
  }
  constexpr int32_t wide() const noexcept { return static_cast<int32_t>(b | static_cast<uint32_t>(c) << 16); }
  constexpr uint32_t index() const noexcept { return b | static_cast<uint32_t>(c) << 16; }

  friend bool operator==(const Instruction&, const Instruction&) = default;
};
static_assert(sizeof(Instruction) == 8);

// Returns the kind of slot that holds values of type [type].
SlotKind slotKindOf(TypePtr type) noexcept;

// A variable as debuggers and disassemblies show it. Several variables may use one slot, one after the other.
struct SlotName {
  std::string name;
  uint16_t slot;
};

struct CodeFunction {
  std::string name;
  SourcePtr source;
  Span span;                    // the declaration
  std::vector<SlotKind> slots;  // arguments first
  uint16_t argument_count = 0;
  // The kind that Return returns. A function without results returns the Value None, one with several returns a tuple.
  SlotKind result = SlotKind::Value;
  std::vector<Instruction> code;
  std::vector<Span> spans;  // of each instruction
  std::vector<SlotName> slot_names;
};

// A call of one operator.
struct OperatorSite {
  OperatorName name;
  uint16_t arguments = 0;
  uint16_t results = 0;
};

// A call whose overload is chosen at run time, among the defined overloads called [name] or, if [overload] is set, that
// one. The stack holds the arguments as written, positional ones first; overload resolution brings them into the
// schema's order, fills in defaults and converts. The call leaves one value: None, the result, or a tuple of several
// results.
struct DynamicSite {
  std::string name;  // "aten::add"
  std::optional<std::string> overload;
  uint16_t positional = 0;
  std::vector<std::string> keywords;

  size_t arguments() const noexcept { return positional + keywords.size(); }
};

// An operator that the script declares; [function] is its body.
struct CodeOperator {
  FunctionSchema schema;
  std::optional<uint32_t> function;
  Span span;
};

struct CodeGlobal {
  std::string name;
  TypePtr type;
};

// A function that the script declares with `fn`, for callers that look it up by name.
struct CodeExport {
  FunctionSchema schema;
  uint32_t function = 0;
  Span span;
};

// Returns the name that imports use: `f`, or `Struct.method`.
inline std::string exportedName(const CodeExport& exported) { return toString(exported.schema.operator_name()); }
inline bool isMethod(const CodeExport& exported) { return !exported.schema.overload_name().empty(); }

// A struct whose type the unit knows: one that the script declares, one that it imports, or one that a field or a
// signature of these leads to.
struct CodeStruct {
  enum class Origin : uint8_t { Declared, Imported, Reached };

  TypePtr type = nullptr;
  Origin origin = Origin::Declared;
  uint32_t module = 0;                          // of an imported struct: which declares it
  std::vector<std::optional<IValue>> defaults;  // by field, each of its type; those of a reached struct are not known
  Span span;
};

// A field that instructions read or set.
struct CodeField {
  TypePtr type = nullptr;  // of the struct
  uint16_t index = 0;

  friend bool operator==(const CodeField&, const CodeField&) = default;
};

enum class HandlerKind : uint8_t { Impl, Fallback, Mode };

// A body that handles calls of operators. Bodies of fallbacks and modes take the operator and the list of its
// arguments, and return the list of results. The body of an impl takes the schema's arguments followed by these two,
// and returns what an operator's body returns.
struct CodeHandler {
  HandlerKind kind = HandlerKind::Mode;
  DispatchKey key = DispatchKey::Undefined;
  OperatorName op;   // of an impl
  std::string name;  // of a mode
  uint32_t function = 0;
  std::optional<uint32_t> exit;  // of a mode: runs when its scope ends
  Span span;
};

enum class CodeScopeKind : uint8_t { Mode, ImportedMode, Include, Exclude, InferenceMode };

// One scope that a `with` opens.
struct CodeScope {
  CodeScopeKind kind = CodeScopeKind::InferenceMode;
  uint32_t index = 0;   // of the mode's handler; for an imported mode, of the module
  std::string name;     // of an imported mode
  DispatchKeySet keys;  // to include or exclude
};

// Whether an imported file is a plugin.
constexpr bool isPluginPath(std::string_view path) noexcept { return path.ends_with(".so"); }

// A file that the script imports, spelled as in the script: another script or a plugin.
struct CodeModule {
  std::string path;
  Span span;
  std::string alias = {};  // `import … as alias`: the script has the file to itself; empty if it shares it
};

// A function of another script that this one calls.
struct CodeImport {
  uint32_t module = 0;
  std::string name;
  std::vector<SlotKind> arguments;
  SlotKind result = SlotKind::Value;
};

// The name of the function that holds a script's statements.
inline constexpr const char* kScriptName = "<script>";
// How the names of scripts begin that are part of the program, and so are in no folder.
inline constexpr std::string_view kLibraryFolder = "<boxcar>/";

// A compiled script. Its statements are functions[0]; their only possible argument is the list argv.
struct CodeUnit {
  SourcePtr source;
  std::vector<CodeFunction> functions;
  std::vector<IValue> constants;
  std::vector<TypePtr> types;
  std::vector<OperatorSite> operator_sites;
  std::vector<DynamicSite> dynamic_sites;
  std::vector<CodeGlobal> globals;  // constants of the script, each set once
  std::vector<CodeOperator> operators;
  std::vector<CodeExport> exports;  // methods are called `Struct.method`
  std::vector<CodeStruct> structs;
  std::vector<CodeField> fields;
  std::vector<CodeHandler> handlers;
  std::vector<CodeScope> scopes;
  std::vector<CodeModule> modules;
  std::vector<CodeImport> imports;
  bool takes_variables = false;  // an input of a session: its statements take any number of Values
};

}  // namespace boxcar::interp
