#include <boxcar/boxcar.h>

#include <cstdlib>

using namespace boxcar;

const int has_run = setenv("BOXCAR_TEST_UNSTAMPED_HAS_RUN", "yes", 1);

BOXCAR_LIBRARY(test_unstamped, m) { m.def("f(Tensor x) -> Tensor"); }
