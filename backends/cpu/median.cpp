#include <boxcar/backends/cpu/lines.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/sort_entries.h>
#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/native/median.h>
#include <boxcar/backends/native/pointwise.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace boxcar::cpu {
namespace {

// Returns the index of the median element of a line, the lower of two. NaN sorts last; if there is one it is the
// result, or it is skipped if [skips_nan].
template <class T, class Entry>
int64_t middleOf(const char* in, int64_t step, int64_t count, bool skips_nan) {
  Entries<Entry> entries;
  entries.reserve(roomFor(count));
  for (int64_t i = 0; i < count; ++i) {
    const char* element = in + i * step;
    if (!isNan(*reinterpret_cast<const T*>(element))) {
      entries.push_back(entryOf<Entry, T>(element, i, false));
    } else if (!skips_nan) {
      return i;
    }
  }
  if (entries.empty()) return 0;
  const auto middle = entries.begin() + (static_cast<std::ptrdiff_t>(entries.size()) - 1) / 2;
  std::nth_element(entries.begin(), middle, entries.end());
  return middle->index();
}

void medianInto(std::string_view name, const Tensor& values, const Tensor& indices, const Tensor& self, size_t dim,
                bool skips_nan) {
  const int64_t count = lineLength(self, dim);
  const int64_t step = lineStep(self, dim);
  visitEntry(kRealTypes, self.scalar_type(), name, count,
             [&]<class T, class Entry>(std::type_identity<T>, std::type_identity<Entry>) {
               forEachLine(dim, {&self, &values, &indices}, [&](char* const* line) {
                 OrderedLine ordered(self.scalar_type(), scalarTypeOf<T>);
                 const auto [in, in_step] = ordered.read(line[0], step, count);
                 const int64_t index = middleOf<T, Entry>(in, in_step, count, skips_nan);
                 std::memcpy(line[1], line[0] + index * step, self.itemsize());
                 *reinterpret_cast<int64_t*>(line[2]) = index;
               });
             });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, medianLines, cpu::medianInto)

}  // namespace boxcar::native
