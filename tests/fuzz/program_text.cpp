#include "tests/fuzz/program_text.h"

#include <boxcar/dispatcher/registry/dispatcher.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace boxcar::fuzz {
namespace {

constexpr size_t kMostStatements = 40;
constexpr size_t kDeepestBlock = 3;
constexpr size_t kDeepestExpression = 3;

constexpr std::array<std::string_view, 9> kTypes = {
    "int", "float", "bool", "str", "Tensor", "int[]", "Tensor[]", "Dict(str, Tensor)", "Any"};
// The first ones are ordinary.
constexpr std::array<std::string_view, 16> kInts = {"0",
                                                    "1",
                                                    "2",
                                                    "3",
                                                    "4",
                                                    "-1",
                                                    "-2",
                                                    "5",
                                                    "7",
                                                    "16",
                                                    "1000",
                                                    "2147483648",
                                                    "4294967297",
                                                    "9223372036854775807",
                                                    "-9223372036854775807",
                                                    "-(2 ** 63)"};
constexpr std::array<std::string_view, 11> kFloats = {"0.5", "1.0",  "-2.5",   "0.0",   "3.0", "-0.0",
                                                      "nan", "-inf", "1e-320", "1e308", "inf"};
constexpr std::array<std::string_view, 14> kTexts = {
    "''",    "'a'",      "'sum'",  "'mean'", "'ij,jk->ik'", "'reflect'", "'cpu'",
    "'fro'", "'\\n\\0'", "'meta'", "'none'", "'cuda:0'",    "'floor'",   "'\\U0001F600 {x}'"};
constexpr std::array<std::string_view, 13> kDtypes = {"float32",   "int64",      "bool",  "float64", "int32",
                                                      "uint8",     "int8",       "int16", "float16", "bfloat16",
                                                      "complex64", "complex128", "None"};
constexpr std::array<std::string_view, 6> kFiles = {"'a.safetensors'", "'../a.npy'", "'/etc/passwd'", "''", "'.'",
                                                    "'a\\0b'"};
constexpr std::array<std::string_view, 13> kScopes = {
    "check_nan()",     "check_schema()",  "check_meta()",      "memory()",
    "cost()",          "deny('aten::*')", "inject('aten::*')", "inference_mode()",
    "include(Tracer)", "exclude(Dense)",  "trace('t.ops')",    "include(AutogradFunctionality)",
    "fake('cuda')"};
constexpr std::array<std::string_view, 7> kKeys = {
    "CPU", "Tracer", "CompositeExplicitAutograd", "Autograd", "Meta", "CompositeImplicitAutograd", "Undefined"};

// All operators except those that scripts define, always in the same order.
const std::vector<OperatorHandle>& operators() {
  static const std::vector<OperatorHandle>& all = *[] {
    auto* found = new std::vector<OperatorHandle>;
    std::vector<OperatorName> names = Dispatcher::singleton().getAllOpNames();
    std::ranges::sort(names, {}, [](const OperatorName& name) { return toString(name); });
    for (const OperatorName& name : names) {
      if (const auto op = Dispatcher::singleton().findSchema(name); op && name.name.starts_with("aten::"))
        found->push_back(*op);
    }
    return found;
  }();
  return all;
}

}  // namespace

std::vector<std::string> ProgramText::write() {
  std::vector<std::string> pieces;
  const auto take = [&] { pieces.push_back(std::exchange(text_, {})); };
  line("fn hide(Any x) -> Any { return x }");
  take();
  for (size_t count = below_(5); count > 0; --count) declaration(), take();
  for (size_t count = below_(12) + 1; count > 0; --count) statement(0), take();
  return pieces;
}

void ProgramText::line(const std::string& text) { text_ += std::string(indent_ * 4, ' ') + text + "\n"; }

// ---- declarations ----

