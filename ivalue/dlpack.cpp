#include <boxcar/ivalue/bytes_reached.h>
#include <boxcar/ivalue/dlpack.h>
#include <boxcar/ivalue/dlpack_abi.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/zero_tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar {
namespace {

using dlpack::asManagedTensor;

struct Element {
  dlpack::ElementCode code;
  uint8_t bits;
  ScalarType type;
};
constexpr Element kElements[] = {
    {dlpack::kBool, 8, ScalarType::Bool},
    {dlpack::kUInt, 8, ScalarType::Byte},
    {dlpack::kInt, 8, ScalarType::Char},
    {dlpack::kInt, 16, ScalarType::Short},
    {dlpack::kInt, 32, ScalarType::Int},
    {dlpack::kInt, 64, ScalarType::Long},
    {dlpack::kFloat, 16, ScalarType::Half},
    {dlpack::kBFloat, 16, ScalarType::BFloat16},
    {dlpack::kFloat, 32, ScalarType::Float},
    {dlpack::kFloat, 64, ScalarType::Double},
    {dlpack::kComplex, 64, ScalarType::ComplexFloat},
    {dlpack::kComplex, 128, ScalarType::ComplexDouble},
};

// Indexed by code, up to DLPack 1.3.
constexpr std::string_view kElementNames[] = {
    "int",
    "uint",
    "float",
    "opaque handle",
    "bfloat",
    "complex",
    "bool",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
};

std::string elementName(const dlpack::ElementType& type) {
  const size_t code = type.code;
  const std::string name =
      code < std::size(kElementNames) ? std::string(kElementNames[code]) : fmt::format("of the unknown code {}", code);
  return fmt::format("{} of {} bits", name, type.bits);
}

std::string_view deviceName(dlpack::DeviceCode code) {
  switch (code) {
    case dlpack::kOpenCl: return "OpenCL";
    case dlpack::kVulkan: return "Vulkan";
    case dlpack::kMetal: return "Metal";
    case dlpack::kRocm: return "ROCm";
    case dlpack::kRocmHost: return "memory pinned for ROCm";
    case dlpack::kCudaManaged: return "managed memory of CUDA";
    case dlpack::kOneApi: return "oneAPI";
    default: return "a device that boxcar does not know";
  }
}

// ---- to ----

// The structure together with its own tensor on the lent memory; the structure points to that tensor's sizes and
// strides.
struct Loan {
  dlpack::ManagedTensor managed;
  Tensor tensor;
};

void endLoan(DLManagedTensorVersioned* managed) { delete static_cast<Loan*>(asManagedTensor(managed)->manager_ctx); }

dlpack::DeviceId toDeviceId(Device device) {
  BOXCAR_CHECK(device.is_cpu() || device.is_cuda(),
               "cannot lend the tensor by DLPack: it is on device '{}', and only memory of the CPU and of CUDA can be "
               "lent; copy it to the CPU first",
               device);
  if (device.is_cpu()) return {dlpack::kCpu, 0};
  return {dlpack::kCuda, std::max<int32_t>(device.index(), 0)};
}

dlpack::ElementType toElementType(ScalarType type) {
  const auto* found = std::ranges::find(kElements, type, &Element::type);
  BOXCAR_CHECK(found != std::end(kElements), "cannot lend the tensor by DLPack: DLPack has no dtype {}",
               dtypeName(type));
  return {found->code, found->bits, 1};
}

// ---- from ----

// One number for each dimension, most often without an allocation.
using Numbers = boost::container::small_vector<int64_t, 6>;

// The checked content of a structure.
struct Borrowed {
  ScalarType dtype;
  Device device;
  Numbers shape;
  Numbers strides = {};
  std::byte* data = nullptr;
  size_t bytes = 0;  // from `data` to the end of the last element
};

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  BOXCAR_FAIL("cannot take the DLPack tensor: {}", fmt::format(format, std::forward<Args>(args)...));
}

ScalarType toScalarType(const dlpack::ElementType& type) {
  if (type.lanes != 1) {
    refuse("its elements are vectors of {} lanes, {} each; make the lanes a dimension", type.lanes, elementName(type));
  }
  for (const Element& element : kElements) {
    if (element.code == type.code && element.bits == type.bits) return element.type;
  }
  std::vector<std::string_view> known;
  for (const Element& element : kElements) known.push_back(dtypeName(element.type));
  refuse("its elements are {}, which boxcar does not have (it has {}); convert them first", elementName(type),
         fmt::join(known, ", "));
}

