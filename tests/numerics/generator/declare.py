"""Declares the calls in files of cases: decorators that register a generator function, and matrices of arguments."""

import inspect

import torch

from .values import ALL, FLOATS, Make, layouts


class Call:
    """One call: positional arguments, keyword arguments, and options for comparing the result."""

    def __init__(self, args, kwargs, raises=False, unchecked=False, options=None):
        self.args = list(args)
        self.kwargs = dict(kwargs)
        self.raises = raises
        self.unchecked = unchecked
        self.options = options or {}


def call(*args, options=None, **kwargs):
    """Returns a call with keyword arguments; [options] are those of `cases`, for this call only."""
    return Call(args, kwargs, options=options)


def error(*args, unchecked=False, **kwargs):
    """Returns a call that PyTorch refuses, and boxcar must refuse. [unchecked]: only boxcar refuses it."""
    return Call(args, kwargs, raises=True, unchecked=unchecked)


class Declaration:
    def __init__(self, name, dtypes, make_calls, options):
        self.name = name
        self.dtypes = dtypes
        self.make_calls = make_calls
        self.options = options


# The declarations of the file that is being imported.
declared = []

kOptions = {"forms", "low", "high", "reference", "tolerance", "reason", "strides", "upcast", "unsupported", "native",
            "out_dtypes", "magnitudes", "gradients"}


def cases(names, dtypes=FLOATS, **options):
    """Declares cases of the operators [names] ("aten::add.Tensor aten::sub.Tensor"), made for each of [dtypes].

    The function takes a Make and yields calls: a tuple of arguments (a dict at its end contains keyword arguments), one
    argument, call(...) or error(...). A function with a second parameter gets the operator's name there. Options:
      forms=True        the in-place and out= forms with the same arguments get cases, too
      out_dtypes=False  an out= has the result's own dtype
      magnitudes=True   values are compared without their signs (complex ones without their angles), which are
                        arbitrary for eigenvectors
      gradients=False   gradients are not compared
      low=, high=       the range of the values of tensors
      reference=f       f(*args, **kwargs) on torch tensors gives the expected result, instead of PyTorch's operator
      tolerance=(rtol, atol), or {dtype: (rtol, atol)}, with reason="…": instead of the dtype's own
      strides=False     the results' strides are not compared
      upcast=False      float16 and bfloat16 are expected as PyTorch computes them, not as float32 rounded
      unsupported="skip"   how to treat dtypes that PyTorch has "not implemented"; or "error"
      native=False      PyTorch's operator is called with float32 for float16 and bfloat16, even if it supports these
    """
    unknown = set(options) - kOptions
    if unknown:
        raise TypeError(f"cases() has no option {sorted(unknown)}; it has {sorted(kOptions)}")
    if "tolerance" in options and not options.get("reason"):
        raise TypeError(f"{names}: a tolerance needs a reason=")

    def note(function):
        with_name = len(inspect.signature(function).parameters) > 1
        for name in names.split():
            make_calls = (lambda make, name=name: function(make, name)) if with_name else function
            declared.append(Declaration(name, list(dtypes), make_calls, options))
        return function
    return note


def as_call(made):
    """Returns what a generator function yielded as a Call."""
    if isinstance(made, Call):
        return made
    args = list(made) if isinstance(made, tuple) else [made]
    kwargs = args.pop() if args and isinstance(args[-1], dict) else {}
    return Call(args, kwargs)


# The dtypes that use the whole list of layouts; the others use only its first entries.
kMainDtypes = {torch.float32, torch.int64, torch.bfloat16, torch.complex64, torch.bool}


def pointwise_unary(names, dtypes=ALL, special=True, **options):
    """Declares cases of f(x) element by element: all layouts, and special values."""
    @cases(names, dtypes, **options)
    def unary(make):
        yield from layouts(make, full=make.dtype in kMainDtypes)
        if special:
            yield make.moderate() if special == "moderate" else make.special()


def _pairs(make, other):
    """Yields pairs of tensors whose shapes broadcast, in many layouts; [other] makes the second."""
    yield make(2, 3), other(2, 3)
    yield make(2, 3), other(3)
    yield make(), other()
    yield make(0, 3), other(1)
    yield make(4, 6)[1:, ::2], other(3, 3)
    yield make(3, 4).t(), other(4, 3)
    yield make(2, 3), other()
    if make.dtype not in kMainDtypes:
        return
    yield make(2, 1, 3), other(4, 1)
    yield make(), other(2, 3)
    yield make(3, 4).t(), other(3, 4).t()
    yield make(5, 1).expand(5, 4), other(4)
    yield make(2, 3, 4, 2).contiguous(memory_format=torch.channels_last), other(3, 1, 1)
    yield make(2, 3, 4, 5).permute(3, 1, 0, 2), other(2, 3, 4, 5).permute(3, 1, 0, 2)
    yield make(1037), other(1037)
    yield make(33, 31), other(33, 1)


