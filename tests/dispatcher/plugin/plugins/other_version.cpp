#include <boxcar/boxcar.h>

#include <cstdlib>

using namespace boxcar;

BOXCAR_PLUGIN_STAMP(detail::makePluginStamp("other_version", "1", "99.1.0"));

const int has_run = setenv("BOXCAR_TEST_OTHER_VERSION_HAS_RUN", "yes", 1);

BOXCAR_LIBRARY(test_other_version, m) { m.def("f(Tensor x) -> Tensor"); }
