#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/row_selection.h>
#include <boxcar/backends/cuda/kernels/sort_network.h>
#include <boxcar/backends/cuda/search_kernels.h>
#include <boxcar/backends/cuda/sort_kernels.h>
#include <boxcar/backends/functors/arithmetic.h>

#include <bit>
#include <cstdint>

namespace boxcar::cuda {
namespace {

// One block per row: finds the first elements and sorts them.
template <class T>
struct ChooseRows {
  using Entry = NetworkEntry<T>;
  SortLaunch call;
  int width;  // the number of selected elements, rounded up to a power of 2

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const T* const row = static_cast<const T*>(call.in) + block.index() * call.length;
    const RowSelection<T> selection{row, call.length, call.descending};
    auto* const room = block.shared<SelectionRoom>();
    auto* const entries = reinterpret_cast<Entry*>(room + 1);
    const auto bound = selection.firsts(block, room, static_cast<unsigned>(call.kept));
    block.each([&](int thread) {
      if (thread == 0) room->found = 0;
      for (int i = thread; i < width; i += kSelectionThreads) entries[i] = Entry::greatest();
    });
    block.each([&](int thread) {
      selection.forEach(thread, [&](int64_t i) {
        if (bound.includes(selection.keyAt(i), i)) entries[atomicNext(&room->found)] = selection.entryAt(i);
      });
    });
    sortByNetwork<kSelectionThreads>(block, entries, width, width);
    block.each([&](int thread) {
      const int64_t first = block.index() * call.kept;
      for (int i = thread; i < call.kept; i += kSelectionThreads) {
        const int64_t index = entries[i].index();
        static_cast<T*>(call.values)[first + i] = row[index];
        call.indices[first + i] = index;
      }
    });
  }
};

struct NanCount {
  int64_t count;
  int64_t first;
};

// One block per row: finds its middle element.
template <class T>
struct MiddleOfRows {
  using Entry = NetworkEntry<T>;
  MiddleLaunch call;

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const T* const row = static_cast<const T*>(call.in) + block.index() * call.length;
    const int64_t index = middleOf(block, row);
    block.each([&](int thread) {
      if (thread != 0) return;
      static_cast<T*>(call.values)[block.index()] = row[index];
      call.indices[block.index()] = index;
    });
  }

 private:
  BOXCAR_HOST_DEVICE int64_t middleOf(const Block& block, const T* row) const {
    const RowSelection<T> selection{row, call.length, /*descending=*/false};
    const NanCount nan = block.combine(
        block.shared<NanCount>(),
        [&](int thread) {
          NanCount mine{0, call.length};
          selection.forEach(thread, [&](int64_t i) {
            if (!functors::isNan(row[i])) return;
            if (mine.count == 0) mine.first = i;
            ++mine.count;
          });
          return mine;
        },
        [](const NanCount& a, const NanCount& b) {
          return NanCount{a.count + b.count, a.first < b.first ? a.first : b.first};
        });
    if (nan.count > 0 && !call.skips_nan) return nan.first;
    if (nan.count == call.length) return 0;
    const auto wanted = static_cast<unsigned>((call.length - nan.count - 1) / 2 + 1);
    const auto bound = selection.firsts(block, block.shared<SelectionRoom>(), wanted);
    // The last of the [wanted] elements, none of which is NaN.
    const Entry last = block.combine(
        block.shared<Entry>(),
        [&](int thread) {
          Entry mine = Entry::least();
          selection.forEach(thread, [&](int64_t i) {
            const Entry entry = selection.entryAt(i);
            if (bound.includes(selection.keyAt(i), i) && mine.before(entry)) mine = entry;
          });
          return mine;
        },
        [](const Entry& a, const Entry& b) { return a.before(b) ? b : a; });
    return last.index();
  }
};

}  // namespace

void launchChooseRows(const SortLaunch& call) {
  const int width = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(call.kept)));
  visitScalarType(kRealAndBoolTypes, call.type, "topk", [&]<class T>(std::type_identity<T>) {
    const size_t shared = sizeof(SelectionRoom) + static_cast<size_t>(width) * sizeof(NetworkEntry<T>);
    launchBlocks<kSelectionThreads>(call.rows, shared, ChooseRows<T>{call, width});
  });
}

void launchMiddleOfRows(const MiddleLaunch& call) {
  visitScalarType(kRealTypes, call.type, call.name, [&]<class T>(std::type_identity<T>) {
    launchBlocks<kSelectionThreads>(call.rows, sizeof(SelectionRoom), MiddleOfRows<T>{call});
  });
}

}  // namespace boxcar::cuda
