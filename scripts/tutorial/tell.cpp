// A handler for every operator, at the key Tracer: it prints the operator's name, and hands the call on.

#include <boxcar/boxcar.h>

#include <iostream>

BOXCAR_PLUGIN("tell", "1.0");

namespace {

using namespace boxcar;

void tell(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  std::cout << op.operator_name() << " takes " << op.schema().arguments().size() << "\n";
  op.redispatchBoxed(keys.remove(DispatchKey::Tracer), stack);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(_, Tracer, m) { m.fallback(CppFunction::makeFromBoxedFunction<&tell>()); }
