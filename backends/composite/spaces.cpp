#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <optional>

// linspace and logspace between ends that are 0-dim tensors.

namespace boxcar::composite {
namespace {

using OptionalType = std::optional<ScalarType>;
using OptionalLayout = std::optional<Layout>;
using OptionalDevice = std::optional<Device>;
using OptionalBool = std::optional<bool>;

Scalar endOf(const Scalar& number) { return number; }
Scalar endOf(const Tensor& tensor) {
  BOXCAR_CHECK(tensor.dim() == 0,
               "linspace and logspace only support 0-dimensional start and end tensors, but got one with {} "
               "dimensions",
               tensor.dim());
  BOXCAR_CHECK(!tensor.is_meta(), "linspace and logspace need the values of their ends, which a meta tensor lacks");
  return boxcar::item(tensor);
}

template <class Start, class End>
Tensor linspaceBetween(const Start& start, const End& end, int64_t steps, OptionalType dtype, OptionalLayout layout,
                       OptionalDevice device, OptionalBool pin_memory) {
  return boxcar::linspace(endOf(start), endOf(end), steps, dtype, layout, device, pin_memory);
}
template <class Start, class End>
Tensor& linspaceBetweenOut(const Start& start, const End& end, int64_t steps, Tensor& out) {
  return boxcar::linspace_out(out, endOf(start), endOf(end), steps);
}
template <class Start, class End>
Tensor logspaceBetween(const Start& start, const End& end, int64_t steps, double base, OptionalType dtype,
                       OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return boxcar::logspace(endOf(start), endOf(end), steps, base, dtype, layout, device, pin_memory);
}
template <class Start, class End>
Tensor& logspaceBetweenOut(const Start& start, const End& end, int64_t steps, double base, Tensor& out) {
  return boxcar::logspace_out(out, endOf(start), endOf(end), steps, base);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("linspace.Tensor_Tensor", BOXCAR_FN((linspaceBetween<Tensor, Tensor>)));
  m.impl("linspace.Tensor_Scalar", BOXCAR_FN((linspaceBetween<Tensor, Scalar>)));
  m.impl("linspace.Scalar_Tensor", BOXCAR_FN((linspaceBetween<Scalar, Tensor>)));
  m.impl("linspace.Tensor_Tensor_out", BOXCAR_FN((linspaceBetweenOut<Tensor, Tensor>)));
  m.impl("linspace.Tensor_Scalar_out", BOXCAR_FN((linspaceBetweenOut<Tensor, Scalar>)));
  m.impl("linspace.Scalar_Tensor_out", BOXCAR_FN((linspaceBetweenOut<Scalar, Tensor>)));
  m.impl("logspace.Tensor_Tensor", BOXCAR_FN((logspaceBetween<Tensor, Tensor>)));
  m.impl("logspace.Tensor_Scalar", BOXCAR_FN((logspaceBetween<Tensor, Scalar>)));
  m.impl("logspace.Scalar_Tensor", BOXCAR_FN((logspaceBetween<Scalar, Tensor>)));
  m.impl("logspace.Tensor_Tensor_out", BOXCAR_FN((logspaceBetweenOut<Tensor, Tensor>)));
  m.impl("logspace.Tensor_Scalar_out", BOXCAR_FN((logspaceBetweenOut<Tensor, Scalar>)));
  m.impl("logspace.Scalar_Tensor_out", BOXCAR_FN((logspaceBetweenOut<Scalar, Tensor>)));
}

}  // namespace boxcar::composite
