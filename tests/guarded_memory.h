#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace boxcar {

// Memory for [count] elements, which ends at an inaccessible page and begins behind another one.
template <class T>
class GuardedMemory final {
 public:
  explicit GuardedMemory(size_t count) : count_(count) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = count * sizeof(T);
    mapped_ = (bytes + page - 1) / page * page + 2 * page;
    void* const memory = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    memory_ = static_cast<std::byte*>(memory);
    EXPECT_EQ(mprotect(memory_ + page, mapped_ - 2 * page, PROT_READ | PROT_WRITE), 0);
    data_ = reinterpret_cast<T*>(memory_ + mapped_ - page - bytes);
  }
  explicit GuardedMemory(std::span<const T> elements) : GuardedMemory(elements.size()) {
    std::ranges::copy(elements, data_);
  }
  ~GuardedMemory() { munmap(memory_, mapped_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  T* data() const { return data_; }
  size_t size() const { return count_; }
  std::span<T> elements() const { return {data_, count_}; }

 private:
  size_t count_;
  size_t mapped_;
  std::byte* memory_;
  T* data_;
};

}  // namespace boxcar
