#include <boxcar/boxcar.h>
#include <boxcar/ops.h>

#include <iostream>

using namespace boxcar;

void tell(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  std::cout << op.operator_name() << "\n";
  op.redispatchBoxed(keys.remove(DispatchKey::Tracer), stack);
}

BOXCAR_LIBRARY_IMPL(_, Tracer, m) { m.fallback(CppFunction::makeFromBoxedFunction<&tell>()); }

int main() {
  const Tensor a = ones({2, 2});
  const IncludeDispatchKeyGuard tracing(DispatchKey::Tracer);
  std::cout << relu(sub(a, 2.0)) << "\n";
}
