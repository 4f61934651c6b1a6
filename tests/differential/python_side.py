"""Functions that a program's Python text calls. They behave as in Python, but ints have 64 bits and wrap, and values
that the language does not have are errors. Programs that leave the comparable range raise Discarded."""

import math

kMaxLength = 600
kMaxParts = 3000
kMaxTicks = 4000


class Discarded(Exception):
    """The program is not compared: its run is too long, a value too large, or its behaviour unspecified."""


class State:
    """The state of the running program: its output so far, and its loop iterations."""

    output = []
    ticks = 0


def start():
    State.output, State.ticks = [], 0


def tick():
    State.ticks += 1
    if State.ticks > kMaxTicks:
        raise Discarded("too many rounds")
    return True


def each(values):
    for value in values:
        tick()
        yield value


def wrap(value):
    if type(value) is int and not -(1 << 63) <= value < 1 << 63:
        return (value + (1 << 63)) % (1 << 64) - (1 << 63)
    return value


def fits(value):
    """Returns an int computed from another type. Raises OverflowError beyond 64 bits, because it does not wrap."""
    if not -(1 << 63) <= value < 1 << 63:
        raise OverflowError("more than 64 bits")
    return value


def limited(value):
    if isinstance(value, (str, list, tuple)) and len(value) > kMaxLength:
        raise Discarded("too long")
    return value


def isWhole(value):
    return isinstance(value, int)


def isContainer(value):
    return isinstance(value, (list, tuple, dict))


def partsOf(value):
    """Yields the value and everything in it; endless if the value contains itself."""
    todo = [value]
    for part in todo:
        if len(todo) > kMaxParts:
            raise Discarded("too many parts")
        if isinstance(part, dict):
            todo += [*part.keys(), *part.values()]
        if isinstance(part, (list, tuple)):
            todo += part
    return todo


def discardNan(*values):
    """Discards the program if a value is nan: in containers Python treats a nan as equal to itself by identity, which
    floats do not have in the language."""
    if any(part != part for value in values for part in partsOf(value) if isinstance(part, float)):
        raise Discarded("nan in a container")


# ---- Arithmetic ----


def widened(a, b):
    return (complex(a), complex(b)) if isinstance(a, complex) or isinstance(b, complex) else (a, b)


def add(a, b):
    a, b = widened(a, b)
    return limited(wrap(a + b))


def subtract(a, b):
    a, b = widened(a, b)
    return wrap(a - b)


def multiply(a, b):
    a, b = widened(a, b)
    for one, other in ((a, b), (b, a)):
        if isinstance(one, (str, list, tuple)) and isWhole(other) and len(one) * other > kMaxLength:
            raise Discarded("too long")
    return wrap(a * b)


def divide(a, b):
    return a / b


