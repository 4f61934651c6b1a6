#include <boxcar/interpreter/bytecode/bytecode_text.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace boxcar::interp {
namespace {

using Tag = IValue::Tag;

// The payload of a nan only matters for the equality of units: the two usual nans have names, others show their bits.
std::string floatText(double value) {
  if (!std::isnan(value)) return pythonFloat(value);
  constexpr uint64_t kQuiet = 0x7ff8000000000000;
  constexpr uint64_t kSign = 0x8000000000000000;
  const auto bits = std::bit_cast<uint64_t>(value);
  if (bits == kQuiet) return "nan";
  if (bits == (kQuiet | kSign)) return "-nan";
  return fmt::format("nan({:#x})", bits);
}

class ConstantWriter {
 public:
  std::string run(const IValue& value) {
    write(value, 0);
    return std::move(text_);
  }

 private:
  void write(const IValue& value, int depth) {
    if (depth > kMaxConstantDepth) {
      text_ += "...";
      return;
    }
    switch (value.tag()) {
      case Tag::None: text_ += "None"; break;
      case Tag::Bool: text_ += pythonBool(value.toBool()); break;
      case Tag::Int: text_ += std::to_string(value.toInt()); break;
      case Tag::Double: text_ += floatText(value.toDouble()); break;
      case Tag::ComplexDouble: {
        const std::complex<double> number = value.toComplexDouble();
        text_ += fmt::format("complex({}, {})", floatText(number.real()), floatText(number.imag()));
        break;
      }
      case Tag::String: text_ += quotedText(value.toStringView()); break;
      case Tag::Device: text_ += fmt::format("device({})", quotedText(toString(value.toDevice()))); break;
      case Tag::IntList: writeElements(value, "int[", "]", depth); break;
      case Tag::DoubleList: writeElements(value, "float[", "]", depth); break;
      case Tag::BoolList: writeElements(value, "bool[", "]", depth); break;
      case Tag::ComplexDoubleList: writeElements(value, "complex[", "]", depth); break;
      case Tag::TensorList: writeElements(value, "Tensor[", "]", depth); break;
      case Tag::GenericList: writeElements(value, "[", "]", depth); break;
      case Tag::Tuple: writeElements(value, "(", value.length() == 1 ? ",)" : ")", depth); break;
      case Tag::GenericDict: writeEntries(*value.unsafeGet<Tag::GenericDict>(), depth); break;
      default: text_ += fmt::format("<{}>", value.tagKind()); break;
    }
  }

  void writeElements(const IValue& value, std::string_view begin, std::string_view end, int depth) {
    text_ += begin;
    for (size_t i = 0; i < value.length(); ++i) {
      if (i != 0) text_ += ", ";
      write(value.elementAt(i), depth + 1);
    }
    text_ += end;
  }

  void writeEntries(const DictObject& dict, int depth) {
    text_ += '{';
    for (size_t i = 0; i < dict.size(); ++i) {
      if (i != 0) text_ += ", ";
      write(dict.keyAt(i), depth + 1);
      text_ += ": ";
      write(dict.valueAt(i), depth + 1);
    }
    text_ += '}';
  }

  std::string text_;
};

}  // namespace

OperandSpelling spellingOf(Operand operand) noexcept {
  switch (operand) {
    case Operand::None: break;
    case Operand::IntIn:
    case Operand::IntOut: return {"i", "an int slot, as in `i0`"};
    case Operand::FloatIn:
    case Operand::FloatOut: return {"f", "a float slot, as in `f0`"};
    case Operand::BoolIn:
    case Operand::BoolOut: return {"b", "a bool slot, as in `b0`"};
    case Operand::ValueIn:
    case Operand::ValueMove:
    case Operand::ValueOut: return {"v", "a value slot, as in `v0`"};
    case Operand::ScalarIn: return {"ifb", "an int, float or bool slot, as in `i0`"};
    case Operand::SlotIn: return {"ifbv", "a slot of any kind, as in `v0`"};
    case Operand::ResultOut: return {"result", "a slot of the kind that the function returns, as in `v0`"};
    case Operand::RangeState: return {"iii", "the first of three int slots, as in `i0`"};
    case Operand::EachState: return {"vi", "a value slot that an int slot follows, as in `v0`"};
    case Operand::Argument: return {"#n", "the position of an argument, as in `#0`"};
    case Operand::Immediate: return {"int16", "an int from -32768 to 32767"};
    case Operand::Divisor: return {"divisor", "an int from -32768 to 32767, but not 0"};
    case Operand::BoolImmediate: return {"0/1", "0 or 1"};
    case Operand::Count: return {"count", "a number of values, from 0 to 65535"};
    case Operand::Type: return {"type n", "a type, as in `type 0`"};
    case Operand::ListType: return {"type n[]", "a list type, as in `type 0`"};
    case Operand::Struct: return {"struct n", "a struct that is declared or imported, as in `struct 0`"};
    case Operand::Field: return {"field n", "a field, as in `field 0`"};
    case Operand::Builtin: return {"name", "the name of a built-in, as in `len`"};
    case Operand::ArgumentCount: return {"count", "a number of values, from 0 to 65535"};
    case Operand::Target: return {"-> near", "an instruction at most 32767 away, as in `-> 0`"};
    case Operand::WideImmediate: return {"int32", "an int of 32 bits"};
    case Operand::IntConstant: return {"constant int", "a constant that is an int, as in `constant 0`"};
    case Operand::FloatConstant: return {"constant float", "a constant that is a float, as in `constant 0`"};
    case Operand::Constant: return {"constant n", "a constant, as in `constant 0`"};
    case Operand::Function: return {"fn n", "a function, as in `fn 1`"};
    case Operand::OperatorSite: return {"site n", "an operator site, as in `site 0`"};
    case Operand::DynamicSite: return {"dynamic n", "a dynamic site, as in `dynamic 0`"};
    case Operand::Global: return {"global n", "a global, as in `global 0`"};
    case Operand::Module: return {"module n", "a module, as in `module 0`"};
    case Operand::ImportedFunction: return {"import n", "an imported function, as in `import 0`"};
    case Operand::Scope: return {"scope n", "a scope, as in `scope 0`"};
    case Operand::Handler: return {"handler n", "an impl or a fallback, as in `handler 0`"};
    case Operand::FarTarget: return {"-> n", "an instruction, as in `-> 0`"};
  }
  return {};
}

std::string quotedText(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const char c = text[0];
    const size_t length = std::max<size_t>(utf8::decode(text).length, 1);
    const bool is_raw = length == 1 && (c < ' ' || c > '~');
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (is_raw) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      quoted += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return quoted += '"';
}

std::string nameText(std::string_view name) {
  const bool is_word = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  return is_word ? std::string(name) : quotedText(name);
}

std::string constantText(const IValue& value) { return ConstantWriter().run(value); }

}  // namespace boxcar::interp
