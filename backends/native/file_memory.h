#pragma once

#include <boxcar/ivalue/file_descriptor.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <span>

namespace boxcar::native {

// Notes that [bytes] are a private mapping of all of [file], for readOnce(). The file stays open meanwhile. Small files
// are not noted, nor are any while there are many.
class BOXCAR_API FileMemory final {
 public:
  FileMemory(std::span<const std::byte> bytes, FileDescriptor file);
  ~FileMemory();
  FileMemory(const FileMemory&) = delete;
  FileMemory& operator=(const FileMemory&) = delete;

 private:
  const std::byte* begin_ = nullptr;  // null if it is not noted
};

// Whether the elements of [tensor] lie in the memory of a file that was noted. Nothing then has been computed into it,
// as a rule.
BOXCAR_API bool liesInFile(const Tensor& tensor);

// Returns the elements of [tensor] for one pass over them, after which they will hardly be needed again: the tensor
// itself, or, if it lies in a file's memory and no page of it has been written to, another mapping of the same part of
// the file. The pages of the first mapping then need not be read in, and those of the other one are given back when the
// result dies, which must not be written to.
BOXCAR_API Tensor readOnce(const Tensor& tensor);

}  // namespace boxcar::native
