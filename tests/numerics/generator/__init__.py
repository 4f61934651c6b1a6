"""Functions with which the files in tests/numerics/cases declare cases; README.md there has examples."""

from .declare import call, cases, error, pointwise_binary, pointwise_ternary, pointwise_unary, reduction
from .values import (ALL, BOOL, COMPLEX, FLOATS, HALVES, INTS, REALS, WIDE_FLOATS, Make, layouts)

__all__ = ["ALL", "BOOL", "COMPLEX", "FLOATS", "HALVES", "INTS", "Make", "REALS", "WIDE_FLOATS", "call", "cases",
           "error", "layouts", "pointwise_binary", "pointwise_ternary", "pointwise_unary", "reduction"]
