#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <optional>
#include <string_view>

// Operators that give a tensor other sizes refuse those that require grad, as their history would no longer be true.

namespace boxcar::autograd {
namespace {

void checkResizable(const Tensor& self, std::string_view op) {
  BOXCAR_CHECK(!self.requires_grad(), "{}: cannot resize variables that require grad. Call it on a detach()ed tensor",
               op);
  BOXCAR_CHECK(!computesTangents() || !hasTangent(self),
               "{}: cannot resize a tensor that has a tangent. Call it on a detach()ed tensor", op);
}

Tensor& resize(DispatchKeySet keys, Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format) {
  checkResizable(self, "resize_");
  const AutoDispatchBelowAutograd below;
  return boxcar::redispatch::resize_(keys & after_autograd_keyset, self, size, memory_format);
}

Tensor& resizeAs(DispatchKeySet keys, Tensor& self, const Tensor& the_template,
                 std::optional<MemoryFormat> memory_format) {
  checkResizable(self, "resize_as_");
  const AutoDispatchBelowAutograd below;
  return boxcar::redispatch::resize_as_(keys & after_autograd_keyset, self, the_template, memory_format);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, Autograd, m) {
  m.impl("resize_", BOXCAR_FN(resize));
  m.impl("resize_as_", BOXCAR_FN(resizeAs));
}

}  // namespace boxcar::autograd
