#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/error.h>

namespace boxcar {

void checkDims(size_t dims) {
  BOXCAR_CHECK(dims <= size_t{kMaxDims}, "tensors with more than {} dimensions are not supported, this has {}",
               kMaxDims, dims);
}

}  // namespace boxcar