void ProgramText::declaration() {
  const size_t number = names_++;
  switch (below_(7)) {
    case 0: return signatureAndBody(fmt::format("fn f{}", number));
    case 1: return signatureAndBody(fmt::format("op fuzz::o{}", number));
    case 2: {
      const Kind kind = anyKind();
      line(fmt::format("const c{} = {}", number, expression(kind, 1)));
      variables_.push_back({fmt::format("c{}", number), kind});
      return;
    }
    case 3:
      modes_.push_back(fmt::format("m{}", number));
      line(fmt::format("mode m{}{} {{", number, oneIn(4) ? " @ Python" : ""));
      handlerBody();
      line("}");
      if (oneIn(2)) text_.insert(text_.size() - 1, " exit { print('exit') }");
      return;
    case 4:
      line(fmt::format("op fuzz::d{}(Tensor x, int n=1) -> Tensor", number));
      line(fmt::format("impl fuzz::d{} @ {} {{ return x + n }}", number, oneOf(kKeys)));
      functions_.emplace_back(fmt::format("fuzz::d{}", number), std::vector{Kind::Tensor, Kind::Tensor, Kind::Int});
      return;
    case 5:
      line("fallback @ Tracer {");
      handlerBody();
      line("}");
      return;
    default: line(oneIn(4) ? fmt::format("import {}", oneOf(kFiles)) : "use aten"); return;
  }
}

void ProgramText::signatureAndBody(const std::string& head) {
  std::vector<Kind> kinds = {anyKind()};
  // A function sees only constants from outside, and no others exist while declarations are written.
  const size_t known = variables_.size();
  std::string arguments;
  for (size_t i = 0, count = below_(4); i < count; ++i) {
    const Kind kind = anyKind();
    kinds.push_back(kind);
    arguments += fmt::format("{}{} a{}", i == 0 ? "" : ", ", kTypes[static_cast<size_t>(kind)], i);
    variables_.push_back({fmt::format("a{}", i), kind});
  }
  const Kind result = kinds[0];
  functions_.emplace_back(head.substr(3), std::move(kinds));
  line(fmt::format("{}({}) -> {} {{", head, arguments, kTypes[static_cast<size_t>(result)]));
  block(1);
  ++indent_;
  line("return " + expression(result, 1));
  --indent_;
  line("}");
  variables_.resize(known);
}

void ProgramText::handlerBody() {
  ++indent_;
  switch (below_(6)) {
    case 0: line("return redispatch(op, args)"); break;
    case 1: line("return redispatch(op, args, nested=True)"); break;
    case 2:
      line("r = redispatch(op, args)");
      line("if len(r) > 0 { if isinstance(r[0], Tensor) { return [" + oneOf(std::array{"r[0]", "r[0] * 2", "None"}) +
           "] } }");
      line("return r");
      break;
    case 3: line("return args"); break;
    case 4: line("return [" + expression(anyKind(), 1) + "]"); break;
    default: line("args[" + oneOf(kInts) + "] = " + expression(anyKind(), 1)); line("return redispatch(op, args)");
  }
  --indent_;
}

// ---- statements ----

void ProgramText::block(size_t depth) {
  const size_t known = variables_.size();
  ++indent_;
  for (size_t count = below_(4); count > 0; --count) statement(depth + 1);
  --indent_;
  variables_.resize(known);
}

void ProgramText::statement(size_t depth) {
  if (++statements_ > kMostStatements) return;
  const size_t kinds = depth < kDeepestBlock ? 12 : 8;
  switch (below_(kinds)) {
    case 0:
    case 1:
    case 2: return assignment();
    case 3: return line("print(" + expression(anyKind(), 0) + ", " + expression(anyKind(), 1) + ")");
    case 4: return line(operatorCall(0));
    case 5: {
      const std::string target = variable(Kind::Tensor);
      if (target.empty()) return assignment();
      return line(target + "[" + index(1) + "] = " + (oneIn(2) ? number(1) : tensor(1)));
    }
    case 6: {
      const std::string target = variable(oneIn(2) ? Kind::Tensors : Kind::Ints);
      if (target.empty()) return assignment();
      static constexpr std::array kCalls = {"append({})", "extend([{}, {}])", "insert({}, {})", "pop({})",
                                            "sort()",     "reverse()",        "index({})",      "pop()"};
      return line(target + "." +
                  fmt::format(fmt::runtime(kCalls[below_(kCalls.size())]), expression(anyKind(), 1), number(1)));
    }
    case 7:
      if (loops_ > 0 && oneIn(3)) return line(oneIn(2) ? "if " + expression(Kind::Bool, 1) + " { break }" : "continue");
      return line(file(0));
    case 8:
      line("if " + expression(anyKind(), 0) + " {");
      block(depth);
      if (oneIn(2)) {
        line("} elif " + expression(Kind::Bool, 1) + " {");
        block(depth);
      }
      line("} else {");
      block(depth);
      return line("}");
    case 9:
    case 10: return loop(depth);
    default: return scoped(depth);
  }
}

