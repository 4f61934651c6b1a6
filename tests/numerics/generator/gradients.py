"""Records the gradients that PyTorch computes for a call: see record()."""

import math

import torch

from . import expected, store

# The version of the records. case_reader.cpp reads this one.
kVersion = "1"

# Arguments that are written, although the schema does not say so. They are statistics, without a gradient.
kHiddenWrites = {base: ("running_mean", "running_var")
                 for base in ("batch_norm", "native_batch_norm", "instance_norm", "_batch_norm_impl_index")}

# Refusals that do not show what is right: PyTorch's faults, and integer results, which have no gradient.
kUnclear = ("Expected isFloatingType(grad.scalar_type())", "INTERNAL ASSERT", "Autograd not support dtype",
            "Expected a proper Tensor but got None", "grad_input must be contiguous",
            "modified by an inplace operation", "cannot reshape tensor of 0 elements", "returned an invalid gradient",
            "not supported with sparse gradients")

kWide = (torch.float64, torch.complex128)
# Of these dtypes, a few cases of each operator have gradients.
kNarrow = (torch.float32, torch.complex64)
kNarrowCases = 2


def is_differentiable(tensor):
    return tensor.is_floating_point() or tensor.is_complex()


def weight(number):
    """Returns a number in (-1, 1) that every floating point dtype holds, different for each [number].
    case_gradients.cpp computes the same."""
    x = (number + 1) * 2654435761 % 2 ** 32
    x = (x ^ x >> 15) * 2246822519 % 2 ** 32
    return (2 * (x >> 26) - 63) / 64


def weights(like, number, magnitudes=False):
    """Returns the weights of tensor [number] of a call, in its dtype.

    With [magnitudes], they are real and multiplied by the tensor: then the gradients of vectors that are arbitrary up
    to a sign or an angle do not depend on it.
    """
    count = like.numel()
    first = 1000 * number
    if like.is_complex() and not magnitudes:
        parts = torch.tensor([weight(first + i) for i in range(2 * count)], dtype=torch.float64)
        made = torch.view_as_complex(parts.view(count, 2))
    else:
        made = torch.tensor([weight(first + i) for i in range(count)], dtype=torch.float64)
    made = made.to(like.dtype).view(like.size())
    return made * like.detach() if magnitudes else made


class Differentiated:
    """A call with tensors that require grad."""

    def __init__(self, function, schema, values, leaves):
        """[leaves]: the ids of the tensors in [values] that require grad."""
        copier = expected.Copier()
        copies = {name: copier.copy(value) for name, value in values.items()}
        self.leaves = []
        for original in all_tensors(values):
            copy = copier.copy(original)
            if id(original) in leaves and not copy.requires_grad:
                self.leaves.append(copy.requires_grad_())
        if schema.is_inplace:
            for argument in schema.inputs:
                if argument.is_written and argument.name in copies:
                    copies[argument.name] = cloned(copies[argument.name])
        with torch.enable_grad():
            results = function(copies)
        self.outputs = list(expected.tensors_in(results))
        if not self.outputs and schema.is_inplace:
            self.outputs = [tensor for argument in schema.inputs if argument.is_written
                            for tensor in expected.tensors_in(copies.get(argument.name))]
        self.recorded = [output for output in self.outputs if output.requires_grad]

    def weights(self, magnitudes):
        return [weights(output, number, magnitudes) for number, output in enumerate(self.recorded)]

    def gradients(self, grads, create_graph=False):
        if not self.recorded:
            return [None] * len(self.leaves)
        return torch.autograd.grad(self.recorded, self.leaves, grads, allow_unused=True, create_graph=create_graph)


def all_tensors(values):
    """Returns the different tensors among the values of arguments by name."""
    found = {}
    for tensor in expected.tensors_in(list(values.values())):
        found.setdefault(id(tensor), tensor)
    return list(found.values())


def cloned(value):
    if isinstance(value, torch.Tensor):
        return value.clone()
    return [cloned(element) for element in value] if isinstance(value, (list, tuple)) else value


def refusal(function, schema, values, leaves, magnitudes):
    """Returns PyTorch's error where it refuses the gradients of [leaves]; None if it does not."""
    try:
        call = Differentiated(function, schema, values, leaves)
        call.gradients(call.weights(magnitudes))
    except expected.kErrors as error:
        return str(error).split("\n")[0] or type(error).__name__
    return None


