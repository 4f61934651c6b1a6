"""Forms of calls that PyTorch's Python has beside the schemas: einsum("ij->i", x), zeros(2, requires_grad=True).

An operator asks for one when no overload takes a call's arguments.
"""

import inspect
import re

from boxcar import _core

_FORMS = {}


def call(operator, name, args, kwargs):
    """Returns what the call of another form returns; NotImplemented if there is none."""
    short = name.removeprefix("aten::")
    short = short if "::" in short else short.split(".")[0]
    form = _FORMS.get(short)
    if form is not None and _fits(form, operator, args, kwargs):
        result = form(operator, *args, **kwargs)
        if result is not NotImplemented:
            return result
    if "requires_grad" in kwargs and short in _FACTORIES:
        return _with_requires_grad(operator, args, **kwargs)
    if kwargs.get("out") is not None:
        return _with_out(operator, args, **kwargs)
    return NotImplemented


def _fits(form, operator, args, kwargs):
    """Whether the arguments are those of the form; if not, the operator's own error says more."""
    try:
        inspect.signature(form).bind(operator, *args, **kwargs)
        return True
    except TypeError:
        return False


def _form(*names):
    def add(function):
        _FORMS.update(dict.fromkeys(names, function))
        return function
    return add


# ---- Factories, and out= ----

_FACTORIES = {name + end for name in ("empty", "zeros", "ones", "full", "rand", "randn", "randint") for end in ("", "_like")}
_FACTORIES |= {"arange", "range", "linspace", "logspace", "eye", "randperm", "scalar_tensor", "empty_strided",
               "empty_permuted", "complex", "new_empty", "new_zeros", "new_ones", "new_full", "new_empty_strided",
               "bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window", "tril_indices",
               "triu_indices"}


def _with_requires_grad(operator, args, *, requires_grad, **kwargs):
    made = operator(*args, **kwargs)
    if requires_grad:
        made.requires_grad = True
    return made


def _with_out(operator, args, *, out, **kwargs):
    """Factories with out= take what it has; several out= are a tuple, by the schema's names."""
    if isinstance(out, _core.Tensor):
        had = {"dtype": out.dtype, "device": out.device, "layout": out.layout, "pin_memory": False, "requires_grad": False}
        rest = {name: value for name, value in kwargs.items() if name not in had}
        if len(rest) == len(kwargs):
            return NotImplemented
        for name in kwargs.keys() - rest.keys():
            given = kwargs[name]
            given = _core.device(given) if name == "device" and isinstance(given, str) else given
            if given is not None and given != had[name]:
                raise RuntimeError(f"{operator.name}(): `{name}` is {given}, but that of `out` is {had[name]}")
        return operator(*args, **rest, out=out)
    if not isinstance(out, (list, tuple)):
        return NotImplemented
    for schema in operator.schemas:
        names = re.findall(r"\([a-z]!\) (\w+)", schema.split(" -> ")[0])
        if len(names) == len(out):
            try:
                return operator(*args, **kwargs, **dict(zip(names, out)))
            except TypeError:
                continue  # another overload may have as many
    return NotImplemented


# ---- Tensors as separate arguments ----

@_form("atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "block_diag", "cartesian_prod", "meshgrid")
def _of_tensors(operator, *tensors, **kwargs):
    if not tensors or not all(isinstance(each, _core.Tensor) for each in tensors):
        return NotImplemented
    return operator(list(tensors), **kwargs)


@_form("einsum")
def _einsum(operator, equation, *operands):
    if not isinstance(equation, str) or not all(isinstance(each, _core.Tensor) for each in operands):
        return NotImplemented
    return operator(equation, list(operands))


# ---- Arguments of other kinds ----

@_form("tensordot")
def _tensordot(operator, a, b, dims=2, out=None):
    if isinstance(dims, _core.Tensor):
        dims = dims.tolist()
    if isinstance(dims, int) and isinstance(a, _core.Tensor):
        if not 0 <= dims <= a.dim():
            raise RuntimeError(f"tensordot(): `dims` must be from 0 to {a.dim()}, not {dims}")
        dims = list(range(a.dim() - dims, a.dim())), list(range(dims))
    if not isinstance(dims, (list, tuple)) or len(dims) != 2 or not all(isinstance(each, (list, tuple)) for each in dims):
        return NotImplemented
    out = {} if out is None else {"out": out}
    return operator(a, b, list(dims[0]), list(dims[1]), **out)


@_form("nonzero")
def _nonzero(operator, input, *, as_tuple, **kwargs):
    return _core._operators("aten::nonzero_numpy")(input) if as_tuple else operator(input, **kwargs)


@_form("cdist")
def _cdist(operator, x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    modes = {"use_mm_for_euclid_dist_if_necessary": 0, "use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2}
    if compute_mode not in modes:
        return NotImplemented
    return operator(x1, x2, p, modes[compute_mode])


@_form("norm")
def _norm(operator, input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    kwargs = {} if out is None else {"out": out}
    if p == "nuc":
        dim = [0, 1] if dim is None else dim
        return _core._operators("aten::linalg_matrix_norm")(input, "nuc", dim, keepdim, dtype=dtype, **kwargs)
    p = 2.0 if p == "fro" or p is None else p
    if isinstance(p, str):
        return NotImplemented
    return _core._operators("aten::linalg_vector_norm")(input, p, dim, keepdim, dtype=dtype, **kwargs)


@_form("split")
def _split(operator, tensor, split_size_or_sections, dim=0):
    sizes = {"split_size" if isinstance(split_size_or_sections, int) else "split_sizes": split_size_or_sections}
    return operator(tensor, **sizes, dim=dim)


@_form("autograd::grad")
def _grad(operator, outputs, inputs, grad_outputs=None, *args, **kwargs):
    """Tensors that stand alone; the result is a tuple all the same."""
    outputs, inputs, grad_outputs = ([each] if isinstance(each, _core.Tensor) else each
                                     for each in (outputs, inputs, grad_outputs))
    return operator(outputs, inputs, grad_outputs, *args, **kwargs)
