#include <boxcar/backends/io/numpy_scalars.h>
#include <boxcar/backends/io/pickle_text.h>
#include <boxcar/backends/io/tensor_file.h>
#include <boxcar/backends/io/torch_names.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/layout.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

namespace boxcar::io {
namespace {

using PickleArguments = std::span<const IValue>;

// What a persistent id stands for. Without a storage, tensors on it are left out.
struct PickledStorage final : CustomClassHolder {
  PickledStorage(Storage its_storage, ScalarType its_dtype, int64_t its_offset)
      : storage(std::move(its_storage)), dtype(its_dtype), offset(its_offset) {}
  std::string className() const override { return "torch storage"; }

  const Storage storage;
  const ScalarType dtype;
  const int64_t offset;  // of a view of the storage, as PyTorch before 0.4 had them
};

std::vector<int64_t> intsOf(const IValue& value, const PicklePlace& place) {
  if (!value.isTuple() && !value.isList())
    place.fail(fmt::format("a value of type {} stands where sizes should", pickledKind(value)));
  std::vector<int64_t> numbers(value.length());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const IValue element = value.elementAt(i);
    if (!element.isInt())
      place.fail(fmt::format("a value of type {} stands where a size should", pickledKind(element)));
    numbers[i] = element.toInt();
  }
  return numbers;
}

// Returns the bytes of storage that a tensor reaches to; nullopt if its numbers make no tensor.
std::optional<uint64_t> bytesToLast(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset,
                                    ScalarType dtype) {
  const auto is_negative = [](int64_t number) { return number < 0; };
  if (sizes.size() != strides.size() || offset < 0 || std::ranges::any_of(sizes, is_negative) ||
      std::ranges::any_of(strides, is_negative))
    return std::nullopt;
  if (!bytesOfElements(dtype, sizes)) return std::nullopt;
  if (std::ranges::find(sizes, 0) != sizes.end()) return 0;
  int64_t last = offset;
  int64_t bytes = 0;
  bool overflows = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t step = 0;
    overflows |= __builtin_mul_overflow(sizes[i] - 1, strides[i], &step) || __builtin_add_overflow(last, step, &last);
  }
  overflows |= __builtin_add_overflow(last, int64_t{1}, &last) ||
               __builtin_mul_overflow(last, static_cast<int64_t>(elementSize(dtype)), &bytes);
  if (overflows) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

// Makes a tensor of (storage, offset, sizes, strides, …).
IValue tensorOnStorage(PickleArguments arguments, ScalarType dtype, const PicklePlace& place) {
  const auto* const source = arguments.size() >= 4 && arguments[0].isObject()
                                 ? dynamic_cast<const PickledStorage*>(arguments[0].object())
                                 : nullptr;
  if (source == nullptr || !arguments[1].isInt())
    place.fail("a tensor is not made of a storage, an offset, sizes and strides");
  if (dtype == ScalarType::Undefined) dtype = source->dtype;
  if (dtype == ScalarType::Undefined || (source->dtype != ScalarType::Undefined && source->dtype != dtype))
    place.fail("a tensor has not the dtype of its storage");
  const std::vector<int64_t> sizes = intsOf(arguments[2], place);
  const std::vector<int64_t> strides = intsOf(arguments[3], place);
  if (!source->storage) return IValue();
  int64_t offset = arguments[1].toInt();
  if (__builtin_add_overflow(offset, source->offset, &offset)) offset = -1;
  const std::optional<uint64_t> bytes = bytesToLast(sizes, strides, offset, dtype);
  if (!bytes || *bytes > source->storage->nbytes())
    place.fail(
        fmt::format("a tensor of sizes [{}], strides [{}] and offset {} does not fit the {} bytes of its storage",
                    fmt::join(sizes, ", "), fmt::join(strides, ", "), arguments[1].toInt(), source->storage->nbytes()));
  return Tensor(makeIntrusive<TensorImpl>(source->storage, dtype, sizes, strides, *bytes == 0 ? 0 : offset));
}

// ---- The functions of the table ----

IValue rebuildTensor(PickleArguments arguments, const PicklePlace& place) {
  IValue rebuilt = tensorOnStorage(arguments, ScalarType::Undefined, place);
  // The seventh argument of the second version says what is done lazily: {'conj': True}.
  if (arguments.size() <= 6 || !arguments[6].isGenericDict() || rebuilt.isNone()) return rebuilt;
  Tensor tensor = rebuilt.toTensor();
  const GenericDict bits = arguments[6].toGenericDict();
  for (const auto& bit : bits) {
    if (bit.value() != IValue(true)) continue;
    const bool is_conj = bit.key() == IValue("conj");
    if (!is_conj && bit.key() != IValue("neg")) place.fail(fmt::format("a tensor has the bit {}", repr(bit.key())));
    if (is_conj && !tensor.is_complex()) place.fail("a tensor of real numbers has the bit 'conj'");
    tensor = withOtherBit(tensor, is_conj ? DispatchKey::Conjugate : DispatchKey::Negative);
    tensor.unsafeGetTensorImpl()->clear_base();
  }
  return tensor;
}

// The dtype is the seventh argument.
IValue rebuildTensorOfDtype(PickleArguments arguments, const PicklePlace& place) {
  if (arguments.size() < 7 || !arguments[6].isInt() || arguments[6].toInt() < 0 ||
      arguments[6].toInt() >= static_cast<int64_t>(ScalarType::Undefined))
    place.fail("a tensor has no dtype");
  return tensorOnStorage(arguments, arguments[6].toScalarType(), place);
}

// A parameter is its data; requires_grad is not set.
IValue rebuildParameter(PickleArguments arguments, const PicklePlace& place) {
  if (arguments.empty() || (!arguments[0].isTensor() && !arguments[0].isNone()))
    place.fail("a parameter has no tensor");
  return arguments[0];
}

// (function, class, its arguments, state): a tensor with attributes, which are dropped.
IValue rebuildFromType(PickleArguments arguments, const PicklePlace& place) {
  const PickleFunction* const function = arguments.size() >= 3 ? asPickleFunction(arguments[0]) : nullptr;
  if (function == nullptr || !function->name().starts_with("torch._utils._rebuild_") || !arguments[2].isTuple())
    place.fail("a tensor is not made by a function");
  return function->call()(arguments[2].unsafeGet<IValue::Tag::Tuple>()->elements(), place);
}

IValue makeDict(PickleArguments arguments, const PicklePlace& place) {
  const GenericDict dict;
  if (arguments.empty()) return dict;
  if (arguments.size() == 1 && arguments[0].isGenericDict()) return arguments[0].toGenericDict().copy();
  if (arguments.size() != 1 || !arguments[0].isGenericList()) place.fail("a dict is not made of pairs");
  for (const IValue& pair : arguments[0].toList().span()) {
    if ((!pair.isTuple() && !pair.isGenericList()) || pair.length() != 2 || !pair.elementAt(0).isString())
      place.fail("a dict is not made of pairs that begin with a str");
    dict.insert_or_assign(pair.elementAt(0), pair.elementAt(1));
  }
  return dict;
}

// The class that makes missing values is not needed.
IValue makeDefaultDict(PickleArguments, const PicklePlace&) { return GenericDict(); }

IValue makeSet(PickleArguments arguments, const PicklePlace& place) {
  if (arguments.empty()) return GenericList();
  if (arguments.size() != 1 || !arguments[0].isGenericList()) place.fail("a set is not made of a list");
  return arguments[0].toList().copy();
}

IValue makeComplex(PickleArguments arguments, const PicklePlace& place) {
  if (arguments.size() != 2 || !arguments[0].isDouble() || !arguments[1].isDouble())
    place.fail("a complex number is not made of two floats");
  return std::complex<double>(arguments[0].toDouble(), arguments[1].toDouble());
}

// _codecs.encode(text, 'latin1'), and bytearray(text, 'latin-1'): protocols 0 to 2 write bytes so.
IValue bytesOfText(PickleArguments arguments, const PicklePlace& place) {
  if (arguments.empty()) return "";
  std::string_view encoding;
  if (arguments.size() == 2 && arguments[1].isString()) encoding = arguments[1].toStringView();
  if (!arguments[0].isString() || (arguments.size() != 1 && encoding != "latin1" && encoding != "latin-1"))
    place.fail("bytes are not made of a str and 'latin1'");
  if (arguments.size() == 1) return arguments[0];
  const auto bytes = latin1OfUtf8(arguments[0].toStringView());
  if (!bytes) place.fail("a text that stands for bytes has characters beyond 255");
  return *bytes;
}

IValue makeSize(PickleArguments arguments, const PicklePlace& place) {
  return arguments.empty() ? std::vector<int64_t>() : intsOf(arguments[0], place);
}

IValue makeDevice(PickleArguments arguments, const PicklePlace& place) {
  if (arguments.empty() || !arguments[0].isString() || (arguments.size() > 1 && !arguments[1].isInt()))
    place.fail("a device is not made of a str and an int");
  const std::string name = arguments.size() == 1
                               ? arguments[0].toStringRef()
                               : fmt::format("{}:{}", arguments[0].toStringView(), arguments[1].toInt());
  try {
    return Device(name);
  } catch (const Error&) {
    place.fail(fmt::format("{} is no device", pythonStringRepr(name)));
  }
}

IValue getLayout(PickleArguments arguments, const PicklePlace& place) {
  if (arguments.size() != 1 || !arguments[0].isString() || arguments[0].toStringView() != "torch.strided")
    place.fail("a tensor is sparse, or has another layout that boxcar's do not have: save x.to_dense()");
  return Layout::Strided;
}

struct KnownName {
  std::string_view name;
  IValue (*call)(PickleArguments arguments, const PicklePlace& place);  // null: it is named only
};

constexpr auto kKnownNames = std::to_array<KnownName>({
    {"__builtin__.bytearray", bytesOfText},
    {"__builtin__.bytes", bytesOfText},
    {"__builtin__.complex", makeComplex},
    {"__builtin__.dict", makeDict},
    {"__builtin__.float", nullptr},
    {"__builtin__.frozenset", makeSet},
    {"__builtin__.int", nullptr},
    {"__builtin__.list", nullptr},
    {"__builtin__.set", makeSet},
    {"__builtin__.str", nullptr},
    {"_codecs.encode", bytesOfText},
    {"builtins.bytearray", bytesOfText},
    {"builtins.bytes", bytesOfText},
    {"builtins.complex", makeComplex},
    {"builtins.dict", makeDict},
    {"builtins.float", nullptr},
    {"builtins.frozenset", makeSet},
    {"builtins.int", nullptr},
    {"builtins.list", nullptr},
    {"builtins.set", makeSet},
    {"builtins.str", nullptr},
    {"collections.Counter", makeDict},
    {"collections.OrderedDict", makeDict},
    {"collections.defaultdict", makeDefaultDict},
    {"numpy._core.multiarray.scalar", pickledNumpyScalar},
    {"numpy.core.multiarray.scalar", pickledNumpyScalar},
    {"numpy.dtype", pickledNumpyDtype},
    {"torch.Size", makeSize},
    {"torch.Tensor", nullptr},
    {"torch._tensor._rebuild_from_type_v2", rebuildFromType},
    {"torch._utils._rebuild_parameter", rebuildParameter},
    {"torch._utils._rebuild_parameter_with_state", rebuildParameter},
    {"torch._utils._rebuild_tensor", rebuildTensor},
    {"torch._utils._rebuild_tensor_v2", rebuildTensor},
    {"torch._utils._rebuild_tensor_v3", rebuildTensorOfDtype},
    {"torch.device", makeDevice},
    {"torch.nn.parameter.Buffer", nullptr},
    {"torch.nn.parameter.Parameter", nullptr},
    {"torch.serialization._get_layout", getLayout},
});

// What is refused for other reasons than code that would run.
struct RefusedName {
  std::string_view name;
  std::string_view problem;
};

constexpr auto kRefusedNames = std::to_array<RefusedName>({
    {"torch._utils._rebuild_meta_tensor_no_storage", "a tensor is on the device 'meta', and has no elements"},
    {"torch._utils._rebuild_qtensor", "a tensor is quantised, which boxcar's are not: save x.dequantize()"},
    {"torch._utils._rebuild_sparse_tensor", "a tensor is sparse, which boxcar's are not: save x.to_dense()"},
});

// Whether the name is that of a dtype, also of one that boxcar does not have: torch.float8_e5m2, torch.uint16.
bool namesAnyDtype(std::string_view name) {
  constexpr std::string_view kBegins[] = {"torch.float",    "torch.int",  "torch.uint",  "torch.complex",
                                          "torch.bcomplex", "torch.qint", "torch.quint", "torch.bits"};
  return std::ranges::any_of(kBegins, [name](std::string_view begin) {
    return name.starts_with(begin) && name.size() > begin.size() && name[begin.size()] >= '0' &&
           name[begin.size()] <= '9';
  });
}

// Returns the dtype of a class of storages, "torch.FloatStorage", "torch.cuda.FloatStorage"; nullopt for other names.
std::optional<ScalarType> storageDtype(std::string_view name) {
  constexpr std::string_view kEnd = "Storage";
  if (name == "torch.storage.UntypedStorage" || name == "torch.UntypedStorage") return ScalarType::Undefined;
  if (!name.starts_with("torch.") || !name.ends_with(kEnd)) return std::nullopt;
  name.remove_prefix(name.starts_with("torch.cuda.") ? 11 : 6);
  name.remove_suffix(kEnd.size());
  for (int i = 0; i < static_cast<int>(ScalarType::Undefined); ++i) {
    const auto dtype = static_cast<ScalarType>(i);
    if (elementSize(dtype) != 0 && dtype != ScalarType::ComplexHalf && toString(dtype) == name) return dtype;
  }
  return std::nullopt;
}

// Returns the dtype that "torch.float32" names.
std::optional<ScalarType> namedDtype(std::string_view name) {
  constexpr std::string_view kBegin = "torch.";
  return name.starts_with(kBegin) ? parseDtype(name.substr(kBegin.size())) : std::nullopt;
}

}  // namespace

