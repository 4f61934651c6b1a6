#pragma once

#include <boxcar/backends/cuda/failure.h>
#include <boxcar/backends/cuda/strided_layout.h>
#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/ivalue/scalar.h>

#include <array>
#include <cstddef>
#include <cstdint>

// The interface between the pointwise operators and their kernels, which nvcc compiles.

namespace boxcar::cuda {

// Operand 0 is the output. The bits of [on_host] mark operands that are single elements in host memory.
struct FlatLaunch {
  char* const* data;
  const int64_t* steps;
  uint32_t on_host;
  int64_t n;
  const Scalar* params;
  Failure* failure;
};
struct StridedLaunch {
  char* const* data;
  const StridedLayout* layout;
  uint32_t on_host;
  const Scalar* params;
  Failure* failure;
};

struct PointwiseLauncher {
  void (*flat)(const FlatLaunch& launch) = nullptr;
  void (*strided)(const StridedLaunch& launch) = nullptr;
};

// A launcher for each element type that a functor supports.
using PointwiseLaunchers = std::array<PointwiseLauncher, static_cast<size_t>(ScalarType::NumOptions)>;

// The launchers of each functor, defined in its family's file.
template <functors::Functor functor>
struct LaunchersOf {
  static const PointwiseLaunchers value;
};

#define BOXCAR_DECLARE_LAUNCHERS(functor, arity, result, types) \
  template <>                                                   \
  const PointwiseLaunchers LaunchersOf<functors::Functor::k##functor>::value;
BOXCAR_FUNCTORS(BOXCAR_DECLARE_LAUNCHERS)
#undef BOXCAR_DECLARE_LAUNCHERS
template <>
const PointwiseLaunchers LaunchersOf<functors::Functor::kSelect>::value;

}  // namespace boxcar::cuda
