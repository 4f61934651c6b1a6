#include <boxcar/backends/cpu/lines.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/functors/cross.h>
#include <boxcar/backends/native/cross.h>

namespace boxcar::cpu {
namespace {

void cross(const Tensor& out, const Tensor& a, const Tensor& b, size_t dim) {
  visitScalarType(kRealTypes + kComplexTypes, a.scalar_type(), "cross", [&]<class T>(std::type_identity<T>) {
    forEachLine(dim, {&out, &a, &b}, [&](char* const* line) {
      crossProduct<T>(line[0], lineStep(out, dim), line[1], lineStep(a, dim), line[2], lineStep(b, dim));
    });
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, crossLines, cpu::cross)

}  // namespace boxcar::native
