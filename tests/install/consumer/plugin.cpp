#include <boxcar/boxcar.h>
#include <boxcar/ops.h>

using namespace boxcar;

BOXCAR_PLUGIN("consumer_plugin", "1");

BOXCAR_LIBRARY(consumer_plugin, m) {
  m.def("thrice(Tensor x) -> Tensor", [](const Tensor& x) { return mul(x, 3); });
}
