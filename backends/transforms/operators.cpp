#include <boxcar/backends/autograd/function_call.h>
#include <boxcar/backends/transforms/deferred_init.h>
#include <boxcar/backends/transforms/fake_tensor.h>
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

#define BOXCAR_FUNC_SCHEMA(name, overload, text)                                              \
  {                                                                                           \
    "func::" name, overload, "func::" text, {__FILE__, __LINE__}, 1, { Tag::differentiation } \
  }

// Parsed when they are first used, as those in ops/ are.
constexpr detail::SchemaText kSchemas[] = {
    // A fake tensor like [self], with its device, or on [device].
    BOXCAR_FUNC_SCHEMA("fake_like", "", "fake_like(Tensor self, *, Device? device=None) -> Tensor"),
    // The same for the tensors in lists, tuples and dicts.
    BOXCAR_FUNC_SCHEMA("fake_like", "structure", "fake_like.structure(Any value, *, Device? device=None) -> Any"),
    // Calls [func], whose tensors are fake and know how they are made.
    BOXCAR_FUNC_SCHEMA("deferred_init", "", "deferred_init(Function func) -> Any"),
    BOXCAR_FUNC_SCHEMA("deferred_init", "args", "deferred_init.args(Function func, Any[] args) -> Any"),
    // The real tensor that deferred_init() would have made.
    BOXCAR_FUNC_SCHEMA("materialize", "", "materialize(Tensor(a) self) -> Tensor(a)"),
    BOXCAR_FUNC_SCHEMA("materialize", "structure", "materialize.structure(Any value) -> Any"),
};
#undef BOXCAR_FUNC_SCHEMA

}  // namespace

BOXCAR_LIBRARY_FRAGMENT(func, m) {
  m.def(kSchemas);
  m.impl("fake_like", BOXCAR_FN(fakeLike));
  m.impl("fake_like.structure", BOXCAR_FN(fakeLikeOfAny));
  m.impl("deferred_init", BOXCAR_FN(deferredInitOf));
  m.impl("deferred_init.args", BOXCAR_FN(deferredInitWith));
  m.impl("materialize", BOXCAR_FN(materializeTensor));
  m.impl("materialize.structure", BOXCAR_FN(materialize));
}

}  // namespace boxcar::transforms
