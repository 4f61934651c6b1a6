// tensor(); the attributes and methods of tensors that are not operators.

#include <boxcar/dispatcher/call/default_device.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/runtime/builtin_table.h>
#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/interpreter/runtime/dynamic_call.h>
#include <boxcar/interpreter/runtime/tensor_index.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <optional>
#include <utility>

namespace boxcar::interp {
namespace {

using Tag = IValue::Tag;

// Returns [tensor] with another dtype or on another device; unchanged if it already is.
Tensor moved(const Tensor& tensor, std::optional<ScalarType> dtype, std::optional<Device> device) {
  const auto op =
      Dispatcher::singleton()
          .findSchemaOrThrow("aten::to", "dtype_layout")
          .typed<Tensor(const Tensor&, std::optional<ScalarType>, std::optional<Layout>, std::optional<Device>,
                        std::optional<bool>, bool, bool, std::optional<MemoryFormat>)>();
  return op.call(tensor, dtype, std::nullopt, device, std::nullopt, false, false, std::nullopt);
}

// ---- tensor(data) ----

struct NestedShape {
  std::vector<int64_t> sizes;
  Tag kind = Tag::None;  // the widest kind of the numbers: Bool, Int, Double or ComplexDouble
};

constexpr size_t kMostDimensions = 64;

void measure(const IValue& data, size_t depth, NestedShape& shape) {
  if (data.isScalar()) {
    BOXCAR_CHECK(depth == shape.sizes.size(), "tensor(): there is a number where a list of {} should be",
                 shape.sizes.empty() ? 0 : shape.sizes.back());
    if (shape.kind == Tag::None || data.tag() > shape.kind) shape.kind = data.tag();
    return;
  }
  BOXCAR_CHECK(data.isList() || data.isTuple(), "tensor() takes numbers and lists of them, not {}", kindName(data));
  BOXCAR_CHECK(depth < kMostDimensions, "tensor(): lists more than {} deep", kMostDimensions);
  const auto size = static_cast<int64_t>(data.length());
  if (depth == shape.sizes.size()) {
    BOXCAR_CHECK(shape.kind == Tag::None, "tensor(): there is a list where a number should be");
    shape.sizes.push_back(size);
  }
  BOXCAR_CHECK(shape.sizes[depth] == size,
               "tensor(): lists in one dimension must be equally long, but dimension {} has lists of length {} and {}",
               depth, shape.sizes[depth], size);
  for (size_t i = 0; i < data.length(); ++i) measure(data.elementAt(i), depth + 1, shape);
}

template <class T>
void fill(const IValue& data, T*& out) {
  if (data.isScalar()) {
    *out++ = data.toScalar().to<T>();
    return;
  }
  for (size_t i = 0; i < data.length(); ++i) fill(data.elementAt(i), out);
}

// Inside fake() a program's numbers become a fake tensor.
Tensor lifted(const Tensor& tensor) {
  if (!tls_is_dispatch_key_included(DispatchKey::Fake)) return tensor;
  const IValue value = tensor;
  return callOperator("aten::lift_fresh", {&value, 1}).toTensor();
}

template <class T>
Tensor filled(const IValue& data, const NestedShape& shape, ScalarType dtype) {
  Tensor tensor = Tensor::allocate(shape.sizes, dtype);
  T* out = tensor.mutable_data_ptr<T>();
  fill(data, out);
  return lifted(tensor);
}

// The int may be any number; a cast to ScalarType would keep only its last byte.
std::optional<ScalarType> dtypeOf(const IValue& value) {
  if (value.isNone()) return std::nullopt;
  const int64_t number = value.toInt();
  BOXCAR_CHECK(number >= 0 && number < static_cast<int64_t>(ScalarType::NumOptions), "tensor(): {} is no dtype",
               number);
  return static_cast<ScalarType>(number);
}

// Tensors without elements are shown with their size, `tensor([], size=(0, 3))`: [sizes] replace those of [shape].
void takeSize(const std::vector<int64_t>& sizes, NestedShape& shape) {
  if (sizes == shape.sizes) return;
  BOXCAR_CHECK(
      shape.sizes == std::vector<int64_t>{0} && std::ranges::find(sizes, 0) != sizes.end() &&
          std::ranges::none_of(sizes, [](int64_t size) { return size < 0; }),
      "tensor(): `size` must be that of the data, or one without elements for []; the data has size ({}), not ({})",
      fmt::join(shape.sizes, ", "), fmt::join(sizes, ", "));
  shape.sizes = sizes;
}

IValue makeTensor(std::span<IValue> arguments) {
  const IValue& data = arguments[0];
  const auto dtype = dtypeOf(arguments[1]);
  const auto named = arguments[2].to<std::optional<Device>>();
  const std::optional<Device> device = named ? named : DefaultDevice::get();
  const auto size = arguments[3].to<std::optional<std::vector<int64_t>>>();
  if (data.isTensor()) {
    BOXCAR_CHECK(!size, "tensor(): `size` is only for lists; a tensor has its own size");
    const Tensor copy = callOperator("aten::clone", {&data, 1}).toTensor();
    return dtype || device ? moved(copy, dtype, device) : copy;
  }
  NestedShape shape;
  measure(data, 0, shape);
  if (size) takeSize(*size, shape);
  if (dtype && isIntegralType(*dtype, /*includeBool=*/false) && shape.kind != Tag::ComplexDouble) {
    // Not converted by way of int64, because numbers that do not fit are errors.
    const Tensor integers = visitScalarType(kIntegralTypes, *dtype, "tensor()", [&]<class T>(std::type_identity<T>) {
      return filled<T>(data, shape, *dtype);
    });
    return device ? moved(integers, dtype, device) : integers;
  }
  Tensor tensor;
  ScalarType wanted = ScalarType::Float;
  switch (shape.kind) {
    case Tag::Bool: tensor = filled<bool>(data, shape, wanted = ScalarType::Bool); break;
    case Tag::Int: tensor = filled<int64_t>(data, shape, wanted = ScalarType::Long); break;
    case Tag::ComplexDouble:
      tensor = filled<std::complex<double>>(data, shape, ScalarType::ComplexDouble);
      wanted = ScalarType::ComplexFloat;
      break;
    default:
      tensor = dtype == ScalarType::Double ? filled<double>(data, shape, ScalarType::Double)
                                           : filled<float>(data, shape, ScalarType::Float);
  }
  wanted = dtype.value_or(wanted);
  if (tensor.dtype() == wanted && !device) return tensor;
  return moved(tensor, wanted, device);
}

// ---- Indexing ----

IValue tensorElement(std::span<IValue> arguments) {
  return elementAt(tensorPlace(arguments[0], arguments[1].toStringView(), arguments.subspan(2)));
}

IValue setTensorElement(std::span<IValue> arguments) {
  setElementAt(tensorPlace(arguments[0], arguments[2].toStringView(), arguments.subspan(3)), arguments[1]);
  return {};
}

// ---- Methods and attributes ----

const Tensor& self(std::span<IValue> arguments) { return arguments[0].toTensor(); }

IValue shapeOf(std::span<IValue> arguments) {
  const auto sizes = self(arguments).sizes();
  return std::vector<int64_t>(sizes.begin(), sizes.end());
}

IValue size(std::span<IValue> arguments) {
  return arguments.size() == 1 ? shapeOf(arguments) : IValue(self(arguments).size(arguments[1].toInt()));
}

IValue keys(std::span<IValue> arguments) {
  const GenericList names;
  for (const DispatchKey key : self(arguments).key_set()) names.push_back(IValue(toString(key)));
  return names;
}

template <class T>
IValue nested(const T*& elements, std::span<const int64_t> sizes) {
  if (sizes.empty()) return *elements++;
  const GenericList list;
  for (int64_t i = 0; i < sizes[0]; ++i) list.push_back(nested(elements, sizes.subspan(1)));
  return list;
}

template <class T>
IValue toNestedList(const Tensor& tensor, ScalarType dtype) {
  const IValue converted = moved(tensor, dtype, Device(DeviceType::CPU));
  const IValue whole = resolved(converted.toTensor());
  const Tensor contiguous = callOperator("aten::contiguous", {&whole, 1}).toTensor();
  const T* elements = contiguous.const_data_ptr<T>();
  return nested(elements, contiguous.sizes());
}

IValue tolist(std::span<IValue> arguments) {
  if (self(arguments).layout() != Layout::Strided) arguments[0] = callOperator("aten::to_dense", arguments);
  const Tensor& tensor = self(arguments);
  if (tensor.is_complex()) return toNestedList<std::complex<double>>(tensor, ScalarType::ComplexDouble);
  if (tensor.is_floating_point()) return toNestedList<double>(tensor, ScalarType::Double);
  if (tensor.dtype() == ScalarType::Bool) return toNestedList<bool>(tensor, ScalarType::Bool);
  return toNestedList<int64_t>(tensor, ScalarType::Long);
}

template <ScalarType dtype>
IValue toDtype(std::span<IValue> arguments) {
  return moved(self(arguments), dtype, std::nullopt);
}

template <DeviceType device>
IValue toDevice(std::span<IValue> arguments) {
  return moved(self(arguments), std::nullopt, Device(device));
}

}  // namespace

void addTensorBuiltins(BuiltinTable& table) {
  addBuiltin(table, "tensor(Any data, *, ScalarType? dtype=None, Device? device=None, int[]? size=None) -> Tensor",
             makeTensor);
  addBuiltin(table, "wrapped_number(Any value) -> Any", [](std::span<IValue> arguments) -> IValue {
    return arguments[0].isScalar() ? IValue(wrappedNumber(arguments[0])) : std::move(arguments[0]);
  });
  table.back().is_hidden = true;
  addVariadic(table, "tensor_element(Any[] tensor_form_and_values) -> Tensor", 2, UINT16_MAX, tensorElement);
  table.back().is_hidden = true;
  addVariadic(table, "set_tensor_element(Any[] tensor_value_form_and_values) -> ()", 3, UINT16_MAX, setTensorElement);
  table.back().is_hidden = true;

  addBuiltin(table, "tensor.shape(Tensor self) -> int[]", shapeOf);
  addBuiltin(table, "tensor.dtype(Tensor self) -> ScalarType",
             [](std::span<IValue> arguments) -> IValue { return self(arguments).dtype(); });
  addBuiltin(table, "tensor.device(Tensor self) -> Device",
             [](std::span<IValue> arguments) -> IValue { return self(arguments).device(); });
  addBuiltin(table, "tensor.ndim(Tensor self) -> int",
             [](std::span<IValue> arguments) -> IValue { return self(arguments).dim(); });
  addBuiltin(table, "tensor.T(Tensor self) -> Tensor",
             [](std::span<IValue> arguments) -> IValue { return callOperator("aten::t", arguments); });
  addBuiltin(table, "tensor.layout(Tensor self) -> Layout",
             [](std::span<IValue> arguments) -> IValue { return self(arguments).layout(); });
  addBuiltin(table, "tensor.is_mkldnn(Tensor self) -> bool",
             [](std::span<IValue> arguments) -> IValue { return self(arguments).is_mkldnn(); });
  addBuiltin(table, "tensor.keys(Tensor self) -> str[]", keys);

  addVariadic(table, "tensor.size(Tensor self, int[] dim) -> Any", 0, 1, size, [](std::span<const TypePtr> arguments) {
    return arguments.size() == 1 ? Type::listOf(Type::integer()) : Type::integer();
  });
  addBuiltin(table, "tensor.dim(Tensor self) -> int",
             [](std::span<IValue> arguments) -> IValue { return self(arguments).dim(); });
  addBuiltin(table, "tensor.numel(Tensor self) -> int",
             [](std::span<IValue> arguments) -> IValue { return self(arguments).numel(); });
  addBuiltin(table, "tensor.tolist(Tensor self) -> Any", tolist);
  addBuiltin(table, "tensor.cpu(Tensor self) -> Tensor", toDevice<DeviceType::CPU>);
  addBuiltin(table, "tensor.cuda(Tensor self) -> Tensor", toDevice<DeviceType::CUDA>);
  addBuiltin(table, "tensor.float(Tensor self) -> Tensor", toDtype<ScalarType::Float>);
  addBuiltin(table, "tensor.half(Tensor self) -> Tensor", toDtype<ScalarType::Half>);
  addBuiltin(table, "tensor.double(Tensor self) -> Tensor", toDtype<ScalarType::Double>);
  addBuiltin(table, "tensor.long(Tensor self) -> Tensor", toDtype<ScalarType::Long>);
}

}  // namespace boxcar::interp
