#include <boxcar/backends/autograd/function.h>
#include <boxcar/boxcar.h>
#include <boxcar/ops.h>

#include <iostream>

using namespace boxcar;

BOXCAR_LIBRARY(consumer, m) {
  m.def("twice(Tensor x) -> Tensor", [](const Tensor& x) { return mul(x, 2); });
}

// Prints what works, then the number of operators without those of consumers. Loads the plugins given as arguments.
int main(int argc, char** argv) {
  Dispatcher& dispatcher = Dispatcher::singleton();
  for (const std::string& error : dispatcher.registrationErrors()) std::cout << error << "\n";
  std::cout << "operators " << dispatcher.getAllOpNames().size() - 1 << "\n";
  try {
    for (int i = 1; i < argc; ++i) dispatcher.loadPlugin(argv[i]);
    for (const OperatorName& name : dispatcher.getAllOpNames()) {
      if (!name.name.starts_with("consumer")) continue;
      const auto op = dispatcher.findSchemaOrThrow(name.name.c_str(), "");
      std::cout << name << " " << op.typed<Tensor(const Tensor&)>().call(arange(3)) << "\n";
    }
    const Tensor x = ones({2}).set_requires_grad(true);
    autograd::backward({{sum(mul(x, x))}});
    std::cout << "gradient " << autograd::gradOf(x) << "\n";
    Program::compile("print('script', (ones(2) + 1).tolist())", "inline.ops").run();
    Dispatcher::singleton().loadPlugin("absent.so");
  } catch (const Error& error) {
    std::cout << std::flush << "error: " << error.what() << "\n";
  }
}
