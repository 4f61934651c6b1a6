"""Computes PyTorch's outcome of a call: results, the written arguments, or a refusal.

The expected results of float16 and bfloat16 are computed in float32 and rounded once: that is what boxcar promises, and
PyTorch's CPU backend lacks many kernels for these dtypes.
"""

import torch

from .values import HALVES, WIDE_FLOATS

kErrors = (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError, OverflowError, ZeroDivisionError)


# PyTorch's messages if it lacks a kernel, or has a faulty one.
kUnsupported = ("ComplexHalf", "INTERNAL ASSERT", "not implemented for", "Could not run", "not supported on CPU")


# Some PyTorch operators accept an out= of another dtype that the result can be cast to, others refuse it. Such a
# refusal does not show what is right.
kOutDtypeTexts = ("Found dtype", "Expected out tensor to have dtype", "Expected the dtype for input and out to match",
                  "Expected object of scalar type", "Expected dtype")


# The tolerances of torch.testing.assert_close.
kTolerances = {torch.float16: [1e-3, 1e-5], torch.bfloat16: [1.6e-2, 1e-5], torch.float32: [1.3e-6, 1e-5],
               torch.complex64: [1.3e-6, 1e-5]}


class Unsupported(Exception):
    """PyTorch has no kernel for the dtype, so the right result is unknown."""


class Refused(Exception):
    """PyTorch refuses the call."""


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for element in value:
            yield from tensors_in(element)


def untyped_storage(tensor):
    return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor._storage()  # PyTorch 1.13


def storage_key(tensor):
    return untyped_storage(tensor)._cdata


