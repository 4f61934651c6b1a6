#include <boxcar/boxcar.h>

using namespace boxcar;

BOXCAR_PLUGIN("opened", "1");

BOXCAR_LIBRARY(test_opened, m) { m.def("mine(Tensor x) -> Tensor"); }
