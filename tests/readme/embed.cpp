#include <boxcar/boxcar.h>
#include <boxcar/ops.h>

#include <iostream>

using namespace boxcar;

// A kernel is a function with the schema's types.
Tensor scaleCpu(const Tensor& x, double by) { return mul(x, by); }

BOXCAR_LIBRARY(demo, m) { m.def("scale(Tensor x, float by=2.0) -> Tensor"); }
BOXCAR_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale", BOXCAR_FN(scaleCpu)); }

int main() {
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("demo::scale", "");
  const Tensor x = arange(3);

  const Tensor typed = op.typed<Tensor(const Tensor&, double)>().call(x, 2.0);

  Stack stack;
  push(stack, x, 2.0);
  op.callBoxed(stack);
  const Tensor boxed = pop(stack).toTensor();

  std::cout << op.schema() << "\n" << typed << "\n" << boxed << "\n";
}
