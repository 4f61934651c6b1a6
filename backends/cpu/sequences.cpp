#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/functors/sequence.h>
#include <boxcar/backends/native/sequences.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace boxcar::cpu {
namespace {

using native::Sequence;

// Writes at(i) to element i of [out] as T. Indices within a block are 32-bit, which the CPU's vector instructions can
// convert to float64.
template <class T, class At>
void write(const Tensor& out, const At& at) {
  using Index = typename At::Index;
  T* data = out.data_ptr<T>();
  constexpr int64_t kBlock = 4096;
  parallelFor(0, out.numel(), kParallelGrain, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end; first += kBlock) {
      const auto start = static_cast<Index>(first);
      const auto count = static_cast<int32_t>(std::min(kBlock, end - first));
      T* const block = data + first;
      for (int32_t i = 0; i < count; ++i) block[i] = convertElement<T>(at(start + static_cast<Index>(i)));
    }
  });
}

void fill(const Tensor& out, const Sequence& sequence) {
  visitScalarType(kRealTypes + kComplexTypes, out.scalar_type(), "arange", [&]<class T>(std::type_identity<T>) {
    using Number = BetweenNumber<T>;
    if (sequence.kind == Sequence::kSteps) {
      using Step = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
      return write<T>(out, Steps<Step>{sequence.first.to<Step>(), sequence.second.to<Step>()});
    }
    const EqualDistances<Number> between(sequence.first.to<Number>(), sequence.second.to<Number>(), sequence.count);
    if (sequence.kind == Sequence::kClamp) return write<T>(out, between);
    write<T>(out, PowersAtDistances<Number>{between, Number(sequence.base)});
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, fillSequence, cpu::fill)

}  // namespace boxcar::native
