// Calls the operator of a script from C++, typed and boxed.

#include <boxcar/boxcar.h>
#include <boxcar/ops.h>

#include <iostream>

using namespace boxcar;

int main() {
  Dispatcher::singleton().loadPlugin("build/libbend.so");
  const Program program = Program::load("bend.ops");
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("tutorial::bend", "");
  const Tensor x = sub(arange(3), 1.5);

  // Typed: a C++ function's arguments and result.
  const Tensor typed = op.typed<Tensor(const Tensor&, double)>().call(x, 0.1);

  // Boxed: the arguments go on a stack, and the results come back there. This is the same for every operator.
  Stack stack;
  push(stack, x, 0.1);
  op.callBoxed(stack);
  const Tensor boxed = pop(stack).toTensor();

  std::cout << op.schema() << "\n" << typed << "\n" << boxed << "\n";
}