def whole_storage(tensor):
    """Returns all elements of the tensor's storage as one row."""
    storage = untyped_storage(tensor)
    row = torch.empty(0, dtype=tensor.dtype)
    return row.set_(storage, 0, (storage.nbytes() // tensor.element_size(),), (1,))


class Copier:
    """Copies arguments with their strides. Copies share memory, or are the same object, if the originals do.

    With [widen], float16 and bfloat16 become float32.
    """

    def __init__(self, widen=False):
        self.widen = widen
        self.storages = {}
        self.tensors = {}
        self.kept = []  # keeps the objects alive, so that ids stay valid

    def copy(self, value):
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, (list, tuple)):
            return [self.copy(element) for element in value]
        return value

    def _tensor(self, tensor):
        if id(tensor) in self.tensors:
            return self.tensors[id(tensor)]
        key = storage_key(tensor)
        if key not in self.storages:
            row = whole_storage(tensor).clone()
            self.storages[key] = row.float() if self.widen and tensor.dtype in HALVES else row
        row = self.storages[key]
        made = torch.empty(0, dtype=row.dtype)
        made.set_(untyped_storage(row), tensor.storage_offset(), tensor.size(), tensor.stride())
        self.tensors[id(tensor)] = made
        self.kept.append(tensor)
        return made


def invoke(function, values):
    """Returns function(**values); raises PyTorch's refusals as Refused or Unsupported."""
    try:
        with torch.no_grad():
            results = function(values)
    except kErrors as raised:
        text = str(raised).split("\n")[0]
        if any(reason in text for reason in kUnsupported):
            raise Unsupported(text) from raised
        raise Refused(text or type(raised).__name__) from raised
    if any(tensor.dtype == torch.complex32 for tensor in tensors_in(results)):
        raise Unsupported("complex32, which boxcar's tensors do not have")
    return results


def _call_with_truth(schema, args, kwargs):
    """Calls the Python function, because torch.ops turns a bool passed as a Scalar into an int."""
    function = getattr(torch, schema.base, None) or getattr(torch.Tensor, schema.base, None)
    if function is None:
        raise LookupError("only functions of the module torch take a bool for a Scalar; give an int, or a reference=")
    return function(*args, **kwargs)


def torch_function(schema):
    """Returns a function that calls PyTorch's operator [schema] with values by name; None if PyTorch lacks it."""
    operator = schema.torch_operator()
    if operator is None:
        return None
    known = {argument.name for argument in operator._schema.arguments}

    def run(values):
        args, kwargs = [], {}
        for argument in schema.arguments:
            if argument.name not in known:
                if argument.name in values and values[argument.name] != argument.default:
                    raise LookupError(f"{schema.name}: PyTorch {torch.__version__} has no argument {argument.name}; "
                                      "give a reference=")
            elif argument.name in values:
                kwargs[argument.name] = values[argument.name]
        # By position as far as possible, because the binding uses the name `self` itself.
        for argument in operator._schema.arguments:
            if argument.kwarg_only or argument.name not in kwargs:
                break
            args.append(kwargs.pop(argument.name))
        numbers = [values.get(argument.name) for argument in schema.arguments if argument.type == "number"]
        if any(isinstance(number, bool) for number in numbers):
            return _call_with_truth(schema, args, kwargs)
        return operator(*args, **kwargs)
    return run


def reference_function(schema, reference):
    def run(values):
        # Arguments after an omitted one are passed by name.
        kwargs, positional, gap = {}, [], False
        for argument in schema.inputs:
            if argument.name not in values:
                gap = True
            elif argument.kwarg_only or gap:
                kwargs[argument.name] = values[argument.name]
            else:
                positional.append(values[argument.name])
        return reference(*positional, **kwargs)
    return run


def written_form(schema, base):
    """Returns an in-place or out= form of the function [base]: it computes, then writes."""
    def run(values):
        outs = [argument.name for argument in schema.outs]
        results = base({name: value for name, value in values.items() if name not in outs})
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        targets = [values[name] for name in outs] or [values[a.name] for a in schema.inputs if a.is_written]
        for target, result in zip(targets, results):
            if not torch.can_cast(result.dtype, target.dtype):
                raise RuntimeError(f"result type {result.dtype} can't be cast to {target.dtype}")
            if target.shape != result.shape:
                if not outs:
                    raise RuntimeError("the output's shape does not match the broadcast shape")
                target.resize_(result.shape)
            target.copy_(result)
        return targets[0] if len(targets) == 1 else tuple(targets)
    return run


def function_for(schema, base_schema, reference):
    """Returns the function that computes the expected result of [schema], a form of [base_schema]; None if there is
    none."""
    if reference is not None:
        base = reference_function(base_schema, reference)
        return base if schema is base_schema else written_form(schema, base)
    own = torch_function(schema)
    if own is not None or schema is base_schema:
        return own
    base = torch_function(base_schema)
    return base and written_form(schema, base)


class Outcome:
    """The arguments before the call (which are stored) and after it, and the results."""

    def __init__(self, before, after, results):
        self.before = before
        self.after = after
        self.results = results


def as_list(results, count):
    if count == 0:
        return []
    if count == 1:
        return [results]
    return list(results)


def _narrowed(wide, like, dtype):
    """Returns [wide], computed in float32, as a tensor of [dtype] with the strides of [like]."""
    made = torch.empty_strided(like.size(), like.stride(), dtype=dtype)
    return made.copy_(wide)


def _merge(wide, native, native_keys):
    """Returns the results at half precision: native tensors with the values computed in float32."""
    if isinstance(native, torch.Tensor) and isinstance(wide, torch.Tensor):
        if native.dtype not in HALVES or storage_key(native) in native_keys or native.shape != wide.shape:
            return native
        return _narrowed(wide, native, native.dtype)
    if isinstance(native, (list, tuple)):
        return [_merge(w, n, native_keys) for w, n in zip(wide, native)]
    if isinstance(native, float) and isinstance(wide, float):
        return native
    return native


def _narrow_all(wide, dtype, by_id):
    if isinstance(wide, torch.Tensor):
        if id(wide) in by_id:
            return by_id[id(wide)]
        return _narrowed(wide, wide, dtype) if wide.dtype == torch.float32 else wide
    if isinstance(wide, (list, tuple)):
        return [_narrow_all(element, dtype, by_id) for element in wide]
    return wide


def _has_complex_number(values):
    """Returns whether [values] contain a complex number or a complex 0-dim tensor, with which the result keeps the
    width of the other operand."""
    for value in values:
        if isinstance(value, complex) or (isinstance(value, torch.Tensor) and value.dim() == 0 and value.is_complex()):
            return True
        if isinstance(value, (list, tuple)) and _has_complex_number(value):
            return True
    return False


def outcome_of(function, schema, values, upcast=True, native=True):
    """Calls [function] for the operator [schema] with copies of [values], by name. Raises Refused or Unsupported."""
    written = [argument.name for argument in schema.arguments if argument.is_written]
    copier = Copier()
    after = {name: copier.copy(value) for name, value in values.items()}
    halves = {tensor.dtype for tensor in tensors_in(list(values.values())) if tensor.dtype in HALVES}
    if torch.float16 in halves and _has_complex_number(list(values.values())):
        raise Unsupported("complex32, which boxcar's tensors do not have")
    # The number in a 0-dim tensor is rounded to the result's dtype before the computation.
    wide_numbers = any(tensor.dim() == 0 and tensor.dtype in (torch.float32, torch.float64)
                       for tensor in tensors_in(list(values.values())))
    if not halves or not upcast or wide_numbers:
        return Outcome(values, after, as_list(invoke(function, after), schema.return_count))

    try:
        if not native:
            raise Unsupported("by declaration")
        results = as_list(invoke(function, after), schema.return_count)
    except Unsupported:
        results = None
        copier = Copier()
        after = {name: copier.copy(value) for name, value in values.items()}

    widener = Copier(widen=True)
    wide = {name: widener.copy(value) for name, value in values.items()}
    try:
        wide_results = as_list(invoke(function, wide), schema.return_count)
    except (Refused, Unsupported):
        if results is None:
            raise
        return Outcome(values, after, results)
    targets = [tensor for name in written for tensor in tensors_in(values.get(name))]
    if results is None and any(tensor.dtype in WIDE_FLOATS for tensor in targets):
        raise Unsupported("whether it is rounded to the half before it is written to a wide tensor")
    dtype = next(iter(halves))
    by_id = {}
    for original in tensors_in(list(values.values())):
        by_id[id(widener.copy(original))] = copier.copy(original)
    for name in written:
        for to, source in zip(tensors_in(after.get(name)), tensors_in(wide.get(name))):
            if to.dtype not in HALVES and results is not None:
                continue
            if to.shape != source.shape:
                to.resize_(source.shape)
            same = to.stride() == source.stride() and whole_storage(to).numel() == whole_storage(source).numel()
            if same:  # also if elements overlap
                whole_storage(to).copy_(whole_storage(source))
            else:
                to.copy_(source)
    if results is None:
        results = [_narrow_all(result, dtype, by_id) for result in wide_results]
    else:
        keys = {storage_key(tensor) for tensor in tensors_in(list(after.values()))}
        results = [_merge(w, n, keys) for w, n in zip(wide_results, results)]
    return Outcome(values, after, results)