Device toDevice(const dlpack::DeviceId& device) {
  switch (device.type) {
    case dlpack::kCpu:
    case dlpack::kCudaHost: return DeviceType::CPU;
    case dlpack::kCuda:
      if (device.index < 0 || device.index > std::numeric_limits<DeviceIndex>::max())
        refuse("it is on the CUDA device {}, but boxcar's devices have the numbers 0 to {}", device.index,
               std::numeric_limits<DeviceIndex>::max());
      return {DeviceType::CUDA, static_cast<DeviceIndex>(device.index)};
    default:
      refuse("it is on {} (device type {}), but boxcar takes memory of the CPU and of CUDA; copy it there first",
             deviceName(device.type), static_cast<int32_t>(device.type));
  }
}

Numbers toShape(const dlpack::Array& array) {
  if (array.ndim < 0) refuse("it has {} dimensions", array.ndim);
  if (array.ndim == 0) return {};
  if (array.shape == nullptr) refuse("it has {} dimensions and no shape", array.ndim);
  Numbers shape(array.shape, array.shape + array.ndim);
  if (std::ranges::any_of(shape, [](int64_t size) { return size < 0; }))
    refuse("its shape [{}] has a negative size", fmt::join(shape, ", "));
  return shape;
}

// Strides that are never stepped along may be anything: replaces them by those of a contiguous tensor.
Numbers toStrides(const dlpack::Array& array, const Numbers& shape) {
  Numbers strides(shape.size());
  contiguousStrides(shape, strides);
  if (array.strides == nullptr || std::ranges::find(shape, 0) != shape.end()) return strides;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > 1) strides[i] = array.strides[i];
  }
  if (std::ranges::any_of(strides, [](int64_t stride) { return stride < 0; }))
    refuse("its strides [{}] are negative, which boxcar's tensors do not support; make it contiguous first",
           fmt::join(strides, ", "));
  return strides;
}

Borrowed readBorrowed(const dlpack::ManagedTensor& managed) {
  if (managed.version.major != dlpack::kMajorVersion)
    refuse("it has the layout of DLPack {}.{}, but boxcar reads that of DLPack {}", managed.version.major,
           managed.version.minor, dlpack::kMajorVersion);
  constexpr uint64_t kKnownFlags = dlpack::kReadOnly | dlpack::kIsCopied | dlpack::kSubbytesArePadded;
  if ((managed.flags & ~kKnownFlags) != 0)
    refuse("it has flags, {:#x}, that boxcar does not know (DLPack {}.{})", managed.flags & ~kKnownFlags,
           managed.version.major, managed.version.minor);
  const dlpack::Array& array = managed.dl_tensor;
  Borrowed borrowed{.dtype = toScalarType(array.dtype), .device = toDevice(array.device), .shape = toShape(array)};
  borrowed.strides = toStrides(array, borrowed.shape);
  const auto bytes = bytesReached(borrowed.shape, borrowed.strides, elementSize(borrowed.dtype));
  if (!bytes.has_value())
    refuse("with the shape [{}] and the strides [{}] it has or reaches more than 63 bits can count",
           fmt::join(borrowed.shape, ", "), fmt::join(borrowed.strides, ", "));
  borrowed.bytes = *bytes;
  if (borrowed.bytes == 0) return borrowed;
  if (array.data == nullptr)
    refuse("its shape [{}] has elements, but it has no memory", fmt::join(borrowed.shape, ", "));
  uintptr_t first = 0;
  uintptr_t past = 0;
  if (__builtin_add_overflow(reinterpret_cast<uintptr_t>(array.data), array.byte_offset, &first) ||
      __builtin_add_overflow(first, borrowed.bytes, &past))
    refuse("its byte_offset, {}, leads past the end of all memory", array.byte_offset);
  borrowed.data = static_cast<std::byte*>(array.data) + array.byte_offset;
  return borrowed;
}

// Returns why a tensor cannot share the memory; "" if it can.
std::string whyNotShared(const dlpack::ManagedTensor& managed, const Borrowed& borrowed) {
  if (borrowed.bytes == 0) return "";
  if ((managed.flags & dlpack::kReadOnly) != 0) return "it is read-only, and operators may write to any tensor";
  const size_t alignment = elementSize(toRealValueType(borrowed.dtype));
  if (reinterpret_cast<uintptr_t>(borrowed.data) % alignment == 0) return "";
  return fmt::format("its elements, {}, are not aligned to {} bytes", dtypeName(borrowed.dtype), alignment);
}

Tensor tensorOver(Storage storage, const Borrowed& borrowed) {
  return Tensor(
      makeIntrusive<TensorImpl>(std::move(storage), borrowed.dtype, borrowed.shape, borrowed.strides, int64_t{0}));
}

