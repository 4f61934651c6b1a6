"""Steps of optimisers."""

import torch

from generator import WIDE_FLOATS, call, cases


def lists(make, positive=False):
    """Returns a list of tensors of odd sizes, of a matrix that is turned, and an empty one."""
    low = 0 if positive else -1
    return [make(*sizes, low=low) for sizes in [(3, 5), (37,), ()]] + [make(4, 3, low=low).t(), make(0, low=low)]


def adam_calls(make):
    def step(number=3, amsgrad=False, **options):
        arguments = dict(lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.0, eps=1e-3, amsgrad=amsgrad, maximize=False)
        arguments.update(options)
        weights = lists(make)
        largest = lists(make, positive=True) if amsgrad else []
        return call(weights, lists(make), lists(make), lists(make, positive=True), largest,
                    [torch.tensor(float(number)) for _ in weights], **arguments)

    yield step()
    yield step(number=1, lr=0.01)
    yield step(weight_decay=0.3)
    yield step(maximize=True, weight_decay=0.3)
    yield step(amsgrad=True)
    yield step(amsgrad=True, maximize=True)
    yield step(beta1=0.3)
    yield step(grad_scale=torch.tensor(4.0), found_inf=torch.tensor(0.0))
    yield step(grad_scale=torch.tensor(4.0), maximize=True, weight_decay=0.3)
    yield step(found_inf=torch.tensor(1.0))
    yield step(lr=torch.tensor(0.1))


kOptions = dict(low=-1, high=1, forms=False, tolerance={torch.float32: (1e-5, 1e-6)},
                reason="sums and products in another order")


def is_by_tensor(made):
    return isinstance(made.kwargs["lr"], torch.Tensor)


@cases("aten::_fused_adam_ aten::_fused_adamw_", WIDE_FLOATS, **kOptions)
def fused_adam(make):
    yield from (each for each in adam_calls(make) if not is_by_tensor(each))


@cases("aten::_fused_adam_.tensor_lr aten::_fused_adamw_.tensor_lr", WIDE_FLOATS, **kOptions)
def fused_adam_tensor_lr(make):
    yield from (each for each in adam_calls(make) if is_by_tensor(each))


def sgd_calls(make):
    def step(momentum=0.0, **options):
        arguments = dict(weight_decay=0.0, momentum=momentum, lr=0.1, dampening=0.0, nesterov=False, maximize=False,
                         is_first_step=False)
        arguments.update(options)
        return call(lists(make), lists(make), lists(make) if momentum != 0 else [], **arguments)

    yield step()
    yield step(weight_decay=0.3)
    yield step(maximize=True, weight_decay=0.3)
    yield step(momentum=0.9)
    yield step(momentum=0.9, is_first_step=True, dampening=0.2)
    yield step(momentum=0.9, dampening=0.2, weight_decay=0.1)
    yield step(momentum=0.9, nesterov=True)
    yield step(grad_scale=torch.tensor(4.0), found_inf=torch.tensor(0.0))
    yield step(grad_scale=torch.tensor(4.0), found_inf=torch.tensor(1.0))
    yield step(momentum=0.9, nesterov=True, grad_scale=torch.tensor(4.0), maximize=True)
    yield step(lr=torch.tensor(0.1))


@cases("aten::_fused_sgd_", WIDE_FLOATS, **kOptions)
def fused_sgd(make):
    yield from (each for each in sgd_calls(make) if not is_by_tensor(each))


@cases("aten::_fused_sgd_.tensor_lr", WIDE_FLOATS, **kOptions)
def fused_sgd_tensor_lr(make):
    yield from (each for each in sgd_calls(make) if is_by_tensor(each))
