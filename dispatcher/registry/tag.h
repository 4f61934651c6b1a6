#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <string_view>

namespace boxcar {

// What a definition says about an operator besides its schema: m.def("rand(…) -> Tensor",
// {Tag::nondeterministic_seeded}). These are PyTorch's names and meanings, and three of boxcar's: `io` is for operators
// that read or affect things outside the program, `not_observed` hides the operator's calls from observers, and
// `differentiation` is for operators on what autograd knows about tensors: a trace or a recording has the calls that
// they make instead.
#define BOXCAR_FORALL_TAGS(_)   \
  _(core)                       \
  _(cudagraph_unsafe)           \
  _(data_dependent_output)      \
  _(differentiation)            \
  _(dynamic_output_shape)       \
  _(flexible_layout)            \
  _(generated)                  \
  _(inplace_view)               \
  _(io)                         \
  _(maybe_aliasing_or_mutating) \
  _(needs_fixed_stride_order)   \
  _(nondeterministic_bitwise)   \
  _(nondeterministic_seeded)    \
  _(not_observed)               \
  _(pointwise)                  \
  _(pt2_compliant_tag)          \
  _(view_copy)

enum class Tag : uint8_t {
#define BOXCAR_TAG(name) name,
  BOXCAR_FORALL_TAGS(BOXCAR_TAG)
#undef BOXCAR_TAG
};

BOXCAR_API std::string_view toString(Tag tag) noexcept;

}  // namespace boxcar
