#include <boxcar/backends/dense/pointwise_registration.h>

namespace boxcar::dense {

void registerOverloads(Library& m, std::string_view op, std::span<const OverloadKernel> kernels, const Where& where) {
  for (const OverloadKernel& one : kernels) {
    std::string name(op);
    if (one.is_in_place) name += '_';
    if (one.overload->text[0] != '\0') (name += '.') += one.overload->text;
    m.impl(name, *one.kernel, where);
  }
}

}  // namespace boxcar::dense
