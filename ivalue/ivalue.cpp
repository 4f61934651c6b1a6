#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/stop_request.h>

#include <array>
#include <cmath>

namespace boxcar {
namespace {

using Tag = IValue::Tag;

constexpr std::array kTagNames = {
    "None",
    "Bool",
    "Int",
    "Double",
    "Device",
    "Stream",
    "Tensor",
    "String",
    "ComplexDouble",
    "IntList",
    "DoubleList",
    "BoolList",
    "ComplexDoubleList",
    "TensorList",
    "GenericList",
    "GenericDict",
    "Tuple",
    "Generator",
    "Storage",
    "Object",
    "Future",
    "Enum",
};
static_assert(kTagNames.size() == static_cast<size_t>(Tag::Enum) + 1);

bool isNumber(const IValue& value) { return value.isScalar(); }

int64_t asInt(const IValue& value) { return value.isBool() ? int64_t{value.toBool()} : value.toInt(); }

// An int and a float are equal when the float holds exactly that integer; converting the int could round.
bool intEqualsDouble(int64_t integer, double number) {
  return number >= -0x1p63 && number < 0x1p63 && std::trunc(number) == number &&
         static_cast<int64_t>(number) == integer;
}

bool numbersEqual(const IValue& a, const IValue& b) {
  const bool a_integral = a.isInt() || a.isBool();
  const bool b_integral = b.isInt() || b.isBool();
  if (a_integral && b_integral) return asInt(a) == asInt(b);
  if (a.isComplexDouble() && b.isComplexDouble()) return a.toComplexDouble() == b.toComplexDouble();
  if (a.isComplexDouble()) return a.toComplexDouble().imag() == 0 && numbersEqual(a.toComplexDouble().real(), b);
  if (b.isComplexDouble()) return numbersEqual(b, a);
  if (a_integral) return intEqualsDouble(asInt(a), b.toDouble());
  if (b_integral) return intEqualsDouble(asInt(b), a.toDouble());
  return a.toDouble() == b.toDouble();
}

// Lists may be nested without limit, or contain themselves.
constexpr int kMostNested = 1000;

// A shared value is compared once per occurrence, so even a small value can take forever: [steps] checks for a stop.
bool equal(const IValue& a, const IValue& b, int depth, StopCounter& steps);

bool elementsEqual(const IValue& a, const IValue& b, int depth, StopCounter& steps) {
  if (a.is(b)) return true;
  const size_t length = a.length();
  if (length != b.length()) return false;
  steps.add(static_cast<int64_t>(length) + 1);
  for (size_t i = 0; i < length; ++i) {
    if (!equal(a.elementAt(i), b.elementAt(i), depth, steps)) return false;
  }
  return true;
}

bool dictsEqual(const DictObject& a, const DictObject& b, int depth, StopCounter& steps) {
  if (&a == &b) return true;
  if (a.size() != b.size()) return false;
  steps.add(static_cast<int64_t>(a.size()) + 1);
  for (size_t i = 0; i < a.size(); ++i) {
    const IValue* other = b.find(a.keyAt(i));
    if (other == nullptr || !equal(a.valueAt(i), *other, depth, steps)) return false;
  }
  return true;
}

// [depth] is the number of containers that both lie in.
bool equal(const IValue& a, const IValue& b, int depth, StopCounter& steps) {
  if (isNumber(a) && isNumber(b)) return numbersEqual(a, b);
  BOXCAR_CHECK(depth <= kMostNested,
               "values that are nested deeper than {} levels cannot be compared; does one contain itself?",
               kMostNested);
  if (a.isList() && b.isList()) return elementsEqual(a, b, depth + 1, steps);
  if (a.tag() != b.tag()) return false;
  switch (a.tag()) {
    case Tag::String: return a.toStringRef() == b.toStringRef();
    case Tag::Tuple: return elementsEqual(a, b, depth + 1, steps);
    case Tag::GenericDict:
      return dictsEqual(*a.unsafeGet<Tag::GenericDict>(), *b.unsafeGet<Tag::GenericDict>(), depth + 1, steps);
    case Tag::Enum: return *a.unsafeGet<Tag::Enum>() == *b.unsafeGet<Tag::Enum>();
    default: return a.is(b);
  }
}

size_t hashDouble(double number) {
  // Equal numbers of different kinds have equal hashes.
  if (number >= -0x1p63 && number < 0x1p63 && std::trunc(number) == number) {
    return std::hash<int64_t>()(static_cast<int64_t>(number));
  }
  return std::hash<double>()(number);
}

size_t combine(size_t seed, size_t hash) { return seed ^ (hash + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2)); }

// [steps] checks for a stop, as for equal().
size_t hashOf(const IValue& value, int depth, StopCounter& steps);

size_t hashTuple(const TupleObject& tuple, int depth, StopCounter& steps) {
  BOXCAR_CHECK(depth <= kMostNested, "a tuple that is nested deeper than {} levels cannot be a key of a dict",
               kMostNested);
  size_t result = tuple.size();
  steps.add(static_cast<int64_t>(tuple.size()) + 1);
  for (const IValue& element : tuple.elements()) result = combine(result, hashOf(element, depth, steps));
  return result;
}

size_t hashComplex(std::complex<double> number) {
  const size_t real = hashDouble(number.real());
  return number.imag() == 0 ? real : combine(real, hashDouble(number.imag()));
}

// The name in schemas.
std::string_view nameOfUnhashable(const IValue& value) {
  switch (value.tag()) {
    case Tag::IntList: return "int[]";
    case Tag::DoubleList: return "float[]";
    case Tag::BoolList: return "bool[]";
    case Tag::ComplexDoubleList: return "complex[]";
    case Tag::TensorList: return "Tensor[]";
    case Tag::GenericList: return "a list";
    case Tag::GenericDict: return "a dict";
    default: return value.tagKind();
  }
}

// [depth] is the number of tuples that the value lies in.
size_t hashOf(const IValue& value, int depth, StopCounter& steps) {
  switch (value.tag()) {
    case Tag::None: return 0;
    case Tag::Bool: return std::hash<int64_t>()(value.unsafeGet<Tag::Bool>());
    case Tag::Int: return std::hash<int64_t>()(value.unsafeGet<Tag::Int>());
    case Tag::Double: return hashDouble(value.unsafeGet<Tag::Double>());
    case Tag::ComplexDouble: return hashComplex(value.unsafeGet<Tag::ComplexDouble>()->value());
    case Tag::String: return std::hash<std::string>()(value.unsafeGet<Tag::String>()->text());
    case Tag::Device: return std::hash<Device>()(value.unsafeGet<Tag::Device>());
    case Tag::Tuple: return hashTuple(*value.unsafeGet<Tag::Tuple>(), depth + 1, steps);
    case Tag::Tensor: return std::hash<const void*>()(value.unsafeGet<Tag::Tensor>().unsafeGetTensorImpl());
    case Tag::Generator: return std::hash<const void*>()(value.unsafeGet<Tag::Generator>().get());
    case Tag::Storage: return std::hash<const void*>()(value.unsafeGet<Tag::Storage>().get());
    case Tag::Object:
    case Tag::Future: return std::hash<const void*>()(value.object());
    case Tag::Enum: return std::hash<std::string>()(value.unsafeGet<Tag::Enum>()->name());
    default:
      BOXCAR_FAIL(
          "{} cannot be a key of a dict: it is not hashable. Keys are numbers, strs, None, tensors, devices and tuples "
          "of these",
          nameOfUnhashable(value));
  }
}

bool isNoneOrUndefined(const IValue& value) noexcept {
  return value.isNone() || (value.isTensor() && !value.unsafeGet<Tag::Tensor>().defined());
}

}  // namespace

