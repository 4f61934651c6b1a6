#include <boxcar/backends/native/pointwise_registration.h>

namespace boxcar::native {

void registerOverloads(Library& m, std::string_view op, std::span<const OverloadKernel> kernels, const Where& where) {
  for (const OverloadKernel& one : kernels) {
    std::string name(op);
    if (one.is_in_place) name += '_';
    if (one.overload->text[0] != '\0') (name += '.') += one.overload->text;
    m.impl(name, *one.kernel, where);
  }
}

}  // namespace boxcar::native
