#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/promotion.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

// What programs state about tensors, and the dtype that results of arithmetic have.

namespace boxcar::composite {
namespace {

using OptionalSizes = std::optional<std::span<const int64_t>>;

void assertWithText(const Tensor& self, std::string_view text) {
  BOXCAR_CHECK(self.numel() == 1, "_assert_async: expected a tensor of one element, but got {}", self.numel());
  BOXCAR_CHECK(lacksElements(self) || boxcar::is_nonzero(self), "{}", text);
}
void assertNonzero(const Tensor& self) {
  assertWithText(self, "Expected Tensor with single nonzero value, but got zero");
}

void assertScalar(const Scalar& self, std::string_view text) { BOXCAR_CHECK(self.toBool(), "{}", text); }

Tensor assertTensorFunctional(const Tensor& self, std::string_view text, const Tensor& dep_token) {
  boxcar::_assert_async(self, text);
  return boxcar::clone(dep_token);
}
Tensor assertScalarFunctional(const Scalar& self, std::string_view text, const Tensor& dep_token) {
  boxcar::_assert_scalar(self, text);
  return boxcar::clone(dep_token);
}

void assertMetadata(const Tensor& a, OptionalSizes size, OptionalSizes stride, std::optional<ScalarType> dtype,
                    std::optional<Device> device, std::optional<Layout> layout) {
  meta::checkDefined(a);
  const auto checkList = [](const char* what, OptionalSizes expected, std::span<const int64_t> found) {
    BOXCAR_CHECK(!expected.has_value() || std::ranges::equal(*expected, found),
                 "Tensor {} mismatch! Expected: {}, Got: {}", what, meta::listOf(*expected), meta::listOf(found));
  };
  checkList("sizes", size, a.sizes());
  checkList("strides", stride, a.strides());
  BOXCAR_CHECK(!dtype.has_value() || *dtype == a.scalar_type(), "Tensor dtype mismatch! Expected: {}, Got: {}",
               dtypeName(*dtype), dtypeName(a.scalar_type()));
  BOXCAR_CHECK(!device.has_value() || *device == a.device(), "Tensor device mismatch! Expected: {}, Got: {}", *device,
               a.device());
  BOXCAR_CHECK(!layout.has_value() || *layout == a.layout(), "Tensor layout mismatch! Expected: {}, Got: {}", *layout,
               a.layout());
}

void checkOperand(const Tensor& tensor) { meta::checkDefined(tensor); }
void checkOperand(const Scalar& /*number*/) {}

template <class A, class B>
ScalarType resultType(const A& a, const B& b) {
  checkOperand(a);
  checkOperand(b);
  meta::TypePromotion types;
  types.add(a);
  types.add(b);
  return types.result();
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("_assert_async", BOXCAR_FN(assertNonzero));
  m.impl("_assert_async.msg", BOXCAR_FN(assertWithText));
  m.impl("_assert_scalar", BOXCAR_FN(assertScalar));
  m.impl("_assert_tensor_metadata", BOXCAR_FN(assertMetadata));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("_functional_assert_async.msg", BOXCAR_FN(assertTensorFunctional));
  m.impl("_functional_assert_scalar", BOXCAR_FN(assertScalarFunctional));
  m.impl("result_type.Tensor", BOXCAR_FN((resultType<Tensor, Tensor>)));
  m.impl("result_type.Scalar", BOXCAR_FN((resultType<Tensor, Scalar>)));
  m.impl("result_type.Scalar_Tensor", BOXCAR_FN((resultType<Scalar, Tensor>)));
  m.impl("result_type.Scalar_Scalar", BOXCAR_FN((resultType<Scalar, Scalar>)));
}

}  // namespace boxcar::composite