void ProgramText::assignment() {
  const Kind kind = anyKind();
  if (const std::string old = variable(kind); !old.empty() && !old.starts_with('c') && oneIn(3)) {
    static constexpr std::array kSigns = {"+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "<<="};
    return line(old + " " + oneOf(kSigns) + " " + expression(kind, 0));
  }
  const std::string name = fmt::format("v{}", names_++);
  const bool is_typed = oneIn(4) || kind == Kind::Any;
  line(fmt::format("{}{} = {}", name, is_typed ? fmt::format(": {}", kTypes[static_cast<size_t>(kind)]) : "",
                   expression(kind, 0)));
  variables_.push_back({name, kind});
}

void ProgramText::loop(size_t depth) {
  const std::string name = fmt::format("i{}", names_++);
  const size_t known = variables_.size();
  ++loops_;
  switch (below_(5)) {
    case 0:
      line(fmt::format("for {} in range({}) {{", name, expression(Kind::Int, 1)));
      variables_.push_back({name, Kind::Int});
      break;
    case 1:
      line(fmt::format("for {} in {} {{", name, tensor(1)));
      variables_.push_back({name, Kind::Tensor});
      break;
    case 2:
      line(fmt::format("for {} in {} {{", name, hidden(1)));
      variables_.push_back({name, Kind::Any});
      break;
    case 3:
      line(fmt::format("for {0}, w{0} in enumerate({1}) {{", name, ints(1)));
      variables_.push_back({name, Kind::Int});
      break;
    default: line("while " + expression(Kind::Bool, 0) + " {");
  }
  block(depth);
  variables_.resize(known);
  --loops_;
  line("}");
}

void ProgramText::scoped(size_t depth) {
  std::string scopes = !modes_.empty() && oneIn(2) ? oneOf(modes_) : oneOf(kScopes);
  if (oneIn(4)) scopes += ", " + oneOf(kScopes);
  line("with " + scopes + " {");
  block(depth);
  line("}");
}

// ---- expressions ----

std::string ProgramText::variable(Kind kind) {
  std::vector<const Name*> found;
  for (const Name& name : variables_) {
    if (name.kind == kind) found.push_back(&name);
  }
  return found.empty() ? "" : found[below_(found.size())]->text;
}

std::string ProgramText::number(size_t depth) {
  if (depth >= kDeepestExpression) return oneIn(4) ? oneOf(kFloats) : oneOf(kInts);
  return expression(oneIn(4) ? Kind::Float : Kind::Int, depth + 1);
}

std::string ProgramText::hidden(size_t depth) { return "hide(" + expression(anyKind(), depth) + ")"; }

std::string ProgramText::expression(Kind kind, size_t depth) {
  if (oneIn(2)) {
    if (std::string name = variable(kind); !name.empty()) return name;
  }
  if (depth < kDeepestExpression && oneIn(8)) {
    if (std::string call = functionCall(kind, depth + 1); !call.empty()) return call;
  }
  const bool is_leaf = depth >= kDeepestExpression;
  switch (kind) {
    case Kind::Int:
      switch (is_leaf ? 0 : below_(7)) {
        case 0:
        case 1: return oneOf(kInts);
        case 2: {
          static constexpr std::array kSigns = {"+", "-", "*", "//", "%", "**", "&", "|", "^", "<<", ">>"};
          const std::string left = expression(kind, depth + 1), sign = oneOf(kSigns);
          return "(" + left + " " + sign + " " + expression(kind, depth + 1) + ")";
        }
        case 3: return "len(" + hidden(depth + 1) + ")";
        case 4: return "int(" + hidden(depth + 1) + ")";
        case 5: return ints(depth + 1) + "[" + expression(kind, depth + 1) + "]";
        default: return tensor(depth + 1) + ".size(" + expression(kind, depth + 1) + ")";
      }
    case Kind::Float:
      if (is_leaf || !oneIn(3)) return oneOf(kFloats);
      return oneIn(2) ? "float(" + hidden(depth + 1) + ")" : "math::sqrt(" + expression(kind, depth + 1) + ")";
    case Kind::Bool: {
      if (is_leaf) return oneIn(2) ? "True" : "False";
      static constexpr std::array kSigns = {"==", "!=", "<", ">=", "in", "is", "and", "or"};
      const Kind compared = anyKind();
      const std::string left = oneIn(2) ? hidden(depth + 1) : expression(compared, depth + 1), sign = oneOf(kSigns);
      return "(" + left + " " + sign + " " + expression(compared, depth + 1) + ")";
    }
    case Kind::Str: return text(depth);
    case Kind::Tensor: return tensor(depth);
    case Kind::Ints: return ints(depth);
    case Kind::Tensors: {
      std::string list;
      for (size_t count = below_(4); count > 0; --count) list += tensor(depth + 1) + ", ";
      if (list.empty()) return is_leaf ? "[ones(2)]" : "[" + tensor(depth + 1) + " for q in range(2)]";
      return "[" + list + "]";
    }
    case Kind::Dict:
      return "({" + text(depth + 1) + ": " + tensor(depth + 1) + (oneIn(2) ? ", 'k': " + tensor(depth + 1) : "") + "})";
    case Kind::Any: return is_leaf ? "None" : expression(anyKind(), depth + 1);
  }
  return "None";
}

std::string ProgramText::text(size_t depth) {
  if (depth >= kDeepestExpression) return oneOf(kTexts);
  switch (below_(6)) {
    case 0: return "str(" + expression(anyKind(), depth + 1) + ")";
    case 1: {
      static constexpr std::array kSpecs = {"", ":>9", ":.2f", ":06d", ":x", ":,", ":*^400", ":.3e", ":.999f"};
      const std::string value = oneIn(2) ? expression(Kind::Int, kDeepestExpression) : hidden(kDeepestExpression);
      return value.find('\'') == std::string::npos && value.find('"') == std::string::npos
                 ? "f'{" + value + oneOf(kSpecs) + "}'"
                 : oneOf(kTexts);
    }
    case 2: return text(depth + 1) + " + " + text(depth + 1);
    case 3: return text(depth + 1) + "[" + oneOf(kInts) + (oneIn(2) ? ":" : "") + "]";
    default: return oneOf(kTexts);
  }
}

std::string ProgramText::ints(size_t depth) {
  if (depth < kDeepestExpression && oneIn(5)) return tensor(depth + 1) + ".shape";
  std::string list;
  for (size_t count = below_(4); count > 0; --count) list += (list.empty() ? "" : ", ") + oneOf(kInts);
  return "[" + list + "]";
}

std::string ProgramText::index(size_t depth) {
  static constexpr std::array kPlain = {"0", "-1", ":", "None", "...", "1:", "::2", "::-1", "9223372036854775807"};
  std::string parts;
  for (size_t count = below_(3) + 1; count > 0; --count) {
    if (!parts.empty()) parts += ", ";
    parts += depth < kDeepestExpression && oneIn(4) ? (oneIn(2) ? tensor(depth + 1) : ints(depth + 1)) : oneOf(kPlain);
  }
  return parts;
}

std::string ProgramText::tensor(size_t depth) {
  if (std::string name = variable(Kind::Tensor); !name.empty() && !oneIn(3)) return name;
  if (depth >= kDeepestExpression) return oneOf(std::array{"ones(2, 3)", "arange(4)", "zeros(0)", "tensor(1.5)"});
  switch (below_(10)) {
    case 0: return fmt::format("ones({}, dtype={})", ints(kDeepestExpression), oneOf(kDtypes));
    case 1: return fmt::format("arange({}).to({})", oneOf(std::array{"6", "0", "24", "1000"}), oneOf(kDtypes));
    case 2: return fmt::format("tensor([{}, {}, {}])", oneOf(kFloats), oneOf(kFloats), oneOf(kFloats));
    case 3: return fmt::format("rand({})", oneOf(std::array{"2, 3", "3, 3", "0, 4", "1", "2, 3, 4, 5"}));
    case 4: return tensor(depth + 1) + "[" + index(depth + 1) + "]";
    case 5: return tensor(depth + 1) + ".expand(" + ints(depth + 1) + ")";
    case 6: return "as_strided(" + tensor(depth + 1) + ", " + ints(depth + 1) + ", " + ints(depth + 1) + ")";
    case 7: {
      static constexpr std::array kSigns = {"+", "-", "*", "/", "//", "%", "**", "@", "&", "<", "=="};
      const std::string left = tensor(depth + 1), sign = oneOf(kSigns);
      return "(" + left + " " + sign + " " + (oneIn(3) ? number(depth + 1) : tensor(depth + 1)) + ")";
    }
    default: return operatorCall(depth + 1);
  }
}

std::string ProgramText::file(size_t depth) {
  switch (below_(5)) {
    case 0: return "print(io::load(" + oneOf(kFiles) + "))";
    case 1: return "print(io::read_text(" + oneOf(kFiles) + "))";
    case 2: return "io::save(" + expression(Kind::Dict, depth + 1) + ", " + oneOf(kFiles) + ")";
    case 3: return "io::save_npy(" + tensor(depth + 1) + ", " + oneOf(kFiles) + ")";
    default: return "print(io::load_npy(" + oneOf(kFiles) + "))";
  }
}

std::string ProgramText::functionCall(Kind kind, size_t depth) {
  if (functions_.empty()) return "";
  const auto& [name, kinds] = functions_[below_(functions_.size())];
  if (kinds[0] != kind) return "";
  std::string arguments;
  for (size_t i = 1; i < kinds.size(); ++i) arguments += (i == 1 ? "" : ", ") + expression(kinds[i], depth);
  return name + "(" + arguments + ")";
}

std::string ProgramText::operatorCall(size_t depth) {
  const FunctionSchema& schema = operators()[below_(operators().size())].schema();
  std::string arguments;
  bool is_named = false;
  for (const Argument& each : schema.arguments()) {
    is_named = is_named || each.kwarg_only();
    if (each.default_value() && oneIn(2)) {
      is_named = true;  // positional arguments cannot follow
      continue;
    }
    if (!arguments.empty()) arguments += ", ";
    if (is_named) arguments += each.name() + "=";
    arguments += argument(each.type(), depth + 1);
  }
  return schema.name() + (schema.overload_name().empty() ? "" : "." + schema.overload_name()) + "(" + arguments + ")";
}

std::string ProgramText::argument(TypePtr type, size_t depth) {
  switch (type->kind()) {
    case TypeKind::Tensor: return tensor(depth);
    case TypeKind::Int:
    case TypeKind::SymInt:
    case TypeKind::DeviceIndex: return oneIn(6) ? expression(Kind::Int, depth) : oneOf(kInts);
    case TypeKind::Float: return oneOf(kFloats);
    case TypeKind::Bool: return oneIn(2) ? "True" : "False";
    case TypeKind::Scalar: return oneIn(5) ? oneOf(std::array{"True", "2j", "nan"}) : number(depth);
    case TypeKind::Complex: return "1j";
    case TypeKind::String:
    case TypeKind::Device: return oneOf(kTexts);
    case TypeKind::ScalarType: return oneOf(kDtypes);
    case TypeKind::Optional: return oneIn(2) ? argument(type->element(), depth) : "None";
    case TypeKind::List: {
      if (type->element()->kind() == TypeKind::Int || type->element()->kind() == TypeKind::SymInt) return ints(depth);
      std::string list;
      for (size_t count = below_(4); count > 0; --count) {
        list += (list.empty() ? "" : ", ") + argument(type->element(), depth + 1);
      }
      return "[" + list + "]";
    }
    default: return oneIn(3) ? expression(Kind::Any, depth) : "None";
  }
}

}  // namespace boxcar::fuzz
