#pragma once

#include <cstddef>
#include <cstdint>

// DLPack's own name for what ManagedTensor describes. Only declared, so that dlpack/dlpack.h can be included too.
struct DLManagedTensorVersioned;

namespace boxcar::dlpack {

// The memory layout of DLPack 1 (https://dmlc.github.io/dlpack), for programs that do not have dlpack/dlpack.h. The
// names are boxcar's; the layout is the one that every DLPack 1 library uses.

// Another major version has another layout after `flags`. A minor version adds codes and flags.
struct Version {
  uint32_t major;
  uint32_t minor;
};
inline constexpr uint32_t kMajorVersion = 1;

enum DeviceCode : int32_t {
  kCpu = 1,
  kCuda = 2,
  kCudaHost = 3,  // CPU memory that is pinned for CUDA
  kOpenCl = 4,
  kVulkan = 7,
  kMetal = 8,
  kRocm = 10,
  kRocmHost = 11,
  kCudaManaged = 13,
  kOneApi = 14,
};

struct DeviceId {
  DeviceCode type;
  int32_t index;  // 0 for CPU memory
};

enum ElementCode : uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kOpaque = 3,
  kBFloat = 4,
  kComplex = 5,
  kBool = 6,  // of 8 bits
};

struct ElementType {
  ElementCode code;
  uint8_t bits;    // of the whole element: 64 for two floats
  uint16_t lanes;  // 1, except for elements that are vectors
};

struct Array {
  void* data;
  DeviceId device;
  int32_t ndim;
  ElementType dtype;
  int64_t* shape;
  int64_t* strides;      // in elements; before version 1.2 null means a contiguous array
  uint64_t byte_offset;  // from `data` to the first element
};

inline constexpr uint64_t kReadOnly = 1;
inline constexpr uint64_t kIsCopied = 2;  // by the producer, who does not keep it
inline constexpr uint64_t kSubbytesArePadded = 4;

// What a pointer to a DLManagedTensorVersioned points to. May alias: other code accesses it under that name.
struct [[gnu::may_alias]] ManagedTensor {
  Version version;
  void* manager_ctx;                                // the producer's
  void (*deleter)(DLManagedTensorVersioned* self);  // ends the loan and also frees this structure; may be null
  uint64_t flags;
  Array dl_tensor;
};

inline ManagedTensor* asManagedTensor(DLManagedTensorVersioned* managed) noexcept {
  return reinterpret_cast<ManagedTensor*>(managed);
}
inline DLManagedTensorVersioned* asDLManagedTensor(ManagedTensor* managed) noexcept {
  return reinterpret_cast<DLManagedTensorVersioned*>(managed);
}

static_assert(sizeof(void*) == 8, "the places below are those of 64-bit machines");
static_assert(sizeof(Version) == 8 && sizeof(DeviceId) == 8 && sizeof(ElementType) == 4);
static_assert(offsetof(Array, data) == 0 && offsetof(Array, device) == 8 && offsetof(Array, ndim) == 16 &&
              offsetof(Array, dtype) == 20 && offsetof(Array, shape) == 24 && offsetof(Array, strides) == 32 &&
              offsetof(Array, byte_offset) == 40 && sizeof(Array) == 48);
static_assert(offsetof(ManagedTensor, version) == 0 && offsetof(ManagedTensor, manager_ctx) == 8 &&
              offsetof(ManagedTensor, deleter) == 16 && offsetof(ManagedTensor, flags) == 24 &&
              offsetof(ManagedTensor, dl_tensor) == 32 && sizeof(ManagedTensor) == 80);

}  // namespace boxcar::dlpack