def candidates(schema, values):
    """Returns the tensors that may require grad."""
    left_out = kHiddenWrites.get(schema.base, ())
    if not schema.is_inplace:
        left_out += tuple(argument.name for argument in schema.arguments if argument.is_written)
    excluded = {id(tensor) for name in left_out for tensor in expected.tensors_in(values.get(name))}
    return [tensor for tensor in all_tensors(values) if is_differentiable(tensor) and id(tensor) not in excluded]


def second(function, schema, values, leaves):
    """Returns the gradients of weighted sums of the gradients, each multiplied by weights and summed: first of the
    leaves, then of the gradients given to the outputs. None if PyTorch does not compute them, or where they are not
    finite."""
    try:
        call = Differentiated(function, schema, values, leaves)
        grads = [grad.requires_grad_() for grad in call.weights(False)]
        found = call.gradients(grads, create_graph=True)
        firsts = [(number, gradient) for number, gradient in enumerate(found)
                  if gradient is not None and gradient.requires_grad]
        if not firsts:
            return None
        inputs = [*call.leaves, *grads]
        seconds = torch.autograd.grad([gradient for _, gradient in firsts], inputs,
                                      [weights(gradient, 100 + number) for number, gradient in firsts],
                                      allow_unused=True)
    except expected.kErrors:
        return None
    sums = []
    for number, gradient in enumerate(seconds):
        if gradient is None:
            sums.append(0)
            continue
        total = (gradient.detach() * weights(gradient, 200 + number).conj()).sum().real.double().item()
        if not math.isfinite(total):
            return None
        sums.append(total)
    return sums


def record(function, schema, values, results, encoder, magnitudes):
    """Returns the record of the gradients of a call with these [results]; None if no tensor may have one.

      "out"      a digit for each tensor of the results, or of the written arguments if there are no results: 1 if it
                 requires grad. It gets weights() as its gradient.
      "in"       by the number of the argument tensor, the place of its gradient's elements; null if it has none.
                 Its dtype and sizes are those of the argument.
      "refused"  by the number of the argument tensor, the error if that tensor requires grad; such tensors are not in
                 "in", and "out" is missing if there are no others
      "second"   what second() returns, if that is a list
      "results"  false if the results have other sizes when arguments require grad
    """
    tensors = candidates(schema, values)
    if not tensors:
        return None
    ids = [id(tensor) for tensor in tensors]
    refused = {}
    if refusal(function, schema, values, ids, magnitudes) is not None:
        for tensor in tensors:
            error = refusal(function, schema, values, [id(tensor)], magnitudes)
            if error is None:
                continue
            ids.remove(id(tensor))
            if not any(text in error for text in kUnclear):
                refused[id(tensor)] = error
        if len(ids) == len(tensors) or (ids and refusal(function, schema, values, ids, magnitudes) is not None):
            return None  # only the combination is refused, which no single argument explains
    made = {}
    if refused:
        made["refused"] = {str(encoder.tensor_index[key]): error for key, error in refused.items()}
    if not ids:
        return made or None
    call = Differentiated(function, schema, values, ids)
    made["out"] = "".join("1" if output.requires_grad else "0" for output in call.outputs)
    if any(output.size() != result.size() for output, result in zip(call.outputs, expected.tensors_in(results))):
        made["results"] = False
    gradients = call.gradients(call.weights(magnitudes))
    if any(gradient is not None and gradient.layout != torch.strided for gradient in gradients):
        return None
    made["in"] = {}
    for key, gradient in zip(ids, gradients):
        place = None
        if gradient is not None:
            # Added zeros give it memory: PyTorch makes some gradients without.
            elements = (gradient.detach() + torch.zeros_like(gradient)).resolve_conj().resolve_neg()
            place = encoder.elements.place(elements.contiguous().view(-1))
        made["in"][str(encoder.tensor_index[key])] = place
    if call.recorded and not magnitudes and all(tensor.dtype in kWide for tensor in call.leaves + call.recorded):
        sums = second(function, schema, values, ids)
        if sums is not None:
            made["second"] = [encoder.constant(total, None) for total in sums]
    return made
