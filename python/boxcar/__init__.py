"""boxcar: an operator dispatcher, and scripts and models that run through it.

Tensors, operators and names are PyTorch's: `boxcar.ones(2) + 1`, `boxcar.ops.aten.add(a, b)`. `boxcar.load()` gives
scripts and models, `boxcar.op()` defines operators, and `with boxcar.profile():` shows what ran.
"""

import builtins as _builtins
import importlib as _importlib
import sys as _sys

from boxcar import _core
from boxcar._core import (  # noqa: F401
    CompileError, Function, Operator, Program, Registration, Scope, ScriptError, Tensor, __version__, compile, device,
    dtype, fallback, from_dlpack, from_numpy, handler, is_grad_enabled, is_inference_mode_enabled, layout, load,
    memory_format, redispatch, tensor)
from boxcar._core import (  # noqa: F401
    bfloat16, bool, channels_last, channels_last_3d, complex64, complex128, contiguous_format, float16, float32, float64,
    int8, int16, int32, int64, preserve_format, strided, uint8)
from boxcar import ops
from boxcar import _operator  # noqa: F401
from boxcar._library import Library, op  # noqa: F401
from boxcar._modes import *  # noqa: F401,F403
from boxcar._modes import __all__ as _modes
from boxcar._tensor import manual_seed, set_default_device  # noqa: F401
from math import e, inf, nan, pi  # noqa: F401

# PyTorch's other names of dtypes.
half, float, double, short, int, long = float16, float32, float64, int16, int32, int64
cfloat, cdouble = complex64, complex128
newaxis = None

# `from boxcar.func import vmap` finds these, which are no files.
for _name in ("autograd", "func", "io"):
    _sys.modules[f"boxcar.{_name}"] = getattr(ops, _name)
del _name

# Functions of these names are Python's own or are defined in a module that is loaded when it is asked for.
_LAZY = {"from_torch": "boxcar._torch", "explain": "boxcar._explain", "progress": "boxcar._progress",
         "PythonDispatcher": "boxcar._dispatcher"}
_LAZY |= dict.fromkeys(("broadcast_shapes", "stft", "unique", "unique_consecutive", "unravel_index", "is_tensor", "as_tensor",
                       "asarray", "promote_types"), "boxcar._functions")


def __getattr__(name):
    """An operator of the namespace aten is a function of the module: boxcar.relu."""
    if name in _LAZY:
        return getattr(_importlib.import_module(_LAZY[name]), name)
    if not name.startswith("__"):
        found = _core._operators("aten::" + name)
        if found is not None:
            globals()[name] = found
            return found
        if name in ("autograd", "func", "io"):
            return getattr(ops, name)
        if name in ("fft", "linalg", "special"):
            return globals().setdefault(name, ops.Prefixed(name))
        if name == "nn":
            return _importlib.import_module("boxcar.nn")
    no_names = f": {_core._no_names}" if name in _core._about_names else ""
    raise AttributeError(f"module 'boxcar' has no attribute '{name}', and there is no operator aten::{name}{no_names}")


def __dir__():
    names = {name.removeprefix("aten::") for name in _core._operator_names() if name.startswith("aten::")}
    names = {name for name in names if not name.startswith("__")}  # __and__ and its like are methods
    return sorted(set(globals()) | names | set(_LAZY))
