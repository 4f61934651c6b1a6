#include <boxcar/backends/cpu/conversions.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/reduce_loops.h>
#include <boxcar/ivalue/stop_request.h>

#include <cstddef>
#include <cstring>
#include <vector>

namespace boxcar::cpu {
namespace {

// The number of elements that a thread takes at once.
constexpr int64_t kShare = kParallelGrain / 2;
constexpr int64_t kMostBranches = int64_t{1} << 16;
constexpr int64_t kBlockRun = 64;

struct alignas(16) Accumulators {
  std::byte bytes[detail::kReduceBlockBytes];
};

class ReduceRow final {
 public:
  ReduceRow(const ReduceLoop& loop, const ReducedRow& row)
      : row_(row),
        loop_(loop),
        acc_(*loop.accumulation),
        converts_(loop.type != loop.computed),
        itemsize_(converts_ ? static_cast<int64_t>(elementSize(loop.type)) : acc_.itemsize),
        blocks_(row.in_step == itemsize_) {}

  void reduce() const {
    // Results with adjacent elements are computed together.
    const int64_t most = blocks_ ? acc_.block : 1;
    const int outermost = row_.rank - 1;
    const bool one_run = row_.rank == 1 && row_.steps[0] == itemsize_ && !converts_ && !blocks_ && !row_.parallel &&
                         row_.count > 0 && row_.count <= acc_.longest_run;
    Accumulators acc;
    if (one_run && row_.results == 1) {
      acc_.run(acc.bytes, row_.in, row_.count, 0, row_.param);
      return loop_.store(row_, 0, acc.bytes, 1);
    }
    if (one_run && acc_.runs != nullptr) {
      for (int64_t i = 0; i < row_.results; i += acc_.block) {
        const int64_t width = std::min(acc_.block, row_.results - i);
        acc_.runs(acc.bytes, row_.in + i * row_.in_step, row_.in_step, width, row_.count);
        loop_.store(row_, i, acc.bytes, width);
      }
      return;
    }
    for (int64_t i = 0; i < row_.results; i += most) {
      const int64_t width = std::min(most, row_.results - i);
      const Part whole{outermost, row_.in + i * row_.in_step, row_.sizes[outermost], 0};
      if (i + most < row_.results) announce(whole.in + most * row_.in_step);
      if (one_run) {
        acc_.run(acc.bytes, whole.in, whole.n, 0, row_.param);
      } else if (row_.count == 0) {
        acc_.identities(acc.bytes, width);
      } else if (row_.parallel) {
        accumulateInThreads(whole, width, acc.bytes);
      } else {
        accumulateAlone(whole, width, acc.bytes);
      }
      loop_.store(row_, i, acc.bytes, width);
    }
  }

 private:
  // Elements [0, n) from [in] on, along dimension [dim], with all dimensions inside it; the first one's index is
  // [index].
  struct Part {
    int dim;
    const char* in;
    int64_t n;
    int64_t index;
  };

  void run(const char* in, int64_t step, int64_t n, int64_t index, std::byte* acc) const {
    if (step == itemsize_ && !converts_) return acc_.run(acc, in, n, index, row_.param);
    const Loop load = conversionLoop(loop_.computed, loop_.type);
    alignas(64) std::byte buffer[detail::kReduceBufferBytes];
    for (int64_t i = 0; i < n; i += detail::kReduceBuffer, in += detail::kReduceBuffer * step) {
      const int64_t count = std::min(detail::kReduceBuffer, n - i);
      convertRow(load, buffer, acc_.itemsize, in, step, count);
      if (i == 0) {
        acc_.run(acc, buffer, count, index, row_.param);
        continue;
      }
      Accumulators more;
      acc_.run(more.bytes, buffer, count, index + i, row_.param);
      acc_.merge(acc, more.bytes, 1);
    }
  }

  // Accumulates [n] rows of [width] adjacent elements into [acc].
  void takeRows(const char* in, int64_t n, int64_t index, int64_t width, std::byte* acc) const {
    const int64_t step = row_.steps[0];
    if (!converts_) return acc_.columns(acc, in, step, n, index, width, row_.param);
    const Loop load = conversionLoop(loop_.computed, loop_.type);
    alignas(64) std::byte buffer[detail::kReduceBufferBytes];
    // Chosen so that the outcome of a column does not depend on the number of other columns.
    const int64_t most = detail::kReduceBufferBytes / (acc_.block * acc_.itemsize);
    const int64_t buffer_step = width * acc_.itemsize;
    const int64_t steps[2 * kMaxOperands] = {acc_.itemsize, itemsize_, 0, 0, buffer_step, step};
    for (int64_t i = 0; i < n; i += most, in += most * step) {
      const int64_t rows = std::min(most, n - i);
      char* const data[kMaxOperands] = {reinterpret_cast<char*>(buffer), const_cast<char*>(in)};
      load(data, steps, width, rows, nullptr);
      acc_.columns(acc, data[0], buffer_step, rows, index + i, width, row_.param);
    }
  }

