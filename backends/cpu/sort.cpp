#include <boxcar/backends/cpu/indexed_loop.h>
#include <boxcar/backends/cpu/lines.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/sort_entries.h>
#include <boxcar/backends/functors/words.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/backends/native/sort.h>
#include <boxcar/ivalue/stop_request.h>

#include <algorithm>
#include <cstdint>

namespace boxcar::cpu {
namespace {

// Writes the first [kept] values and indices of a line in the order of [chosen].
template <class Entry, class Word>
void writeLine(char* const* line, const int64_t* steps, const Entry* chosen, int64_t kept) {
  for (int64_t i = 0; i < kept; ++i) {
    const int64_t index = chosen[i].index();
    *reinterpret_cast<Word*>(line[1] + i * steps[1]) = *reinterpret_cast<const Word*>(line[0] + index * steps[0]);
    *reinterpret_cast<int64_t*>(line[2] + i * steps[2]) = index;
  }
}

// Processes lines of [count] elements of T; [choose] returns their entries in order, at least the first [kept].
//   choose(const char* in, int64_t step, int64_t count, Entries& entries, Entries& scratch) -> const Entry*
// Writes the values and indices of the first [kept].
template <class T, class Entry>
void writeChosen(const Tensor& values, const Tensor& indices, const Tensor& self, size_t dim, int64_t kept,
                 CallableRef<const Entry*(const char*, int64_t, int64_t, Entries<Entry>&, Entries<Entry>&)> choose) {
  const int64_t count = lineLength(self, dim);
  const int64_t steps[] = {lineStep(self, dim), lineStep(values, dim), lineStep(indices, dim)};
  forEachLine(dim, {&self, &values, &indices}, [&](char* const* line) {
    Entries<Entry> entries;
    Entries<Entry> scratch;
    OrderedLine ordered(self.scalar_type(), scalarTypeOf<T>);
    const auto [in, step] = ordered.read(line[0], steps[0], count);
    const Entry* chosen = choose(in, step, count, entries, scratch);
    functors::visitWord(self.itemsize(), [&]<class Word>(std::type_identity<Word>) {
      writeLine<Entry, Word>(line, steps, chosen, kept);
    });
  });
}

template <class Entry>
void resize(Entries<Entry>& entries, int64_t count) {
  entries.resize(roomFor(count), boost::container::default_init);
}

template <class T, class Entry>
const Entry* sortLine(const char* in, int64_t step, int64_t n, bool descending, Entries<Entry>& entries,
                      Entries<Entry>& scratch) {
  resize(entries, n);
  resize(scratch, n);
  fillEntries<Entry, T>(entries.data(), in, step, n, descending);
  return sortEntries(entries.data(), scratch.data(), n);
}

void sortInto(const Tensor& values, const Tensor& indices, const Tensor& self, size_t dim, bool descending) {
  const int64_t count = lineLength(self, dim);
  visitEntry(kRealAndBoolTypes, self.scalar_type(), "sort", count,
             [&]<class T, class Entry>(std::type_identity<T>, std::type_identity<Entry>) {
               writeChosen<T, Entry>(values, indices, self, dim, count,
                                     [=](const char* in, int64_t step, int64_t n, auto& entries, auto& scratch) {
                                       return sortLine<T>(in, step, n, descending, entries, scratch);
                                     });
             });
}

// Keeps the first [k] of the entries passed to put(), in any order.
template <class Entry>
class FirstEntries {
 public:
  // [room] has space for [roomFor] entries.
  FirstEntries(Entry* room, int64_t k) : first_(room), k_(k) {}
  static int64_t roomFor(int64_t k) { return k <= kFew ? k : 2 * k; }

  // Entries not less than this are not among the first.
  Entry bound() const { return bound_; }

  // [entry] must be less than the bound.
  void put(Entry entry) {
    if (k_ > kFew) {
      first_[found_++] = entry;
      if (found_ == 2 * k_) keepFirst();
      return;
    }
    // A small number is kept sorted.
    int64_t at = found_ < k_ ? found_++ : k_ - 1;
    for (; at > 0 && entry < first_[at - 1]; --at) first_[at] = first_[at - 1];
    first_[at] = entry;
    if (found_ == k_) bound_ = first_[k_ - 1];
  }

  void finish() {
    if (found_ > k_) keepFirst();
    if (k_ > kFew) std::sort(first_, first_ + k_);
  }

 private:
  static constexpr int64_t kFew = 32;

  void keepFirst() {
    std::nth_element(first_, first_ + (k_ - 1), first_ + found_);
    bound_ = first_[k_ - 1];
    found_ = k_;
  }

  Entry* first_;
  int64_t k_;
  int64_t found_ = 0;
  Entry bound_ = Entry::greatest();
};

// Returns the first [k] entries of a line in order. Most elements are skipped, many at a time.
template <class Entry, class T>
const Entry* firstOf(const char* in, int64_t step, int64_t count, int64_t k, bool descending, Entries<Entry>& entries) {
  using Key = OrderedKey<T>;
  constexpr int64_t kBlock = 16;
  resize(entries, FirstEntries<Entry>::roomFor(k));
  FirstEntries<Entry> first(entries.data(), k);
  for (int64_t i = 0; i < count; i += kBlock) {
    if (i % kStopInterval == 0 && i > 0) checkStop();
    const int64_t n = std::min(kBlock, count - i);
    if (step == sizeof(T) && n == kBlock) {
      const auto* block = reinterpret_cast<const T*>(in + i * step);
      const auto bound = static_cast<Key>(first.bound().key());
      const auto flip = static_cast<Key>(descending ? ~Key{0} : Key{0});
      Key any = 0;
      for (int64_t j = 0; j < kBlock; ++j) any |= (orderedKey(block[j]) ^ flip) <= bound ? Key{1} : Key{0};
      if (any == 0) continue;
    }
    for (int64_t j = i; j < i + n; ++j) {
      const Entry entry = entryOf<Entry, T>(in + j * step, j, descending);
      if (entry < first.bound()) first.put(entry);
    }
  }
  first.finish();
  return entries.data();
}

void topkInto(const Tensor& values, const Tensor& indices, const Tensor& self, size_t dim, int64_t k, bool largest) {
  visitEntry(kRealAndBoolTypes, self.scalar_type(), "topk", lineLength(self, dim),
             [&]<class T, class Entry>(std::type_identity<T>, std::type_identity<Entry>) {
               writeChosen<T, Entry>(
                   values, indices, self, dim, k,
                   [=](const char* in, int64_t step, int64_t n, auto& entries, auto& scratch) -> const Entry* {
                     if (k * 4 > n) return sortLine<T>(in, step, n, largest, entries, scratch);
                     return firstOf<Entry, T>(in, step, n, k, largest, entries);
                   });
             });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, sortLines, cpu::sortInto)
BOXCAR_REGISTER_STUB(CPU, chooseFirst, cpu::topkInto)

}  // namespace boxcar::native