IValue::IValue(const Scalar& value) : IValue() {
  if (value.isBoolean()) {
    *this = value.to<bool>();
  } else if (value.isIntegral(false)) {
    *this = value.to<int64_t>();
  } else if (value.isFloatingPoint()) {
    *this = value.to<double>();
  } else {
    *this = value.to<std::complex<double>>();
  }
}

const char* IValue::tagKind() const noexcept { return kTagNames[static_cast<size_t>(tag())]; }

void IValue::wrongKind(Tag wanted) const {
  BOXCAR_CHECK(wanted != Tag::GenericList || !isList(),
               "expected a value of kind {}, found {}, whose elements are contiguous: to{}() shares it, "
               "to<std::vector<IValue>>() copies its elements",
               kTagNames[static_cast<size_t>(wanted)], tagKind(), tagKind());
  BOXCAR_FAIL("expected a value of kind {}, found {}", kTagNames[static_cast<size_t>(wanted)], tagKind());
}

Scalar IValue::toScalar() const {
  switch (tag()) {
    case Tag::Bool: return Scalar(unsafeGet<Tag::Bool>());
    case Tag::Int: return Scalar(unsafeGet<Tag::Int>());
    case Tag::Double: return Scalar(unsafeGet<Tag::Double>());
    case Tag::ComplexDouble: return Scalar(unsafeGet<Tag::ComplexDouble>()->value());
    default: BOXCAR_FAIL("expected a number (a Scalar), found a value of kind {}", tagKind());
  }
}