  // Returns whether the part is short enough to be accumulated in order.
  bool isRun(const Part& part) const {
    const int64_t most = blocks_ ? kBlockRun : acc_.longest_run;
    return part.dim == 0 ? part.n <= most : part.dim == 1 && part.n * row_.sizes[0] <= most;
  }

  void accumulateRun(const Part& part, int64_t width, std::byte* acc) const {
    const int64_t outer = part.dim == 0 ? 1 : part.n;
    const int64_t inner = part.dim == 0 ? part.n : row_.sizes[0];
    const int64_t step = part.dim == 0 ? 0 : row_.steps[1];
    if (blocks_) {
      acc_.identities(acc, width);
      for (int64_t i = 0; i < outer; ++i) takeRows(part.in + i * step, inner, part.index, width, acc);
      return;
    }
    run(part.in, row_.steps[0], inner, part.index, acc);
    for (int64_t i = 1; i < outer; ++i) {
      Accumulators more;
      run(part.in + i * step, row_.steps[0], inner, part.index, more.bytes);
      acc_.merge(acc, more.bytes, 1);
    }
  }

  int64_t elementsOf(const Part& part) const {
    int64_t count = part.n;
    for (int i = 0; i < part.dim; ++i) count *= row_.sizes[i];
    return count;
  }

  // Descends the tree to runs, or to parts of [share] elements over all results together, and merges what [leaf]
  // computes for them.
  template <class Leaf>
  void accumulate(const Part& part, int64_t width, int64_t share, const Leaf& leaf, std::byte* acc) const {
    const int64_t elements = elementsOf(part);
    if (isRun(part) || elements <= share / width) return leaf(part, acc);
    if (elements > kStopInterval / width) checkStop();
    if (part.dim > 0 && part.n == 1) {
      return accumulate({part.dim - 1, part.in, row_.sizes[part.dim - 1], part.index}, width, share, leaf, acc);
    }
    const int64_t half = part.n / 2;
    accumulate({part.dim, part.in, half, part.index}, width, share, leaf, acc);
    Accumulators second;
    const char* rest = part.in + half * row_.steps[part.dim];
    accumulate({part.dim, rest, part.n - half, part.index + half}, width, share, leaf, second.bytes);
    acc_.merge(acc, second.bytes, width);
  }

  void accumulateAlone(const Part& part, int64_t width, std::byte* acc) const {
    if (isRun(part)) return accumulateRun(part, width, acc);
    accumulate(
        part, width, 0, [&](const Part& run, std::byte* into) { accumulateRun(run, width, into); }, acc);
  }

  // Uses the same tree, but distributes its branches over threads.
  void accumulateInThreads(const Part& part, int64_t width, std::byte* acc) const {
    // Branches have enough elements to keep their number limited.
    const int64_t share = std::max(kShare, row_.count / kMostBranches * width);
    std::vector<Part> branches;
    accumulate(
        part, width, share,
        [&](const Part& branch, std::byte* into) {
          branches.push_back(branch);
          acc_.identities(into, width);
        },
        acc);
    const auto size = static_cast<size_t>(width * acc_.acc_size);
    std::vector<std::byte> made(branches.size() * size);
    parallelFor(0, static_cast<int64_t>(branches.size()), 1, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        accumulateAlone(branches[i], width, made.data() + i * size);
      }
    });
    const std::byte* next = made.data();
    accumulate(
        part, width, share,
        [&](const Part&, std::byte* into) {
          std::memcpy(into, next, size);
          next += size;
        },
        acc);
  }

  // Prefetches: hardware prefetchers stop at page boundaries, where the elements of a result often end.
  static void announce(const char* in) {
    constexpr ptrdiff_t kLine = 64;
    for (ptrdiff_t line = 0; line < 4; ++line) __builtin_prefetch(in + line * kLine);
  }

  const ReducedRow& row_;
  const ReduceLoop& loop_;
  const Accumulation& acc_;
  bool converts_;
  int64_t itemsize_;
  bool blocks_;
};

}  // namespace

void reduceRow(const ReduceLoop& loop, const ReducedRow& row) { ReduceRow(loop, row).reduce(); }

}  // namespace boxcar::cpu
