#include <boxcar/backends/cpu/indexed_loop.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/functors/words.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <atomic>

namespace boxcar::cpu {
namespace {

// An operation that only checks indices.
struct Look {
  static constexpr int64_t kItemsize = 0;
  void one(const char*, const char*) const {}
  void row(const char*, int64_t, const char*, int64_t, int64_t) const {}
};

}  // namespace

void IndexedRun::fail(int64_t place) const {
  boxcar::detail::failIndex("{}{}index {} is out of bounds for dimension {} with size {}", name,
                            name.empty() ? "" : "(): ", place, dim, size);
}

void IndexedRun::cut(CallableRef<void(const IndexedRun&, int64_t)> body) const {
  int64_t elements = 1;
  for (const int64_t length : sizes) elements *= length;
  if (elements == 0) return;
  // Splits the first dimension that is long enough for all threads, else the longest one. If elements are written, only
  // dimensions whose parts do not share any written elements qualify.
  size_t best = sizes.size();
  for (size_t i = 0; i < sizes.size() && runsInParallel(elements); ++i) {
    if (writes_chosen && chosen_steps[i] == 0) continue;
    if (best == sizes.size() || (sizes[best] < threadCount() && sizes[i] > sizes[best])) best = i;
  }
  if (best == sizes.size() || sizes[best] == 1) return body(*this, elements);
  const int64_t inside = elements / sizes[best];
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / inside);
  parallelFor(0, sizes[best], grain, [&](int64_t begin, int64_t end) {
    IndexedRun part = *this;
    part.sizes[best] = end - begin;
    part.beside += begin * beside_steps[best];
    part.chosen += begin * chosen_steps[best];
    part.index += begin * index_steps[best];
    body(part, (end - begin) * inside);
  });
}

void IndexedRun::walk(StridedLoop::Body body) const {
  cut([&](const IndexedRun& part, int64_t elements) {
    StridedLoop nest(part.sizes);
    nest.addBytes(part.beside, part.beside_steps);
    nest.addBytes(part.chosen, part.chosen_steps);
    nest.addBytes(const_cast<char*>(part.index), part.index_steps);
    nest.runInOrder(elements, body);
  });
}

void IndexedRun::checkIndices() const {
  // Checks all indices at once: a set sign bit marks an index out of range. Negative sizes do not occur.
  const auto length = static_cast<uint64_t>(size);
  const uint64_t lowest = wraps ? length : 0;
  std::atomic<uint64_t> outside{0};
  IndexedRun looking = *this;
  looking.writes_chosen = false;
  // Check each index once.
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (index_steps[i] == 0) looking.sizes[i] = 1;  // also if the dimension they choose from is empty
  }
  looking.cut([&](const IndexedRun& part, int64_t elements) {
    StridedLoop nest(part.sizes);
    nest.addBytes(const_cast<char*>(part.index), part.index_steps);
    uint64_t signs = 0;
    nest.runInOrder(elements, [&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
      const auto look = [&](uint64_t place) { signs |= (place + lowest) | (length - 1 - place); };
      for (int64_t j = 0; j < n1; ++j) {
        const char* row = data[0] + j * steps[kMaxOperands];
        if (steps[0] == sizeof(uint64_t)) {
          const auto* places = reinterpret_cast<const uint64_t*>(row);
          for (int64_t i = 0; i < n0; ++i) look(places[i]);
        } else {
          for (int64_t i = 0; i < n0; ++i) look(*reinterpret_cast<const uint64_t*>(row + i * steps[0]));
        }
      }
    });
    outside |= signs;
  });
  // Runs only to find the index that the error names.
  if (static_cast<int64_t>(outside.load()) < 0) looking.run(Look());
}

namespace {

void read(const native::IndexedLoop& loop, size_t itemsize) {
  functors::visitWord(itemsize, [&]<class Word>(std::type_identity<Word>) { IndexedRun(loop).run(MoveOut<Word>()); });
}
void write(const native::IndexedLoop& loop, size_t itemsize) {
  functors::visitWord(itemsize, [&]<class Word>(std::type_identity<Word>) { IndexedRun(loop).run(MoveIn<Word>()); });
}

template <class T>
struct ScaledAdd {
  T scale;
  T operator()(T a, T b) const { return addElements(a, multiplyElements(scale, b)); }
};

template <functors::Combination how, class T>
void combineElements(const native::IndexedLoop& loop, const Scalar& scale, ScalarType type) {
  T factor;
  storeNumber(&factor, type, scale);
  if (how != functors::Combination::kAdd || factor == T(1)) {
    return IndexedRun(loop).run(CombineIn<T, functors::Combine<how, T>>{});
  }
  if constexpr (how == functors::Combination::kAdd) IndexedRun(loop).run(CombineIn<T, ScaledAdd<T>>{{factor}});
}

void combine(const native::IndexedLoop& loop, ScalarType type, functors::Combination how, const Scalar& scale) {
  using functors::Combination;
  visitScalarType(kAllTypes, type, loop.name, [&]<class T>(std::type_identity<T>) {
    if constexpr (!kIsSmallFloat<T>) {
      if (how == Combination::kAdd) return combineElements<Combination::kAdd, T>(loop, scale, type);
      if (how == Combination::kMul) return combineElements<Combination::kMul, T>(loop, scale, type);
      if constexpr (!kIsComplex<T>) {
        if (how == Combination::kAmax) return combineElements<Combination::kAmax, T>(loop, scale, type);
        return combineElements<Combination::kAmin, T>(loop, scale, type);
      }
    }
    BOXCAR_FAIL("{}(): elements of {} cannot be combined in this way", loop.name, dtypeName(type));
  });
}

void check(const native::IndexedLoop& loop) { IndexedRun(loop).checkIndices(); }

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, readChosen, cpu::read)
BOXCAR_REGISTER_STUB(CPU, writeChosen, cpu::write)
BOXCAR_REGISTER_STUB(CPU, combineChosen, cpu::combine)
BOXCAR_REGISTER_STUB(CPU, checkChosen, cpu::check)

}  // namespace boxcar::native
