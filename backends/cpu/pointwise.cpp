#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/cpu/strided_loop.h>

namespace boxcar::cpu {
namespace {

#define BOXCAR_ADDRESS_OF_LOOPS(functor, arity, result, types) &LoopsOf<Functor::k##functor>::value,
constexpr const Loops* kAllLoops[] = {BOXCAR_FUNCTORS(BOXCAR_ADDRESS_OF_LOOPS) & LoopsOf<Functor::kSelect>::value,
                                      &LoopsOf<Functor::kUnaryFunction>::value,
                                      &LoopsOf<Functor::kBinaryFunction>::value};
#undef BOXCAR_ADDRESS_OF_LOOPS

Loop loopOf(const native::PointwiseWork& work) { return cpu::loopOf(work.functor, work.type); }

void flat(const native::PointwiseWork& work, const native::FlatOperands& operands, int64_t n) {
  const Loop loop = loopOf(work);
  if (n < kParallelGrain) return loop(operands.data, operands.steps, n, 1, work.params);
  parallelFor(0, n, kParallelGrain, [&](int64_t begin, int64_t end) {
    char* part[kMaxOperands];
    for (int k = 0; k < kMaxOperands; ++k) part[k] = operands.data[k] + begin * operands.steps[k];
    loop(part, operands.steps, end - begin, 1, work.params);
  });
}

void strided(const native::PointwiseWork& work, const native::StridedOperand* operands) {
  StridedLoop nest(operands[0].sizes);
  for (int i = 0; i < work.count; ++i) {
    nest.add(operands[i].data, operands[i].sizes, operands[i].strides, operands[i].itemsize);
  }
  nest.runParallel(loopOf(work), work.params);
}

}  // namespace

Loop loopOf(Functor functor, ScalarType type) {
  return (*kAllLoops[static_cast<size_t>(functor)])[static_cast<size_t>(type)];
}

}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, runFlat, cpu::flat)
BOXCAR_REGISTER_STUB(CPU, runPointwise, cpu::strided)

}  // namespace boxcar::native
