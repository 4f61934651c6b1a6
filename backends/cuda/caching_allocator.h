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

// What an allocator has done so far. Bytes are those asked for, rounded up to blocks.
struct MemoryStatistics {
  size_t used = 0;      // bytes in tensors
  size_t peak = 0;      // the most that ever was
  size_t reserved = 0;  // bytes taken from the device, in tensors or cached
  uint64_t allocations = 0;
  uint64_t device_allocations = 0;  // of segments, which wait for the device
  uint64_t retries = 0;             // after the device was out of memory and the cache had been given back
};

// The memory of one device. Freed blocks are kept and given to later allocations on the same stream, whose order makes
// that safe without waiting: cudaMalloc and cudaFree wait for the device, and cost hundreds of microseconds.
//
// Sizes are rounded up to 512 bytes. Up to 1 MiB they are cut from segments of 2 MiB, up to 10 MiB from segments of
// 20 MiB, and larger ones have a segment of their own, in steps of 2 MiB; neighbours that are free become one block.
// When the device has no more, what is cached is given back and it is asked once more.
//
// Memory that is allocated while a graph is captured belongs to that graph until it is released: its replays write
// there.
class CachingAllocator final {
 public:
  // For the device that is the current one in every call but deallocate.
  explicit CachingAllocator(int device) : device_(device) {}
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  // [bytes] for work on [stream]; null for 0 bytes. An Error that gives the numbers when there is no memory.
  void* allocate(size_t bytes, StreamHandle stream);
  // [user]: the stream that its last work went to. Where that is another one than it was allocated for, what is put to
  // that one from now on, as for the memory's next owner, begins after the work.
  void deallocate(void* memory, CudaStream user) noexcept;

  // Allocations for [stream] come from graph [graph]'s memory from now on; 0 ends that.
  void setGraph(uint64_t graph, StreamHandle stream);
  // Graph [graph] is gone: what nobody holds of its memory is given back.
  void releaseGraph(uint64_t graph);

  // Gives back what is cached.
  void releaseCache();
  MemoryStatistics statistics() const;
  void resetPeak();

 private:
  // Blocks are used again only within one.
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

// That of device [device].
CachingAllocator& allocatorOf(int device);

}  // namespace boxcar::cuda