// Ends another library's loan when the storage is freed.
struct Debt {
  DLManagedTensorVersioned* managed = nullptr;  // null until nothing can fail any more

  static void end(void*, void* context) {
    const std::unique_ptr<Debt> debt(static_cast<Debt*>(context));
    releaseDLPack(debt->managed);
  }
};

}  // namespace

DLManagedTensorVersioned* toDLPack(const Tensor& tensor) {
  BOXCAR_CHECK(tensor.defined(), "cannot lend the tensor by DLPack: it is undefined");
  BOXCAR_CHECK(!tensor.requires_grad(),
               "cannot lend the tensor by DLPack: it requires grad, and autograd does not see what others write; "
               "lend x.detach()");
  BOXCAR_CHECK(tensor.layout() == Layout::Strided,
               "cannot lend the tensor by DLPack: its layout, torch.{}, has no strides; lend x.to_dense()",
               layoutName(tensor.layout()));
  const std::string_view unreadable = whyUnreadable(tensor);
  BOXCAR_CHECK(unreadable.empty(), "cannot lend the tensor by DLPack: {}", unreadable);
  BOXCAR_CHECK(!isZeroTensor(tensor),
               "cannot lend the tensor by DLPack: it is a zero tensor, which has no memory; lend x.clone()");
  const Tensor in_memory = resolved(tensor);
  std::vector<int64_t> strides(in_memory.strides().begin(), in_memory.strides().end());
  // Some libraries read the strides of dimensions of size 1.
  if (in_memory.is_contiguous()) contiguousStrides(in_memory.sizes(), strides);
  auto loan = std::make_unique<Loan>(
      Loan{.managed = {}, .tensor = in_memory.view(in_memory.sizes(), strides, in_memory.storage_offset())});
  loan->tensor.unsafeGetTensorImpl()->clear_base();
  const Tensor& lent = loan->tensor;
  // 1.0 has everything that is used here, so every reader of DLPack 1 accepts it.
  loan->managed = {.version = {dlpack::kMajorVersion, 0},
                   .manager_ctx = loan.get(),
                   .deleter = endLoan,
                   .flags = in_memory.is_same(tensor) ? 0 : dlpack::kIsCopied,
                   .dl_tensor = {.data = lent.numel() == 0 ? nullptr : lent.data_ptr(),
                                 .device = toDeviceId(lent.device()),
                                 .ndim = static_cast<int32_t>(lent.dim()),
                                 .dtype = toElementType(lent.dtype()),
                                 .shape = const_cast<int64_t*>(lent.sizes().data()),
                                 .strides = const_cast<int64_t*>(lent.strides().data()),
                                 .byte_offset = 0}};
  return dlpack::asDLManagedTensor(&loan.release()->managed);
}

Tensor fromDLPack(DLManagedTensorVersioned* managed, DLPackCopy copy) {
  if (managed == nullptr) refuse("the pointer is null");
  if (const auto* const own = asManagedTensor(managed); own->deleter == endLoan) {
    // Uses the same storage, so that operators see which tensors overlap.
    const Tensor& lent = static_cast<const Loan*>(own->manager_ctx)->tensor;
    Tensor returned = lent.shallowCopy();
    releaseDLPack(managed);
    return returned;
  }
  const Borrowed borrowed = readBorrowed(*asManagedTensor(managed));
  if (const std::string reason = whyNotShared(*asManagedTensor(managed), borrowed); !reason.empty()) {
    if (!borrowed.device.is_cpu())
      refuse("{}; copy it before, because fromDLPack does not copy on device '{}'", reason, borrowed.device);
    if (copy == DLPackCopy::Never) refuse("{}; let fromDLPack copy it (DLPackCopy::WhereNeeded)", reason);
    const Storage storage = StorageImpl::allocate(borrowed.bytes, borrowed.device);
    std::memcpy(storage->data(), borrowed.data, borrowed.bytes);
    Tensor copied = tensorOver(storage, borrowed);
    releaseDLPack(managed);
    return copied;
  }
  auto* const owed = new Debt;
  Storage storage = StorageImpl::wrap(borrowed.data, borrowed.bytes, borrowed.device, Debt::end, owed);
  Tensor shared = tensorOver(std::move(storage), borrowed);
  owed->managed = managed;
  return shared;
}

void releaseDLPack(DLManagedTensorVersioned* managed) noexcept {
  if (managed == nullptr) return;
  if (auto* const deleter = asManagedTensor(managed)->deleter; deleter != nullptr) deleter(managed);
}

}  // namespace boxcar
