#pragma once

#include <boxcar/dispatcher/library.h>

// A block of registrations for CPU and for Meta: kernels that work out the result's sizes, strides and dtype first, and
// leave out the elements of tensors that have none.
//
//   BOXCAR_CPU_AND_META(aten, m) {
//     m.impl("flip", BOXCAR_FN(flip));
//   }
#define BOXCAR_CPU_AND_META(ns, m) \
  BOXCAR_CPU_AND_META_BLOCK(ns, m, BOXCAR_CONCATENATE(boxcar_cpu_and_meta_, BOXCAR_UID))
#define BOXCAR_CPU_AND_META_BLOCK(ns, m, function)  \
  static void function(::boxcar::Library& m);       \
  BOXCAR_LIBRARY_IMPL(ns, CPU, m) { function(m); }  \
  BOXCAR_LIBRARY_IMPL(ns, Meta, m) { function(m); } \
  static void function([[maybe_unused]] ::boxcar::Library& m)
