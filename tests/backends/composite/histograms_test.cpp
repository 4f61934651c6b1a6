#include <gtest/gtest.h>

#include "tests/backends/tensor_helpers.h"

// Covers what the cases of tests/numerics do not: texts of errors.

namespace boxcar {
namespace {

TEST(Histograms, PointsWithMoreCoordinatesThanDimensionsAreRefused) {
  EXPECT_EQ(errorOf([&] {
              histogramdd(zeros({1, 65}), 1);
            }),
            "histogramdd: a point has at most 64 coordinates, one for each dimension of the result, but got 65");
}

}  // namespace
}  // namespace boxcar
