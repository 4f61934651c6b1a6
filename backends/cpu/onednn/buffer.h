#pragma once

#include <boxcar/ivalue/cached_memory.h>

#include <cstddef>

namespace boxcar::cpu::onednn {

// Memory for tensors in oneDNN's layouts, uninitialised.
class Buffer final {
 public:
  explicit Buffer(size_t bytes) : bytes_(bytes), memory_(bytes == 0 ? nullptr : allocateCached(bytes)) {}
  ~Buffer() {
    if (memory_ != nullptr) freeCached(memory_, bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return memory_; }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_;
  void* memory_;
};

// A buffer for the time of one call. The thread keeps a few of those that the C library would return to the system at
// once: the next call would wait for the system to fill each page with zeros.
class CallBuffer final {
 public:
  explicit CallBuffer(size_t bytes);
  ~CallBuffer();
  CallBuffer(const CallBuffer&) = delete;
  CallBuffer& operator=(const CallBuffer&) = delete;

  void* data() const { return memory_; }

 private:
  size_t bytes_;  // of the memory, which may be more than was asked for
  void* memory_;
};

}  // namespace boxcar::cpu::onednn
