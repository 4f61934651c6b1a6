#include <boxcar/backends/cpu/onednn/buffer.h>

#include <utility>

namespace boxcar::cpu::onednn {
namespace {

// Smaller blocks stay with the C library; larger ones, which lie in huge pages, with allocateCached().
constexpr size_t kLeastKept = size_t{128} << 10;
constexpr size_t kMostKeptBytes = size_t{4} << 20;

struct Kept {
  size_t bytes = 0;
  void* memory = nullptr;
};

class KeptBuffers final {
 public:
  KeptBuffers() = default;
  ~KeptBuffers() {
    for (const Kept& kept : kept_) drop(kept);
  }
  KeptBuffers(const KeptBuffers&) = delete;
  KeptBuffers& operator=(const KeptBuffers&) = delete;

  // Returns one of [bytes] or up to twice as many; null if there is none.
  Kept take(size_t bytes) {
    for (Kept& kept : kept_) {
      if (kept.bytes >= bytes && kept.bytes / 2 <= bytes) return std::exchange(kept, {});
    }
    return {};
  }
  // Drops the oldest if there is no room.
  void giveBack(Kept freed) {
    for (Kept& kept : kept_) {
      std::swap(kept, freed);
      if (freed.memory == nullptr) return;
    }
    drop(freed);
  }

 private:
  static void drop(const Kept& kept) {
    if (kept.memory != nullptr) freeCached(kept.memory, kept.bytes);
  }

  Kept kept_[3];
};

thread_local KeptBuffers kept_buffers;

bool isKept(size_t bytes) { return BOXCAR_KEEPS_FREED_BLOCKS != 0 && bytes >= kLeastKept && bytes < kMostKeptBytes; }

}  // namespace

CallBuffer::CallBuffer(size_t bytes) : bytes_(bytes), memory_(nullptr) {
  if (bytes == 0) return;
  if (isKept(bytes)) {
    const Kept kept = kept_buffers.take(bytes);
    if (kept.memory != nullptr) {
      bytes_ = kept.bytes;
      memory_ = kept.memory;
      return;
    }
  }
  memory_ = allocateCached(bytes);
}

CallBuffer::~CallBuffer() {
  if (memory_ == nullptr) return;
  if (isKept(bytes_)) {
    kept_buffers.giveBack({bytes_, memory_});
  } else {
    freeCached(memory_, bytes_);
  }
}

}  // namespace boxcar::cpu::onednn