IValue TorchNames::find(std::string_view name, const PicklePlace& place) {
  const auto* const known = std::ranges::find(kKnownNames, name, &KnownName::name);
  if (known != kKnownNames.end())
    return makeIntrusive<PickleFunction>(std::string(name),
                                         known->call == nullptr ? PickleFunction::Call() : known->call);
  if (const auto dtype = namedDtype(name)) return *dtype;
  if (storageDtype(name)) return makeIntrusive<PickleFunction>(std::string(name));
  const auto* const refused = std::ranges::find(kRefusedNames, name, &RefusedName::name);
  if (refused != kRefusedNames.end()) place.fail(refused->problem);
  if (namesAnyDtype(name))
    place.fail(fmt::format("a tensor has the dtype {}, which boxcar does not have: save x.float() or x.long()",
                           name.substr(0, 40)));
  place.refuse(pythonStringRepr(name.substr(0, 100)));
}

// ('storage', class, key, location, numel[, (view's key, offset, numel)])
IValue TorchNames::findPersistent(const IValue& id, const PicklePlace& place) {
  const auto fail = [&] {
    place.fail("the id of a storage is not made of 'storage', a class, a key, a device and a size");
  };
  if (!id.isTuple()) fail();
  const auto& parts = id.unsafeGet<IValue::Tag::Tuple>()->elements();
  if (parts.size() < 5 || parts.size() > 6 || !parts[0].isString() || parts[0].toStringView() != "storage" ||
      !parts[2].isString() || !parts[3].isString() || !parts[4].isInt() || parts[4].toInt() < 0)
    fail();
  const PickleFunction* const its_class = asPickleFunction(parts[1]);
  const auto dtype = its_class != nullptr ? storageDtype(its_class->name()) : std::nullopt;
  if (!dtype) fail();
  if (parts[3].toStringView() == "meta") place.fail("a storage is on the device 'meta', and has no elements");

  StorageId storage{.key = parts[2].toStringRef(), .dtype = *dtype, .numel = parts[4].toInt(), .bytes = 0};
  const uint64_t item = std::max<size_t>(elementSize(*dtype), 1);
  if (__builtin_mul_overflow(static_cast<uint64_t>(storage.numel), item, &storage.bytes))
    place.fail(fmt::format("a storage has {} elements, more than fit memory", storage.numel));
  int64_t offset = 0;
  if (parts.size() == 6 && !parts[5].isNone()) {
    if (!parts[5].isTuple() || parts[5].length() != 3 || !parts[5].elementAt(1).isInt()) fail();
    offset = parts[5].elementAt(1).toInt();
  }
  return makeIntrusive<PickledStorage>(storages_(storage, place), *dtype, offset);
}

}  // namespace boxcar::io
