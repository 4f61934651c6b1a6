#include <boxcar/backends/autograd/function_call.h>
#include <boxcar/backends/transforms/deferred_init.h>
#include <boxcar/backends/transforms/fake_tensor.h>
#include <boxcar/backends/transforms/function_transforms.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/schema/function_object.h>

// What scripts make fake tensors with, and real ones of them.

namespace boxcar::transforms {
namespace {

Tensor fakeLike(const Tensor& self, std::optional<Device> device) { return FakeConverter(device).convert(self); }

IValue fakeLikeOfAny(const IValue& value, std::optional<Device> device) { return FakeConverter(device).convert(value); }

IValue deferredInitWith(const FunctionPtr& func, const IValue& args) {
  const std::vector<IValue> given = autograd::argumentsFor(*func, args);
  return deferredInit([&] { return autograd::callFunction("func::deferred_init", *func, given); });
}

IValue deferredInitOf(const FunctionPtr& func) {
  return deferredInit([&] { return autograd::callFunction("func::deferred_init", *func, {}); });
}

Tensor materializeTensor(const Tensor& self) { return materialize(IValue(self)).toTensor(); }

}  // namespace

BOXCAR_LIBRARY_IMPL(func, CompositeImplicitAutograd, m) {
  addFunctionTransforms(m);
  addFunctionalize(m);
  m.impl("fake_like", BOXCAR_FN(fakeLike));
  m.impl("fake_like.structure", BOXCAR_FN(fakeLikeOfAny));
  m.impl("deferred_init", BOXCAR_FN(deferredInitOf));
  m.impl("deferred_init.args", BOXCAR_FN(deferredInitWith));
  m.impl("materialize", BOXCAR_FN(materializeTensor));
  m.impl("materialize.structure", BOXCAR_FN(materialize));
}

}  // namespace boxcar::transforms
