#include <boxcar/boxcar.h>

using namespace boxcar;

BOXCAR_PLUGIN("bad_schema", "1");

BOXCAR_LIBRARY(test_bad_schema, m) {
  m.def("right(Tensor x) -> Tensor");
  m.def("wrong(Tensor x, int n=) -> Tensor");
}
BOXCAR_LIBRARY_IMPL(test_bad_schema, CPU, m) {
  m.impl("right", [](const Tensor& x) { return x; });
}
