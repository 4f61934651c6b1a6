#include <boxcar/boxcar.h>

using namespace boxcar;

BOXCAR_PLUGIN("clash", "1");

BOXCAR_LIBRARY(test_clash, m) { m.def("mine(Tensor x) -> Tensor"); }
BOXCAR_LIBRARY_IMPL(aten, IPU, m) {
  m.impl("relu", [](const Tensor& x) { return x; });
}
// The namespace test_plugin belongs to the good plugin.
BOXCAR_LIBRARY(test_plugin, m) { m.def("mine(Tensor x) -> Tensor"); }
