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

#define BOXCAR_FUNC_SCHEMA(name, overload, text)                                              \
  {                                                                                           \
    "func::" name, overload, "func::" text, {__FILE__, __LINE__}, 1, { Tag::differentiation } \
  }

// Parsed when they are first used, as those in ops/ are.
constexpr detail::SchemaText kSchemas[] = {
    // A function that calls [func] on all slices of its arguments at once.
    BOXCAR_FUNC_SCHEMA("vmap", "",
                       "vmap(Function func, Any? in_dims=None, Any? out_dims=None, str randomness=\"error\", *, "
                       "int? chunk_size=None) -> Function"),
    // Functions that give all derivatives of the result with respect to an argument, and those of these.
    BOXCAR_FUNC_SCHEMA("jacrev", "", "jacrev(Function func, int argnums=0, *, int? chunk_size=None) -> Function"),
    BOXCAR_FUNC_SCHEMA("jacfwd", "", "jacfwd(Function func, int argnums=0, *, str randomness=\"error\") -> Function"),
    BOXCAR_FUNC_SCHEMA("hessian", "", "hessian(Function func, int argnums=0) -> Function"),
    // The result at [primals], and a function that gives its changes for those of the primals.
    BOXCAR_FUNC_SCHEMA("linearize", "", "linearize(Function func, Any[] primals) -> (Any output, Function jvp_fn)"),
    // A function that computes what [func] does, and writes nothing but its arguments, at the end.
    BOXCAR_FUNC_SCHEMA("functionalize", "", "functionalize(Function func, *, str views='keep') -> Function"),
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
