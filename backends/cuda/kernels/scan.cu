#include <boxcar/backends/cuda/kernels/late_start.h>
#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/scan_kernels.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/scan.h>

#include <type_traits>
#include <utility>

// A block scans a row tile by tile. Long rows are split into parts, whose totals are computed first.

namespace boxcar::cuda {
namespace {

using namespace functors;

// Sums, products and logcumsumexp.
template <class T, Scan scan>
struct Join {
  using Step = ScanStep<scan>;
  using A = ScanType<T>;
  const T* in;
  T* out;

  BOXCAR_HOST_DEVICE A none() const { return Step::template identity<A>(); }
  BOXCAR_HOST_DEVICE A load(int64_t at, int64_t) const { return convertElement<A>(in[at]); }
  BOXCAR_HOST_DEVICE A merge(A a, A b) const { return Step::merge(a, b); }
  BOXCAR_HOST_DEVICE void store(int64_t at, A a) const { out[at] = convertElement<T>(a); }
};

template <class C>
struct Place {
  C value;
  int64_t index;  // -1 if there is no element
};

template <class T, bool greatest>
struct Extreme {
  using A = Place<Compute<T>>;
  static_assert(sizeof(A) <= kScanCarriedBytes);
  const T* in;
  T* out;
  int64_t* indices;

  BOXCAR_HOST_DEVICE A none() const { return {Compute<T>(0), -1}; }
  BOXCAR_HOST_DEVICE A load(int64_t at, int64_t i) const { return {static_cast<Compute<T>>(in[at]), i}; }
  // Merges in either order.
  BOXCAR_HOST_DEVICE A merge(const A& a, const A& b) const {
    const A& earlier = a.index < b.index ? a : b;
    const A& later = a.index < b.index ? b : a;
    return earlier.index < 0 || followsAsExtreme<greatest>(earlier.value, later.value) ? later : earlier;
  }
  BOXCAR_HOST_DEVICE void store(int64_t at, const A& a) const {
    out[at] = static_cast<T>(a.value);
    indices[at] = a.index;
  }
};

// The number of elements of a tile that one thread handles.
template <class A>
constexpr int kItems = sizeof(A) > 8 ? 4 : 8;
template <class A>
constexpr int kTile = kScanThreads* kItems<A>;
static_assert(kScanTile % (kScanThreads * 8) == 0);

// An element's position in shared memory, padded so that neighboring threads start in different banks.
template <class A>
BOXCAR_HOST_DEVICE constexpr int placed(int i) {
  return i + i / kItems<A>;
}
template <class A>
constexpr size_t kSharedBytes = (kTile<A> + 3 * kScanThreads) * sizeof(A);

// Computes the total of each part of each row.
template <class Op>
struct PartTotals {
  using A = typename Op::A;
  Op op;
  ScanLaunch call;

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const int64_t first = block.index() / call.parts * call.length;
    const int64_t begin = block.index() % call.parts * call.part_length;
    const int64_t end = begin + call.part_length < call.length ? begin + call.part_length : call.length;
    const A total = block.combine(
        block.shared<A>(),
        [&](int thread) {
          A mine = op.none();
          for (int64_t i = begin + thread; i < end; i += kScanThreads) mine = op.merge(mine, op.load(first + i, i));
          return mine;
        },
        [&](const A& a, const A& b) { return op.merge(a, b); });
    block.each([&](int thread) {
      if (thread == 0) static_cast<A*>(call.totals)[block.index()] = total;
    });
  }
};

template <class Op>
struct ScanRows {
  using A = typename Op::A;
  Op op;
  ScanLaunch call;

