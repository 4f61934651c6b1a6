#pragma once

// Checks on tensors for the targets that read files.

#include <boxcar/ivalue/tensor.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>

#include "tests/fuzz/fuzz.h"

namespace boxcar::fuzz {

// Calls [visit] with the address of each element, in the order of the dimensions.
template <class Visit>
void visitElements(const Tensor& tensor, Visit visit, int64_t dim = 0, const std::byte* from = nullptr) {
  if (tensor.numel() == 0) return;
  if (dim == 0) from = static_cast<const std::byte*>(tensor.data_ptr());
  if (dim == tensor.dim()) return visit(from);
  const int64_t step = tensor.strides()[dim] * static_cast<int64_t>(tensor.itemsize());
  for (int64_t i = 0; i < tensor.sizes()[dim]; ++i) visitElements(tensor, visit, dim + 1, from + i * step);
}

// Reads all elements, so that a sanitizer checks the accesses. A bool must be 0 or 1.
inline void readElements(const Tensor& tensor) {
  const size_t bytes = tensor.itemsize();
  unsigned seen = 0;
  visitElements(tensor, [&](const std::byte* element) {
    for (size_t i = 0; i < bytes; ++i) seen |= std::to_integer<unsigned>(element[i]);
  });
  if (tensor.dtype() == ScalarType::Bool) require(seen <= 1, "a bool is neither 0 nor 1");
}

// Returns whether both are equal bit for bit; strides may differ.
inline bool areEqual(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !std::ranges::equal(a.sizes(), b.sizes())) return false;
  std::string bytes[2];
  for (const bool second : {false, true}) {
    const Tensor& tensor = second ? b : a;
    visitElements(tensor, [&](const std::byte* element) {
      bytes[second].append(reinterpret_cast<const char*>(element), tensor.itemsize());
    });
  }
  return bytes[0] == bytes[1];
}

// The name of a file that targets write; in memory if the system has such a folder. Removed when the process ends.
class OutputName final {
 public:
  OutputName()
      : path_((std::filesystem::is_directory("/dev/shm") ? std::filesystem::path("/dev/shm")
                                                         : std::filesystem::temp_directory_path()) /
              ("boxcar_fuzz_" + std::to_string(::getpid()))) {}
  OutputName(const OutputName&) = delete;
  OutputName& operator=(const OutputName&) = delete;
  ~OutputName() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  std::string path() const { return path_.string(); }

 private:
  const std::filesystem::path path_;
};

}  // namespace boxcar::fuzz
