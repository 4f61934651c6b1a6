#pragma once

#include <cstdint>

// Functions of numbers that only CPUs have. Each is computed in double by a function of a table
// (cpu/special_functions.cpp), which one loop calls for all of them. Functors that do without a library are in
// functors/pointwise_special.h: other devices have these, too.

namespace boxcar::native {

// X(function, operator, forms), as in functors/pointwise_table.h.
#define BOXCAR_UNARY_FUNCTIONS(X)                               \
  X(BesselI0, "i0", kAllForms)                                  \
  X(BesselI0, "special_modified_bessel_i0", kNotInPlace)        \
  X(ScaledI0, "special_i0e", kNotInPlace)                       \
  X(BesselI1, "special_i1", kNotInPlace)                        \
  X(BesselI1, "special_modified_bessel_i1", kNotInPlace)        \
  X(ScaledI1, "special_i1e", kNotInPlace)                       \
  X(BesselK0, "special_modified_bessel_k0", kNotInPlace)        \
  X(ScaledK0, "special_scaled_modified_bessel_k0", kNotInPlace) \
  X(BesselK1, "special_modified_bessel_k1", kNotInPlace)        \
  X(ScaledK1, "special_scaled_modified_bessel_k1", kNotInPlace) \
  X(BesselJ0, "special_bessel_j0", kNotInPlace)                 \
  X(BesselJ1, "special_bessel_j1", kNotInPlace)                 \
  X(BesselY0, "special_bessel_y0", kNotInPlace)                 \
  X(BesselY1, "special_bessel_y1", kNotInPlace)                 \
  X(AiryAi, "special_airy_ai", kNotInPlace)                     \
  X(Ndtri, "special_ndtri", kNotInPlace)

#define BOXCAR_BINARY_FUNCTIONS(X)  \
  X(GammaP, "igamma", kPlainForms)  \
  X(GammaQ, "igammac", kPlainForms) \
  X(SampledGamma, "_standard_gamma_grad", kPlainNotInPlace)

// The numbers of functions in the CPU's tables.
enum class UnaryFunction : uint8_t {
  BesselI0,
  ScaledI0,
  BesselI1,
  ScaledI1,
  BesselK0,
  ScaledK0,
  BesselK1,
  ScaledK1,
  BesselJ0,
  BesselJ1,
  BesselY0,
  BesselY1,
  AiryAi,
  Ndtri
};
enum class BinaryFunction : uint8_t { GammaP, GammaQ, SampledGamma };

}  // namespace boxcar::native
