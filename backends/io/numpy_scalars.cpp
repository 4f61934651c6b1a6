#include <boxcar/backends/io/numpy_scalars.h>
#include <boxcar/ivalue/half.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <string_view>

namespace boxcar::io {
namespace {

template <class T>
T numberIn(std::string_view bytes) {
  T number;
  std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

template <class Signed>
IValue wholeIn(std::string_view bytes, bool is_signed) {
  if (is_signed) return numberIn<Signed>(bytes);
  return static_cast<int64_t>(numberIn<std::make_unsigned_t<Signed>>(bytes));
}

// Whether the state of a dtype says that its numbers are big-endian: (3, '>', None, …).
bool isBigEndian(const PickledObject& dtype) {
  if (!dtype.state().isTuple()) return false;
  const auto& state = dtype.state().toTuple().elements();
  return state.size() > 1 && state[1].isString() && state[1].toStringView() == ">";
}

}  // namespace

IValue pickledNumpyDtype(std::span<const IValue> arguments, const PicklePlace& place) {
  if (arguments.empty() || !arguments[0].isString()) place.fail("a dtype of NumPy has no name");
  return makeIntrusive<PickledObject>("numpy.dtype", arguments);
}

IValue pickledNumpyScalar(std::span<const IValue> arguments, const PicklePlace& place) {
  const auto* const dtype = arguments.size() == 2 && arguments[0].isObject()
                                ? dynamic_cast<const PickledObject*>(arguments[0].object())
                                : nullptr;
  if (dtype == nullptr || dtype->className() != "numpy.dtype" || !arguments[1].isString())
    place.fail("a number of NumPy's is not made of a dtype and bytes");
  const std::string_view code = dtype->arguments()[0].toStringView();
  std::string bytes(arguments[1].toStringView());
  const auto is = [&](std::string_view name, size_t size) { return code == name && bytes.size() == size; };
  if (isBigEndian(*dtype)) std::ranges::reverse(bytes);
  if (is("f8", 8)) return numberIn<double>(bytes);
  if (is("f4", 4)) return numberIn<float>(bytes);
  if (is("f2", 2)) return static_cast<float>(numberIn<Half>(bytes));
  if (is("b1", 1)) return bytes[0] != '\0';
  if (is("i8", 8)) return numberIn<int64_t>(bytes);
  for (const bool is_signed : {true, false}) {
    if (is(is_signed ? "i1" : "u1", 1)) return wholeIn<int8_t>(bytes, is_signed);
    if (is(is_signed ? "i2" : "u2", 2)) return wholeIn<int16_t>(bytes, is_signed);
    if (is(is_signed ? "i4" : "u4", 4)) return wholeIn<int32_t>(bytes, is_signed);
  }
  if (is("u8", 8) && numberIn<int64_t>(bytes) >= 0) return numberIn<int64_t>(bytes);
  place.fail(fmt::format("a number of NumPy's has dtype {} and {} bytes, which boxcar does not have",
                         pythonStringRepr(code.substr(0, 20)), bytes.size()));
}

}  // namespace boxcar::io
