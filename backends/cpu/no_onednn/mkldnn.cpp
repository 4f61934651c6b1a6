#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::cpu {
namespace {

// Serves what would make the first tensor of layout torch._mkldnn.
void explainWithoutOneDnn(const OperatorHandle& op, DispatchKeySet /*keys*/, Stack* /*stack*/) {
  BOXCAR_FAIL(
      "{}: this boxcar was built without oneDNN, whose layouts tensors of layout torch._mkldnn have; install oneDNN "
      "and "
      "build with -DBOXCAR_ONEDNN=ON, or leave tensors strided",
      op.operator_name());
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CPU, m) { m.impl("to_mkldnn", CppFunction::makeFromBoxedFunction<&explainWithoutOneDnn>()); }
BOXCAR_LIBRARY_IMPL(aten, MkldnnCPU, m) {
  m.impl("empty.memory_format", CppFunction::makeFromBoxedFunction<&explainWithoutOneDnn>());
}

}  // namespace boxcar::cpu
