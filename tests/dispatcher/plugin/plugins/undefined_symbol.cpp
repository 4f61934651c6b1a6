#include <boxcar/boxcar.h>

using namespace boxcar;

BOXCAR_PLUGIN("undefined_symbol", "1");

Tensor isNowhere(const Tensor& x);

BOXCAR_LIBRARY(test_undefined_symbol, m) { m.def("f", BOXCAR_FN(isNowhere)); }
