"""The classes of results that have names, such as those of max(dim=1)."""

import collections
import functools


@functools.cache
def named(name, fields):
    """The class of tuples with these names, which C++ asks for once for each operator."""
    made = collections.namedtuple(name, fields)
    made.__module__ = "boxcar"
    made.__reduce__ = lambda self: (restored, (name, fields, tuple(self)))
    return made


def restored(name, fields, values):
    """What a pickle of such a tuple calls."""
    return named(name, fields)(*values)