  // Returns the total of everything before a part of a row.
  BOXCAR_HOST_DEVICE A before(const Block& block, A* room) const {
    if (call.parts == 1) return op.none();
    const int64_t part = block.index() % call.parts;
    const A* const totals = static_cast<const A*>(call.totals) + (block.index() - part);
    const int64_t each = (part + kScanThreads - 1) / kScanThreads;
    return block.combine(
        room,
        [&](int thread) {
          A mine = op.none();
          const int64_t end = (thread + 1) * each < part ? (thread + 1) * each : part;
          for (int64_t i = thread * each; i < end; ++i) mine = op.merge(mine, totals[i]);
          return mine;
        },
        [&](const A& a, const A& b) { return op.merge(a, b); });
  }

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const int64_t first = block.index() / call.parts * call.length;
    const int64_t begin = block.index() % call.parts * call.part_length;
    const int64_t end = begin + call.part_length < call.length ? begin + call.part_length : call.length;
    A* const sums = block.shared<A>();
    A* const tile = sums + 2 * kScanThreads;
    A carried = before(block, sums);
    for (int64_t start = begin; start < end; start += kTile<A>) {
      const int count = end - start < kTile<A> ? static_cast<int>(end - start) : kTile<A>;
      block.each([&](int thread) {
        for (int i = thread; i < count; i += kScanThreads) {
          tile[placed<A>(i)] = op.load(first + start + i, start + i);
        }
      });
      block.each([&](int thread) {
        A sum = op.none();
        for (int i = thread * kItems<A>; i < (thread + 1) * kItems<A> && i < count; ++i) {
          sum = op.merge(sum, tile[placed<A>(i)]);
          tile[placed<A>(i)] = sum;
        }
        sums[thread] = sum;
      });
      // Scans the threads' sums, alternating between the two halves of their memory.
      A* from = sums;
      A* to = sums + kScanThreads;
      for (int step = 1; step < kScanThreads; step *= 2) {
        block.each([&](int thread) {
          to[thread] = thread >= step ? op.merge(from[thread - step], from[thread]) : from[thread];
        });
        A* const other = from;
        from = to;
        to = other;
      }
      block.each([&](int thread) {
        const A ahead = thread == 0 ? carried : op.merge(carried, from[thread - 1]);
        for (int i = thread * kItems<A>; i < (thread + 1) * kItems<A> && i < count; ++i) {
          tile[placed<A>(i)] = op.merge(ahead, tile[placed<A>(i)]);
        }
      });
      carried = op.merge(carried, from[kScanThreads - 1]);
      block.each([&](int thread) {
        for (int i = thread; i < count; i += kScanThreads) op.store(first + start + i, tile[placed<A>(i)]);
      });
    }
  }
};

// One thread per line.
template <class Op>
struct ScanLines {
  Op op;
  ScanLaunch call;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t line = block * kScanThreads + thread;
    if (line >= call.outer * call.inner) return;
    const int64_t first = line / call.inner * call.length * call.inner + line % call.inner;
    auto carried = op.none();
    for (int64_t i = 0; i < call.length; ++i) {
      carried = op.merge(carried, op.load(first + i * call.inner, i));
      op.store(first + i * call.inner, carried);
    }
  }
};

template <class Op>
void run(const ScanLaunch& call, const Op& op) {
  using A = typename Op::A;
  if (call.by_threads) {
    return launchGrid<kScanThreads>(blocksFor(call.outer * call.inner, kScanThreads), ScanLines<Op>{op, call});
  }
  const int64_t blocks = call.outer * call.parts;
  const auto scan = [&] { launchBlocks<kScanThreads>(blocks, kSharedBytes<A>, ScanRows<Op>{op, call}); };
  if (call.parts == 1) return scan();
  const LateStart parts_have_equal_shares;
  launchBlocks<kScanThreads>(blocks, 40 * sizeof(A), PartTotals<Op>{op, call});
  scan();
}

template <class T, Scan scan>
Join<T, scan> joinOf(const ScanLaunch& call) {
  static_assert(sizeof(ScanType<T>) <= kScanCarriedBytes);
  return {static_cast<const T*>(call.in), static_cast<T*>(call.out)};
}

}  // namespace

void launchScan(const ScanLaunch& call, Scan scan) {
  visitScalarType(kAllTypes, call.type, "cumsum", [&]<class T>(std::type_identity<T>) {
    if (scan == Scan::kSum) return run(call, joinOf<T, Scan::kSum>(call));
    if (scan == Scan::kProd) return run(call, joinOf<T, Scan::kProd>(call));
    if constexpr (std::is_floating_point_v<Compute<T>> || kIsComplex<T>) run(call, joinOf<T, Scan::kLogSumExp>(call));
  });
}

void launchScanExtremes(const ScanLaunch& call, bool greatest) {
  visitScalarType(kRealAndBoolTypes, call.type, "cummax", [&]<class T>(std::type_identity<T>) {
    const auto* in = static_cast<const T*>(call.in);
    auto* out = static_cast<T*>(call.out);
    if (greatest) return run(call, Extreme<T, true>{in, out, call.indices});
    run(call, Extreme<T, false>{in, out, call.indices});
  });
}

}  // namespace boxcar::cuda