def floorDivide(a, b):
    return wrap(a // b)


def remainder(a, b):
    if isinstance(a, str):
        raise TypeError("no formatting with %")
    return a % b


def power(a, b):
    if isWhole(a) and isWhole(b):
        if b < 0:
            raise ValueError("negative int power")
        return wrap(pow(a, b, 1 << 64))
    result = a**b
    if isinstance(result, complex) and not isinstance(a, complex):
        raise ValueError("complex")
    return result


def shiftLeft(a, b):
    if not (isWhole(a) and isWhole(b)):
        raise TypeError("<<")
    if b < 0:
        raise ValueError("negative shift count")
    return wrap(a << b) if b < 64 else 0


def shiftRight(a, b):
    return a >> b


def bitOr(a, b):
    return bitwise(a, b, lambda: a | b)


def bitXor(a, b):
    return bitwise(a, b, lambda: a ^ b)


def bitAnd(a, b):
    return bitwise(a, b, lambda: a & b)


def bitwise(a, b, function):
    # In Python, dicts and types have these operators too.
    if not (isWhole(a) and isWhole(b)):
        raise TypeError("bitwise")
    return function()


def update(function, old, value):
    """Returns x after `x op= value`, where x is not a list by its static type."""
    if function is add and isinstance(old, list):
        old += limited(likeElements(old, value))
        return limited(old)
    return function(old, value)


def likeElements(old, values):
    """Returns the elements to extend a list with. Raises Discarded if its type may be too narrow: an int[] takes only
    ints."""
    values = list(values)
    kinds = {type(value) for value in old}
    if not kinds or (len(kinds) == 1 and kinds <= {bool, int, float, complex} and {*map(type, values)} - kinds):
        raise Discarded("the list may have a narrower type")
    return values


def updateIndex(function, container, index, value):
    """Does `c[i] op= value`, evaluated in Python's order."""
    container[index] = update(function, container[index], value())


# ---- Comparisons ----


def ordered(a, b):
    if isContainer(a) or isContainer(b):
        discardNan(a, b)


def equal(a, b):
    ordered(a, b)
    return a == b


def unequal(a, b):
    return not equal(a, b)


def less(a, b):
    ordered(a, b)
    return a < b


def lessEqual(a, b):
    ordered(a, b)
    return a <= b


def greater(a, b):
    ordered(a, b)
    return a > b


def greaterEqual(a, b):
    ordered(a, b)
    return a >= b


def contains(item, container):
    discardNan(item, container)
    return item in container


# ---- Built-ins ----


def print_(*values, sep=" ", end="\n"):
    State.output.append(sep.join(map(str_, values)) + end)
    tick()


def str_(value):
    partsOf(value)
    return str(value)


def format_(value, spec):
    partsOf(value)
    return format(value, spec)


def int_(value):
    return fits(int(value))


def abs_(value):
    return wrap(abs(value))


def chr_(number):
    return chr(number)


def range_(*limits):
    if any(abs(limit) > kMaxLength for limit in limits):
        raise Discarded("too long")
    return list(range(*limits))


def list_(values=()):
    return list(values)


def zip_(*values):
    return list(zip(*values))


def enumerate_(values, start=0):
    return [(wrap(number), value) for number, value in enumerate(values, start)]


def round_(value, *digits):
    if isWhole(value):
        return wrap(round(value, *digits))
    return fits(round(value)) if not digits else round(value, *digits)


def extreme(function, values):
    elements = values if len(values) > 1 else list(values[0])
    if any(map(isContainer, elements)):
        discardNan(elements)
    return function(elements)


def min_(*values):
    return extreme(min, values)


def max_(*values):
    return extreme(max, values)


def sum_(values, start=0):
    # Adds one element at a time: newer Pythons round sums of floats less often.
    for value in values:
        start = add(start, value)
    return start


def sorted_(values, reverse=False):
    discardNan(list(values))
    return sorted(values, reverse=reverse)


def indexOf(values, item):
    discardNan(values, item)
    return values.index(item)


def countOf(values, item):
    discardNan(values, item)
    return values.count(item)


def extendOf(values, items):
    # A loop may extend a list by itself, so its length is limited.
    values.extend(limited(items))
    limited(values)


def sortOf(values, reverse=False):
    discardNan(values)
    values.sort(reverse=reverse)


def math_sqrt_(x):
    return math.sqrt(x)


def math_exp_(x):
    return math.exp(x)


def math_log_(x):
    return math.log(x)


def math_sin_(x):
    return math.sin(x)


def math_cos_(x):
    return math.cos(x)


def math_tan_(x):
    return math.tan(x)


def math_tanh_(x):
    return math.tanh(x)


def math_floor_(x):
    return fits(math.floor(x))


def math_ceil_(x):
    return fits(math.ceil(x))


# ---- Running ----


def run(lines):
    """Runs a program's Python lines and returns (output, line of the failure or 0, the exception)."""
    start()
    names = dict(globals())
    line, failure = 0, None
    try:
        exec(compile("\n".join(lines), "<program>", "exec"), names)
    except Discarded:
        raise
    except (RuntimeError, MemoryError) as error:
        # A dict that changes during iteration; endless recursion.
        raise Discarded(str(error)) from None
    except Exception as error:  # whatever the program's own text raises is its outcome
        if isinstance(error, (NameError, SyntaxError)):
            raise
        failure = error
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == "<program>":
                line = trace.tb_lineno
            trace = trace.tb_next
    return "".join(State.output), line, failure
