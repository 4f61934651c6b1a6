#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/list.h>

#include <new>

namespace boxcar::detail {
namespace {

constexpr int kMostRecursive = 100;

// The outermost call owns the waiting values. Plain data: values may outlive a thread's own destructors.
struct Nesting {
  int depth;
  std::vector<std::vector<IValue>>* waiting;
};

[[gnu::tls_model("initial-exec")]] constinit thread_local Nesting nesting = {};

}  // namespace

void destroyNested(std::vector<IValue>&& values) noexcept {
  if (values.empty()) return;
  if (nesting.depth >= kMostRecursive) {
    try {
      nesting.waiting->push_back(std::move(values));
    } catch (const std::bad_alloc&) {
      // Without memory they are destroyed with their owner, recursively.
    }
    return;
  }
  std::vector<std::vector<IValue>> waiting;
  if (nesting.depth == 0) nesting.waiting = &waiting;
  ++nesting.depth;
  { const std::vector<IValue> dying = std::move(values); }
  while (!waiting.empty()) {
    const std::vector<IValue> next = std::move(waiting.back());
    waiting.pop_back();
  }
  --nesting.depth;
}

void listIndexOutOfRange(int64_t index, size_t size) {
  failIndex("list index {} is out of range for a list of {} elements", index, size);
}

}  // namespace boxcar::detail
