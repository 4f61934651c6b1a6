#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/cpu/strided_loop.h>

#include <algorithm>

namespace boxcar::cpu {
namespace {

#define BOXCAR_ADDRESS_OF_LOOPS(functor, arity, result, types) &LoopsOf<Functor::k##functor>::value,
constexpr const Loops* kAllLoops[] = {BOXCAR_FUNCTORS(BOXCAR_ADDRESS_OF_LOOPS) & LoopsOf<Functor::kSelect>::value,
                                      &LoopsOf<Functor::kUnaryFunction>::value,
                                      &LoopsOf<Functor::kBinaryFunction>::value};
#undef BOXCAR_ADDRESS_OF_LOOPS

Loop loopOfWork(const native::PointwiseWork& work) { return cpu::loopOf(work.functor, work.type); }

void flat(const native::PointwiseWork& work, const native::FlatOperands& operands, int64_t n) {
  const Loop loop = loopOfWork(work);
  if (n < kParallelGrain) return loop(operands.data, operands.steps, n, 1, work.params);
  parallelFor(0, n, grainOf(work.functor, work.type), [&](int64_t begin, int64_t end) {
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
  nest.runParallel(loopOfWork(work), work.params, grainOf(work.functor, work.type));
}

// How long functors take for float32, in thirds of a step.
int64_t thirdsOf(Functor functor) {
  switch (functor) {
    case Functor::kAdd:
    case Functor::kSub:
    case Functor::kMul:
    case Functor::kMaximum:
    case Functor::kMinimum:
    case Functor::kCopysign:
    case Functor::kClampMin:
    case Functor::kClampMax:
    case Functor::kClampScalar:
    case Functor::kNeg:
    case Functor::kAbs:
    case Functor::kSquare:
    case Functor::kFloor:
    case Functor::kCeil:
    case Functor::kRound:
    case Functor::kTrunc:
    case Functor::kRelu:
    case Functor::kLeakyRelu:
    case Functor::kHardtanh:
    case Functor::kFill: return 1;
    case Functor::kDiv:
    case Functor::kSelect:
    case Functor::kClamp:
    case Functor::kAddcmul:
    case Functor::kLerp:
    case Functor::kEq:
    case Functor::kNe:
    case Functor::kLt:
    case Functor::kLe:
    case Functor::kGt:
    case Functor::kGe:
    case Functor::kSgn:
    case Functor::kSqrt:
    case Functor::kReciprocal:
    case Functor::kExp:
    case Functor::kTanh:
    case Functor::kSigmoid:
    case Functor::kErf:
    case Functor::kSilu:
    case Functor::kHardswish: return 2;
    default: return 3;
  }
}

}  // namespace

int64_t grainOf(Functor functor, ScalarType type) {
  const auto size = static_cast<int64_t>(elementSize(type));
  constexpr int64_t kUsual = sizeof(float);
  // Small floats are converted, and complex numbers are multiplied by parts.
  if (type == ScalarType::Half || type == ScalarType::BFloat16 || isComplexType(type)) return kParallelGrain;
  const int64_t elements = kQuickGrain / thirdsOf(functor);
  return std::max(kParallelGrain, size > kUsual ? elements * kUsual / size : elements);
}

Loop loopOf(Functor functor, ScalarType type) {
  return (*kAllLoops[static_cast<size_t>(functor)])[static_cast<size_t>(type)];
}

}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, runFlat, cpu::flat)
BOXCAR_REGISTER_STUB(CPU, runPointwise, cpu::strided)

}  // namespace boxcar::native
