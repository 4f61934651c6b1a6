#pragma once

#include <boxcar/backends/cuda/driver.h>
#include <boxcar/backends/cuda/stream.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <unordered_map>

namespace boxcar::cuda {

// Statistics of an allocator. Bytes are the requested ones, rounded up to blocks.
struct MemoryStatistics {
  size_t used = 0;      // bytes in tensors
  size_t peak = 0;      // the maximum of `used` so far
  size_t reserved = 0;  // bytes taken from the device, in tensors or cached
  uint64_t allocations = 0;
  uint64_t device_allocations = 0;  // of segments; these wait for the device
  uint64_t retries = 0;             // after the device ran out of memory and the cache was released
};

// The memory of one device. Freed blocks are kept and reused by later allocations on the same stream. Stream order
// makes this safe without waiting, whereas cudaMalloc and cudaFree wait for the device and cost hundreds of
// microseconds.
//
// Sizes are rounded up to 512 bytes. Sizes up to 1 MiB are cut from segments of 2 MiB, sizes up to 10 MiB from segments
// of 20 MiB; larger ones get a segment of their own, in steps of 2 MiB. Adjacent free blocks are merged. When the
// device is out of memory, the allocator releases its cache and tries once more.
//
// Memory allocated during a graph capture belongs to that graph until the graph is released, because its replays write
// to it.
class CachingAllocator final {
 public:
  // [device] must be the current device in every call except deallocate.
  explicit CachingAllocator(int device) : device_(device) {}
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  // Returns [bytes] for work on [stream], or null for 0 bytes. Throws Error with the numbers if there is no memory.
  void* allocate(size_t bytes, StreamHandle stream);
  // [user] is the stream of the memory's last work. If the memory was allocated for another stream, later work on that
  // stream, such as the next owner's, waits for the work on [user].
  void deallocate(void* memory, CudaStream user) noexcept;

  // Makes later allocations for [stream] come from the memory of graph [graph]; 0 ends that.
  void setGraph(uint64_t graph, StreamHandle stream);
  // To be called when graph [graph] is destroyed: releases the memory of it that nobody holds.
  void releaseGraph(uint64_t graph);

  // Releases the cached memory.
  void releaseCache();
  MemoryStatistics statistics() const;
  void resetPeak();

 private:
  // Blocks are reused only within their arena.
  struct Arena {
    StreamHandle stream;
    uint64_t graph;
    bool small;
    auto operator<=>(const Arena&) const = default;
  };
  struct Block {
    char* memory;
    size_t bytes;
    Arena arena;
    bool used = false;
    // Neighbours in the segment.
    Block* before = nullptr;
    Block* behind = nullptr;
  };
  struct Smaller {
    bool operator()(const Block* a, const Block* b) const {
      return std::tie(a->bytes, a->memory) < std::tie(b->bytes, b->memory);
    }
  };

  Block* takeFree(const Arena& arena, size_t bytes);
  Block* newSegment(const Arena& arena, size_t bytes);
  Status allocateSegment(void** memory, size_t bytes);
  void split(Block* block, size_t bytes);
  Block* join(Block* block);
  void putBack(Block* block);
  void releaseFree(bool (*chosen)(const Block&, uint64_t), uint64_t graph);
  [[noreturn]] void failOutOfMemory(size_t bytes) const;

  const int device_;
  mutable std::mutex mutex_;
  std::map<Arena, std::set<Block*, Smaller>> free_;
  std::unordered_map<void*, std::unique_ptr<Block>> blocks_;
  std::set<uint64_t> released_graphs_;
  uint64_t graph_ = 0;
  StreamHandle graph_stream_ = nullptr;
  MemoryStatistics statistics_;
};

// Returns the allocator of device [device].
CachingAllocator& allocatorOf(int device);

}  // namespace boxcar::cuda