def _is_number(name, position):
    from .schemas import Operators
    global operators
    operators = operators or Operators()
    schema = operators.find(name)
    return schema is not None and schema.inputs[position].type == "number"


operators = None


def pointwise_binary(names, dtypes=ALL, mixed=True, special=True, nonzero=False, scalars=None, **options):
    """Declares cases of f(x, y) element by element: broadcasting, layouts, mixed dtypes. The schema says if y is a
    tensor or a number.

    [special]: "moderate" leaves out numbers beyond a thousand; False, all special ones.
    [nonzero]: y is never 0 if it is an integer or a bool; [scalars]: the possible numbers y.
    """
    @cases(names, dtypes, **options)
    def binary(make, name):
        def other(*sizes, dtype=None):
            made = make(*sizes, dtype=dtype)
            if nonzero and not made.is_floating_point() and not made.is_complex():
                made[made == 0] = 1
            return made

        if _is_number(name, 1):
            for scalar in scalars or [2, -3, 1.5, 0 if not nonzero else 5, True, 2 - 1j]:
                yield make(2, 3), scalar
            yield make(), 2
            yield make(0, 3), 2
            for x in layouts(make, full=make.dtype in kMainDtypes):
                yield x, 3
            return
        yield from _pairs(make, other)
        yield error(make(2, 3), other(4))
        if mixed:
            for dtype in [torch.float32, torch.int64, torch.uint8, torch.bool, torch.bfloat16, torch.complex64]:
                if dtype != make.dtype:
                    yield make(2, 3), other(2, 3, dtype=dtype)
                    yield make(2, 3), other(dtype=dtype)
        if special:
            values = make.moderate() if special == "moderate" else make.special()
            seconds = values.clone()
            if nonzero and not values.is_floating_point() and not values.is_complex():
                seconds = seconds[(seconds != 0) & (seconds != -1)]
            yield values.unsqueeze(1), seconds


def pointwise_ternary(names, dtypes=FLOATS, **options):
    """Declares cases of f(x, y, z) element by element of three tensors."""
    @cases(names, dtypes, **options)
    def ternary(make):
        yield make(2, 3), make(2, 3), make(2, 3)
        yield make(2, 3), make(3), make(2, 1)
        yield make(), make(2, 3), make()
        yield make(0, 3), make(3), make(1)
        yield make(4, 3).t(), make(3, 8)[:, ::2], make(3, 4)
        if make.dtype in kMainDtypes:
            yield make(517), make(517), make(517)
            yield make(5, 1).expand(5, 4), make(5, 4), make(4)
        yield error(make(2, 3), make(4), make(2, 3))


def reduction(names, dtypes=ALL, empty=True, lists=None, dtype_argument=True, **options):
    """Declares cases of f(x), f(x, dim), f(x, dim, keepdim), as in the schema: dims, lists of dims, negative dims,
    sizes 0 and 1."""
    from .schemas import Operators
    all_operators = Operators()

    @cases(names, dtypes, **options)
    def reduce(make, name):
        schema = all_operators.find(name)
        if schema is None:
            return
        arguments = {argument.name: argument.type for argument in schema.inputs}
        dim = arguments.get("dim")
        shapes = [make(2, 3, 4), make(3, 4).t(), make(4, 6)[:, ::2], make(1, 5), make()]
        if make.dtype in kMainDtypes:
            shapes += [make(3, 1, 4).expand(3, 2, 4), make(5, 33), make(1037), make(67, 3)]
        if empty:
            shapes += [make(2, 0, 3), make(0)]
        for x in shapes:
            if dim is None:
                yield x
                continue
            last = x.dim() - 1
            dims = [0, -1] if x.dim() < 3 else [0, 1, -1, -3]
            if "List" in dim:
                dims = [[d] for d in dims] + [[]] + ([[0, -1], list(range(x.dim()))] if last > 0 else [])
            if dim.startswith("Optional"):
                dims = [None] + dims
            for position, d in enumerate(dims):
                yield call(x, dim=d)
                if "keepdim" in arguments and position < 3:
                    yield call(x, dim=d, keepdim=True)
        if dim is not None:
            wrong = [3] if "List" in dim else 3
            yield error(make(2, 3), dim=wrong)
            yield error(make(2, 3), dim=[-3] if "List" in dim else -3)
            if "List" in dim:
                yield error(make(2, 3), dim=[0, -2])
        if "dtype" in arguments and dtype_argument:
            for dtype in [torch.float64, torch.int64, torch.complex64]:
                given = {"dim": [0] if "List" in dim else 0} if dim is not None else {}
                if not make.dtype.is_complex or dtype.is_complex:
                    yield call(make(2, 3), dtype=dtype, **given)
