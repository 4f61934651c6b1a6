#include <boxcar/dispatcher/handlers/trace/trace_text.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/dict.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/layout.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

namespace boxcar::detail {
namespace {

// Quoting would write bytes that are not UTF-8 as the characters with those numbers.
bool isUtf8(std::string_view text) {
  while (!text.empty()) {
    const auto lead = static_cast<uint8_t>(text[0]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if ((lead >= 0x80 && lead < 0xc2) || lead >= 0xf5 || text.size() < length) return false;
    uint32_t value = length == 1 ? lead : lead & (0x7f >> length);
    for (size_t i = 1; i < length; ++i) {
      if ((static_cast<uint8_t>(text[i]) & 0xc0) != 0x80) return false;
      value = value << 6 | (static_cast<uint8_t>(text[i]) & 0x3f);
    }
    if ((length == 3 && (value < 0x800 || (value >= 0xd800 && value < 0xe000))) ||
        (length == 4 && (value < 0x10000 || value > 0x10ffff)))
      return false;
    text.remove_prefix(length);
  }
  return true;
}

// As scripts write it: `2.5j`, `infj`, `nanj`.
std::string imaginaryText(double value) {
  if (std::isfinite(value)) return pythonFloat(value) + "j";
  return std::isnan(value) ? "nanj" : "infj";
}

// A sum of both parts. A sum cannot give a negative zero, which is written as a negation or a product.
std::string complexText(std::complex<double> value) {
  const auto isNegativeZero = [](double part) { return part == 0 && std::signbit(part); };
  const bool negative_real = isNegativeZero(value.real());
  if (negative_real || isNegativeZero(value.imag())) {
    if (value == 0.0 && std::signbit(value.real()) != std::signbit(value.imag()))
      return negative_real ? "-(-0j * 1)" : "(-0j * 1)";
    return "-" + complexText(-value);
  }
  const bool is_negative = std::signbit(value.imag()) && !std::isnan(value.imag());
  if (value.real() == 0 && !is_negative && std::isfinite(value.imag())) return imaginaryText(value.imag());
  return fmt::format("({} {} {})", pythonFloat(value.real()), is_negative ? "-" : "+",
                     imaginaryText(is_negative ? -value.imag() : value.imag()));
}

class Writer final {
 public:
  Writer(std::vector<Tensor>& tensors, const std::function<bool(const Tensor&)>& has_name)
      : tensors_(tensors), has_name_(has_name) {}

  // [type] is the intended type of the value; null if unknown.
  std::string write(const IValue& value, TypePtr type, int depth = 0) {
    if (depth > kMostNested) cannot("a list in more than 64 others");
    if (type != nullptr && type->isOptional()) type = type->element();
    if (value.isInt() && type != nullptr) {
      switch (type->kind()) {
        case TypeKind::ScalarType: return std::string(dtypeName(value.toScalarType()));
        case TypeKind::Layout: return std::string(layoutName(static_cast<Layout>(value.toInt())));
        case TypeKind::MemoryFormat: return std::string(memoryFormatName(static_cast<MemoryFormat>(value.toInt())));
        default: break;
      }
    }
    switch (value.tag()) {
      case IValue::Tag::None: return "None";
      case IValue::Tag::Bool: return std::string(pythonBool(value.toBool()));
      case IValue::Tag::Int: return fmt::format("{}", value.toInt());
      case IValue::Tag::Double: return pythonFloat(value.toDouble());
      case IValue::Tag::ComplexDouble: return complexText(value.toComplexDouble());
      case IValue::Tag::String:
        if (!isUtf8(value.toStringView())) cannot("a text that is not UTF-8");
        return pythonStringRepr(value.toStringView());
      case IValue::Tag::Device: return pythonStringRepr(fmt::format("{}", value.toDevice()));
      case IValue::Tag::Tensor:
        if (!value.toTensor().defined()) cannot("an undefined tensor");
        // Scripts accept a number for a tensor only next to another tensor, and no other tensor affects dtypes as these
        // do.
        if (value.toTensor().unsafeGetTensorImpl()->is_wrapped_number() && !has_name_(value.toTensor()))
          cannot("a number instead of a tensor without a tensor next to it");
        tensors_.push_back(value.toTensor());
        return std::string(1, TraceText::kGap);
      case IValue::Tag::GenericDict: return writeDict(value.toGenericDict(), type, depth);
      case IValue::Tag::Tuple: {
        const std::string elements = writeElements(value, type, depth);
        return fmt::format("({}{})", elements, value.length() == 1 ? "," : "");
      }
      default: break;
    }
    if (!value.isList()) cannot(fmt::format("a value of kind {}", value.tagKind()));
    return fmt::format("[{}]", writeElements(value, type, depth));
  }

 private:
  [[noreturn]] static void cannot(std::string_view what) { throw RuntimeError(std::string(what)); }

  std::string writeElements(const IValue& value, TypePtr type, int depth) {
    const bool is_list = type != nullptr && type->isList();
    const bool is_tuple =
        type != nullptr && type->kind() == TypeKind::Tuple && type->contained().size() == value.length();
    std::string text;
    for (size_t i = 0; i < value.length(); ++i) {
      const TypePtr inner = is_list ? type->element() : is_tuple ? type->contained()[i] : nullptr;
      if (i > 0) text += ", ";
      text += write(value.elementAt(i), inner, depth + 1);
    }
    return text;
  }

  std::string writeDict(const GenericDict& dict, TypePtr type, int depth) {
    const bool is_dict = type != nullptr && type->kind() == TypeKind::Dict;
    std::string text;
    for (size_t i = 0; i < dict.size(); ++i) {
      const auto [key, mapped] = dict.entryAt(i);
      if (i > 0) text += ", ";
      text += write(key, is_dict ? type->contained()[0] : nullptr, depth + 1);
      text += ": ";
      text += write(mapped, is_dict ? type->contained()[1] : nullptr, depth + 1);
    }
    return fmt::format("{{{}}}", text);
  }

  std::vector<Tensor>& tensors_;
  const std::function<bool(const Tensor&)>& has_name_;
};

bool isTensorType(TypePtr type) {
  return type->kind() == TypeKind::Tensor || (type->isOptional() && type->element()->kind() == TypeKind::Tensor);
}

// Returns the number that a tensor stands for; None if it is not just a number.
IValue wrappedNumberOf(const Tensor& tensor) {
  if (!tensor.unsafeGetTensorImpl()->is_wrapped_number() || !tensor.is_cpu() || tensor.dim() != 0) return {};
  switch (tensor.scalar_type()) {
    case ScalarType::Bool: return *tensor.const_data_ptr<bool>();
    case ScalarType::Long: return *tensor.const_data_ptr<int64_t>();
    case ScalarType::Double: return *tensor.const_data_ptr<double>();
    case ScalarType::ComplexDouble: return *tensor.const_data_ptr<std::complex<double>>();
    default: return {};
  }
}

// Whether a script accepts a number for a tensor in this call, which it does if another argument is a tensor.
bool takesNumbers(const FunctionSchema& schema, std::span<const IValue> arguments,
                  const std::function<bool(const Tensor&)>& has_name) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].isTensor() || !isTensorType(schema.arguments()[i].type())) continue;
    const Tensor& tensor = arguments[i].toTensor();
    if (tensor.defined() && (wrappedNumberOf(tensor).isNone() || has_name(tensor))) return true;
  }
  return false;
}

