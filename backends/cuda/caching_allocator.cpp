#include <boxcar/backends/cuda/caching_allocator.h>
#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace boxcar::cuda {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;
constexpr size_t kGrain = 512;
constexpr size_t kMostSmall = kMebibyte;
constexpr size_t kSmallSegment = 2 * kMebibyte;
constexpr size_t kMostShared = 10 * kMebibyte;
constexpr size_t kSharedSegment = 20 * kMebibyte;
constexpr size_t kSegmentGrain = 2 * kMebibyte;

constexpr size_t roundUp(size_t bytes, size_t grain) { return (bytes + grain - 1) / grain * grain; }

size_t segmentFor(size_t bytes) {
  if (bytes <= kMostSmall) return kSmallSegment;
  return bytes < kMostShared ? kSharedSegment : roundUp(bytes, kSegmentGrain);
}

std::string sizeText(size_t bytes) {
  if (bytes < kMebibyte) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  if (bytes < 1024 * kMebibyte) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / kMebibyte);
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / kMebibyte / 1024);
}

}  // namespace

CachingAllocator::~CachingAllocator() = default;

void* CachingAllocator::allocate(size_t bytes, StreamHandle stream) {
  if (bytes == 0) return nullptr;
  BOXCAR_CHECK(bytes <= SIZE_MAX - kSegmentGrain, "{} bytes are more than any device has", bytes);
  const size_t rounded = roundUp(bytes, kGrain);
  const std::lock_guard lock(mutex_);
  const uint64_t graph = stream == graph_stream_ ? graph_ : 0;
  const Arena arena{stream, graph, rounded <= kMostSmall};
  Block* block = takeFree(arena, rounded);
  if (block == nullptr) block = newSegment(arena, rounded);
  split(block, rounded);
  block->used = true;
  ++statistics_.allocations;
  statistics_.used += block->bytes;
  statistics_.peak = std::max(statistics_.peak, statistics_.used);
  return block->memory;
}

void CachingAllocator::deallocate(void* memory, CudaStream user) noexcept {
  if (memory == nullptr) return;
  const std::lock_guard lock(mutex_);
  Block* const block = blocks_.at(memory).get();
  if (block->arena.stream != user.handle && block->arena.graph == 0 && !isCapturing()) {
    try {
      const DeviceGuard on(device_);
      orderStreams(user, {block->arena.stream});
    } catch (const std::exception&) {
      // The device failed, so nothing more is put on it.
    }
  }
  block->used = false;
  statistics_.used -= block->bytes;
  putBack(join(block));
}

// Takes the smallest free block that is large enough.
CachingAllocator::Block* CachingAllocator::takeFree(const Arena& arena, size_t bytes) {
  const auto found = free_.find(arena);
  if (found == free_.end()) return nullptr;
  Block wanted{nullptr, bytes, arena};
  const auto block = found->second.lower_bound(&wanted);
  if (block == found->second.end()) return nullptr;
  Block* const taken = *block;
  found->second.erase(block);
  return taken;
}

Status CachingAllocator::allocateSegment(void** memory, size_t bytes) {
  const Status status = driver().allocate(memory, bytes);
  if (status != kSuccess) driver().last_error();  // handled here, so cleared
  return status;
}

CachingAllocator::Block* CachingAllocator::newSegment(const Arena& arena, size_t bytes) {
  const size_t segment = segmentFor(bytes);
  void* memory = nullptr;
  Status status = allocateSegment(&memory, segment);
  if (status == kOutOfMemory) {
    ++statistics_.retries;
    releaseFree([](const Block& block, uint64_t) { return block.arena.graph == 0; }, 0);
    status = allocateSegment(&memory, segment);
  }
  if (status == kOutOfMemory) failOutOfMemory(bytes);
  check(status, fmt::format("allocating {} on cuda:{}", sizeText(segment), device_));
  ++statistics_.device_allocations;
  statistics_.reserved += segment;
  auto block = std::make_unique<Block>(Block{static_cast<char*>(memory), segment, arena});
  return blocks_.emplace(memory, std::move(block)).first->second.get();
}

