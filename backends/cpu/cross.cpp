#include <boxcar/backends/cpu/lines.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/dense/write_structured.h>
#include <boxcar/backends/elements/arithmetic.h>
#include <boxcar/backends/elements/element.h>
#include <boxcar/backends/shape/broadcast.h>
#include <boxcar/backends/shape/matrices.h>

namespace boxcar::cpu {
namespace {

template <class T>
void crossLine(char* const* line, int64_t out_step, int64_t a_step, int64_t b_step) {
  using C = Compute<T>;
  const auto read = [](const char* start, int64_t step, int64_t i) {
    return static_cast<C>(*reinterpret_cast<const T*>(start + i * step));
  };
  C results[3];
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t j = (i + 1) % 3;
    const int64_t k = (i + 2) % 3;
    results[i] = subtractElements(multiplyElements(read(line[1], a_step, j), read(line[2], b_step, k)),
                                  multiplyElements(read(line[1], a_step, k), read(line[2], b_step, j)));
  }
  for (int64_t i = 0; i < 3; ++i) *reinterpret_cast<T*>(line[0] + i * out_step) = static_cast<T>(results[i]);
}

struct Cross {
  Tensor a;
  Tensor b;
  size_t dim;
  Device device;

  Cross(const Tensor& self, const Tensor& other, int64_t along) : device(commonDevice({&self, &other})) {
    const DimVector sizes = shape::checkCross(self, other, along);
    dim = static_cast<size_t>(wrapDimension(along, static_cast<int64_t>(sizes.size())));
    a = shape::expandTo(self, sizes);
    b = shape::expandTo(other, sizes);
  }
  ContiguousResult result() const { return {a.sizes(), a.scalar_type(), device}; }
  void fill(const Tensor& out) const {
    visitScalarType(kRealTypes + kComplexTypes, a.scalar_type(), "cross", [&]<class T>(std::type_identity<T>) {
      forEachLine(dim, {&out, &a, &b}, [&](char* const* line) {
        crossLine<T>(line, lineStep(out, dim), lineStep(a, dim), lineStep(b, dim));
      });
    });
  }
};

Tensor cross(const Tensor& self, const Tensor& other, int64_t dim) {
  const Cross call(self, other, dim);
  return call.result().make([&](const Tensor& out) { call.fill(out); });
}
Tensor& crossOut(const Tensor& self, const Tensor& other, int64_t dim, Tensor& out) {
  const Cross call(self, other, dim);
  return call.result().write(out, {&self, &other}, [&](const Tensor& target) { call.fill(target); });
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("linalg_cross", BOXCAR_FN(cross));
  m.impl("linalg_cross.out", BOXCAR_FN(crossOut));
}

}  // namespace boxcar::cpu