void nestedText(const std::complex<double>*& elements, std::span<const int64_t> sizes, std::string& text) {
  if (sizes.empty()) {
    text += complexText(*elements++);
    return;
  }
  text += '[';
  for (int64_t i = 0; i < sizes[0]; ++i) {
    if (i > 0) text += ", ";
    nestedText(elements, sizes.subspan(1), text);
  }
  text += ']';
}

}  // namespace

std::string TraceText::filled(const std::function<std::string(const Tensor&)>& name) const {
  std::string result;
  size_t gap = 0;
  for (const char c : text) {
    if (c == kGap) {
      result += name(tensors[gap++]);
    } else {
      result += c;
    }
  }
  return result;
}

std::string calleeText(const OperatorHandle& op) {
  const OperatorName& name = op.operator_name();
  if (!name.overload_name.empty()) return toString(name);
  const std::vector<OperatorHandle> overloads = Dispatcher::singleton().findOverloads(name.name);
  const bool is_only = std::ranges::all_of(
      overloads, [&op](const OperatorHandle& other) { return other == op || other.entry().schemaSite().is_script; });
  return is_only ? name.name : name.name + ".default";
}

std::vector<IValue> writtenArguments(const FunctionSchema& schema, std::span<const IValue> arguments,
                                     const std::function<bool(const Tensor&)>& has_name) {
  const bool takes_numbers = takesNumbers(schema, arguments, has_name);
  std::vector<IValue> values(arguments.begin(), arguments.end());
  for (size_t i = 0; i < values.size(); ++i) {
    IValue& value = values[i];
    if (value.isGenerator()) value = IValue();
    if (takes_numbers && value.isTensor() && isTensorType(schema.arguments()[i].type()) &&
        !has_name(value.toTensor())) {
      if (IValue number = wrappedNumberOf(value.toTensor()); !number.isNone()) value = std::move(number);
    }
  }
  return values;
}

TraceText callText(const OperatorHandle& op, std::string_view callee, std::span<const IValue> arguments,
                   const std::function<bool(const Tensor&)>& has_name) {
  const FunctionSchema& schema = op.schema();
  const std::vector<IValue> values = writtenArguments(schema, arguments, has_name);
  TraceText call;
  Writer writer(call.tensors, has_name);
  call.text = fmt::format("{}(", callee);
  bool is_first = true;
  bool by_keyword = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& parameter = schema.arguments()[i];
    const IValue& value = values[i];
    std::string text;
    try {
      text = writer.write(value, parameter.type());
      if (parameter.default_value() && text == writer.write(*parameter.default_value(), parameter.type())) {
        by_keyword = true;
        continue;
      }
    } catch (const Error& error) {
      BOXCAR_FAIL("the tracer cannot write down argument '{}' of {}, {}: call the operator outside of the trace",
                  parameter.name(), op, error.message());
    }
    call.written.resize(call.tensors.size(), parameter.is_write());
    by_keyword = by_keyword || parameter.kwarg_only();
    if (!is_first) call.text += ", ";
    is_first = false;
    if (by_keyword) call.text += fmt::format("{}=", parameter.name());
    call.text += text;
  }
  call.text += ")";
  return call;
}

std::string constantText(const IValue& value, TypePtr type) {
  std::vector<Tensor> none;
  return Writer(none, [](const Tensor&) { return false; }).write(value, type);
}

TraceText valueText(const IValue& value, TypePtr type) {
  TraceText result;
  result.text = Writer(result.tensors, [](const Tensor&) { return true; }).write(value, type);
  return result;
}

std::string sizesText(std::span<const int64_t> sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }

std::string complexTensorText(const Tensor& tensor) {
  const auto* elements = tensor.const_data_ptr<std::complex<double>>();
  std::string text = "tensor(";
  nestedText(elements, tensor.sizes(), text);
  return text + ", dtype=complex128)";
}

}  // namespace boxcar::detail
