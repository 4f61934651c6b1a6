#include <boxcar/backends/autograd/function.h>
#include <boxcar/boxcar.h>
#include <boxcar/ops.h>

#include <iostream>

using namespace boxcar;

// A derivative that is written by hand: the gradient passes where x is not negative, or would make it larger.
struct Rectify : autograd::Function<Rectify> {
  static Tensor forward(autograd::AutogradContext* context, const Tensor& x) {
    context->save_for_backward({x});
    return relu(x);
  }
  static autograd::variable_list backward(autograd::AutogradContext* context, autograd::variable_list grads) {
    const Tensor x = context->get_saved_variables()[0];
    return {mul(grads[0], logical_or(ge(x, 0), lt(grads[0], 0)))};
  }
};

int main() {
  const Tensor x = linspace(-1, 1, 21);
  const Tensor wanted = relu(sub(mul(x, 2), 1));
  Tensor weight = ones({1}).set_requires_grad(true);
  Tensor bias = zeros({1}).set_requires_grad(true);
  for (int step = 0; step < 2000; ++step) {
    const Tensor loss = mse_loss(Rectify::apply(add(mul(x, weight), bias)), wanted);
    autograd::backward({{loss}});
    const NoGradGuard no_grad;
    for (Tensor* parameter : {&weight, &bias}) {
      sub_(*parameter, mul(autograd::gradOf(*parameter), 0.2));
      autograd::setGrad(*parameter, {});
    }
  }
  std::cout << detach(weight) << " " << detach(bias) << "\n";
}