// Turns the rest into a free block.
void CachingAllocator::split(Block* block, size_t bytes) {
  const size_t rest = block->bytes - bytes;
  const size_t least = block->arena.small ? kGrain : kMostSmall + kGrain;
  if (rest < least) return;
  auto behind = std::make_unique<Block>(Block{block->memory + bytes, rest, block->arena});
  behind->before = block;
  behind->behind = block->behind;
  if (block->behind != nullptr) block->behind->before = behind.get();
  block->behind = behind.get();
  block->bytes = bytes;
  free_[block->arena].insert(behind.get());
  void* const key = behind->memory;
  blocks_.emplace(key, std::move(behind));
}

// Merges [block] with its free neighbors.
CachingAllocator::Block* CachingAllocator::join(Block* block) {
  const auto swallow = [&](Block* first, Block* second) {
    first->bytes += second->bytes;
    first->behind = second->behind;
    if (second->behind != nullptr) second->behind->before = first;
    blocks_.erase(second->memory);
  };
  std::set<Block*, Smaller>& free = free_[block->arena];
  if (Block* const behind = block->behind; behind != nullptr && !behind->used) {
    free.erase(behind);
    swallow(block, behind);
  }
  if (Block* const before = block->before; before != nullptr && !before->used) {
    free.erase(before);
    swallow(before, block);
    block = before;
  }
  return block;
}

void CachingAllocator::putBack(Block* block) {
  free_[block->arena].insert(block);
  if (block->arena.graph != 0 && released_graphs_.contains(block->arena.graph))
    releaseFree([](const Block& free, uint64_t graph) { return free.arena.graph == graph; }, block->arena.graph);
}

// Releases free blocks that are whole segments.
void CachingAllocator::releaseFree(bool (*chosen)(const Block&, uint64_t), uint64_t graph) {
  for (auto& [arena, blocks] : free_) {
    for (auto block = blocks.begin(); block != blocks.end();) {
      Block* const candidate = *block;
      if (candidate->before != nullptr || candidate->behind != nullptr || !chosen(*candidate, graph)) {
        ++block;
        continue;
      }
      block = blocks.erase(block);
      driver().free(candidate->memory);
      statistics_.reserved -= candidate->bytes;
      blocks_.erase(candidate->memory);
    }
  }
}

void CachingAllocator::setGraph(uint64_t graph, StreamHandle stream) {
  const std::lock_guard lock(mutex_);
  graph_ = graph;
  graph_stream_ = stream;
}

void CachingAllocator::releaseGraph(uint64_t graph) {
  const std::lock_guard lock(mutex_);
  released_graphs_.insert(graph);
  releaseFree([](const Block& block, uint64_t wanted) { return block.arena.graph == wanted; }, graph);
}

void CachingAllocator::releaseCache() {
  const std::lock_guard lock(mutex_);
  releaseFree([](const Block& block, uint64_t) { return block.arena.graph == 0; }, 0);
}

MemoryStatistics CachingAllocator::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void CachingAllocator::resetPeak() {
  const std::lock_guard lock(mutex_);
  statistics_.peak = statistics_.used;
}

void CachingAllocator::failOutOfMemory(size_t bytes) const {
  size_t available = 0;
  size_t total = 0;
  driver().memory(&available, &total);
  BOXCAR_FAIL(
      "cuda:{} is out of memory: {} were asked for, and of {} there {} are free. Tensors of this program hold {}, its "
      "cache "
      "{}. Keep fewer tensors, or smaller ones, at a time",
      device_, sizeText(bytes), sizeText(total), sizeText(available), sizeText(statistics_.used),
      sizeText(statistics_.reserved - statistics_.used));
}

CachingAllocator& allocatorOf(int device) {
  // The allocators must outlive the last tensor.
  static std::array<CachingAllocator*, kMaxDevices>& allocators = *[] {
    auto* const made = new std::array<CachingAllocator*, kMaxDevices>;
    for (int i = 0; i < kMaxDevices; ++i) (*made)[static_cast<size_t>(i)] = new CachingAllocator(i);
    return made;
  }();
  return *allocators.at(static_cast<size_t>(device));
}

}  // namespace boxcar::cuda