size_t IValue::length() const {
  switch (tag()) {
    case Tag::IntList: return unsafeGet<Tag::IntList>()->values.size();
    case Tag::DoubleList: return unsafeGet<Tag::DoubleList>()->values.size();
    case Tag::BoolList: return unsafeGet<Tag::BoolList>()->values.size();
    case Tag::ComplexDoubleList: return unsafeGet<Tag::ComplexDoubleList>()->values.size();
    case Tag::TensorList: return unsafeGet<Tag::TensorList>()->values.size();
    case Tag::GenericList: return unsafeGet<Tag::GenericList>()->values.size();
    case Tag::GenericDict: return unsafeGet<Tag::GenericDict>()->size();
    case Tag::Tuple: return unsafeGet<Tag::Tuple>()->size();
    default: BOXCAR_FAIL("a value of kind {} has no length", tagKind());
  }
}

IValue IValue::elementAt(size_t index) const {
  switch (tag()) {
    case Tag::IntList: return unsafeGet<Tag::IntList>()->values[index];
    case Tag::DoubleList: return unsafeGet<Tag::DoubleList>()->values[index];
    case Tag::BoolList: return unsafeGet<Tag::BoolList>()->values[index];
    case Tag::ComplexDoubleList: return unsafeGet<Tag::ComplexDoubleList>()->values[index];
    case Tag::TensorList: return unsafeGet<Tag::TensorList>()->values[index];
    case Tag::GenericList: return unsafeGet<Tag::GenericList>()->values[index];
    case Tag::Tuple: return unsafeGet<Tag::Tuple>()->elements()[index];
    default: BOXCAR_FAIL("a value of kind {} has no elements", tagKind());
  }
}

bool IValue::is(const IValue& other) const noexcept {
  if (tag() != other.tag()) return isNoneOrUndefined(*this) && isNoneOrUndefined(other);
  if (isHeap() && base() == other.base()) return true;
  switch (tag()) {
    case Tag::Bool: return unsafeGet<Tag::Bool>() == other.unsafeGet<Tag::Bool>();
    case Tag::Int: return unsafeGet<Tag::Int>() == other.unsafeGet<Tag::Int>();
    case Tag::Double: return unsafeGet<Tag::Double>() == other.unsafeGet<Tag::Double>();
    case Tag::ComplexDouble:
      return unsafeGet<Tag::ComplexDouble>()->value() == other.unsafeGet<Tag::ComplexDouble>()->value();
    case Tag::Device: return unsafeGet<Tag::Device>() == other.unsafeGet<Tag::Device>();
    case Tag::Stream: return unsafeGet<Tag::Stream>() == other.unsafeGet<Tag::Stream>();
    case Tag::String: return unsafeGet<Tag::String>()->text() == other.unsafeGet<Tag::String>()->text();
    default: return !isHeap();
  }
}

bool operator==(const IValue& a, const IValue& b) {
  StopCounter steps;
  return equal(a, b, 0, steps);
}

size_t IValue::hash() const {
  StopCounter steps;
  return hashOf(*this, 0, steps);
}

}  // namespace boxcar
