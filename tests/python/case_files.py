"""The kept cases of tests/numerics as calls of the module; tests/numerics/case_reader.h describes the files."""

import cmath
import json
import math
import re
import struct

import boxcar

# rtol and atol, as torch.testing.assert_close has them.
_LIMITS = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "complex64": (1.3e-6, 1e-5),
           "float64": (1e-7, 1e-7), "complex128": (1e-7, 1e-7)}
# The numbers of dtypes in PyTorch.
_DTYPES = ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32", "complex64",
           "complex128", "bool", "qint8", "quint8", "qint32", "bfloat16")


def name_of(constant):
    """Returns "float32" of boxcar.float32."""
    return str(constant).rsplit(".", 1)[-1]


class File:
    """A file of cases."""

    def __init__(self, path):
        with open(path, "rb") as file:
            length, = struct.unpack("<Q", file.read(8))
            self.cases = json.loads(json.loads(file.read(length))["__metadata__"]["cases"])
        self._rows = boxcar.ops.io.load(str(path))

    def elements(self, dtype, first, sizes):
        """Returns a new tensor of the file's elements from place `first` on."""
        made = boxcar.empty(list(sizes), dtype=getattr(boxcar, dtype))
        if made.numel() > 0:
            row = self._rows[dtype]
            row = boxcar.view_as_complex(row.view(-1, 2)) if dtype == "complex128" else row
            made.copy_(row[first:first + made.numel()].view(made.shape))
        return made


def split(text):
    """Splits at the commas outside of brackets and quotes."""
    parts, depth, quoted = [""], 0, False
    for character in text:
        quoted ^= character == "'" or character == '"'
        depth += 0 if quoted else (character in "([{") - (character in ")]}")
        if character == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


class Call:
    """The arguments of a case, made anew."""

    def __init__(self, file, case):
        self.file, self.case = file, case
        self.storages = [file.elements(dtype, first, [count]) for dtype, first, count in case["st"]]
        self.initial = [repr(storage.tolist()) for storage in self.storages]
        self.tensors = [boxcar.as_strided(self.storages[storage], sizes, strides, offset)
                        for storage, sizes, strides, offset in case["te"]]

    def value(self, value):
        if isinstance(value, list):
            return [self.value(each) for each in value]
        if not isinstance(value, dict):
            return value
        (kind, held), = value.items()
        if kind == "t":
            return self.tensors[held]
        if kind == "f":
            return float(held)
        if kind == "c":
            return complex(*map(self.value, held))
        return boxcar.device(held) if kind == "device" else getattr(boxcar, held)

    def run(self, resolves):
        """Calls the operator; with `resolves` the overload is chosen by the arguments. Returns a list of results."""
        name, _, overload = self.case["op"].partition(".")
        namespace, name = name.split("::")
        chosen = getattr(getattr(boxcar.ops, namespace), name)
        exact = getattr(chosen, overload or "default")
        signature = re.match(r"[^(]*\((.*)\) -> ", exact.schemas[0]).group(1)
        positional, named, by_name = [], {}, False
        for parameter in split(signature):
            if parameter == "*":
                by_name = True
                continue
            parameter = parameter.split("=")[0].split()[-1]
            if parameter not in self.case["args"]:
                by_name = True  # its default; what follows goes by name
                continue
            value = self.value(self.case["args"][parameter])
            if by_name:
                named[parameter] = value
            else:
                positional.append(value)
        if len(positional) + len(named) != len(self.case["args"]):
            raise AssertionError(f"the case has arguments that {exact.schemas[0]} does not have")
        result = (chosen if resolves else exact)(*positional, **named)
        count = len(self.case.get("res", ()))
        if count == 1:
            return [result]
        return [] if result is None else list(result)

    # ---- Comparing: all return what differs, or None ----

    def difference(self, results):
        """Compares results and arguments after the call."""
        wanted = self.case["res"]
        if len(results) != len(wanted):
            return f"expected {len(wanted)} results, got {len(results)}"
        for index, (found, expected) in enumerate(zip(results, wanted)):
            if difference := self._of_value(found, expected):
                return f"result {index}: {difference}"
        return self.difference_of_arguments()

    def difference_of_arguments(self):
        after = {} if "err" in self.case else self.case.get("after", {})
        written = set()
        for index, tensor in enumerate(self.tensors):
            storage, sizes, *_ = self.case["te"][index]
            expected = after.get(str(index))
            if expected is None:
                if list(tensor.shape) != sizes:
                    return f"argument tensor {index} has other sizes after the call"
                continue
            written.add(storage)
            if difference := self._of_tensor(tensor, expected):
                return f"argument tensor {index} after the call: {difference}"
        for index, storage in enumerate(self.storages):
            if index not in written and "err" not in self.case and repr(storage.tolist()) != self.initial[index]:
                return f"storage {index} changed, which the call must not write"
        return None

    def _of_value(self, found, wanted):
        if isinstance(wanted, dict) and "x" in wanted:
            return self._of_tensor(found, wanted["x"])
        if isinstance(wanted, list):
            if not isinstance(found, (list, tuple)) or len(found) != len(wanted):
                return f"expected a list of {len(wanted)}, got {found!r}"
            for index, (one, expected) in enumerate(zip(found, wanted)):
                if difference := self._of_value(one, expected):
                    return f"element {index}: {difference}"
            return None
        wanted = self.value(wanted)
        if isinstance(found, boxcar.dtype):
            found = _DTYPES.index(name_of(found))
        if type(found) is not type(wanted):
            return f"expected {wanted!r}, got {found!r}"
        if not self.case.get("values", True) or found == wanted:
            return None
        if isinstance(wanted, (float, complex)) and _close(found, wanted, *self._limits(self.case["dtype"])):
            return None
        return f"expected {wanted!r}, got {found!r}"

    def _of_tensor(self, found, expected):
        dtype, sizes, strides, place, storage = expected
        if not isinstance(found, boxcar.Tensor):
            return f"expected a tensor, got {found!r}"
        if name_of(found.dtype) != dtype or list(found.shape) != sizes:
            return f"expected {dtype} of {sizes}, got {name_of(found.dtype)} of {list(found.shape)}"
        if found.numel() == 0:
            return None
        if strides is not None and self.case.get("strides", True):
            if any(size != 1 and a != b for size, a, b in zip(sizes, found.stride(), strides)):
                return f"expected strides {strides}, got {found.stride()}"
        # The results of PyTorch's own samples are kept resolved.
        is_lazy = storage == -1 and (found.is_conj() or found.is_neg())
        if self._storage_of(found) != storage and not is_lazy:
            return f"expected the memory of {storage}, got that of {self._storage_of(found)}"
        if not self.case.get("values", True):
            return None
        wanted = _flat(self.file.elements(dtype, place, sizes).tolist())
        limits = self._limits(dtype)
        for index, (one, other) in enumerate(zip(_flat(found.detach().tolist()), wanted)):
            if not _close(one, other, *limits) and not (self.case.get("mag") and _close(abs(one), abs(other), *limits)):
                return f"element {index}: expected {other}, got {one}"
        return None

    def _limits(self, dtype):
        own = self.case.get("tol")
        return own if own and dtype in _LIMITS else _LIMITS.get(dtype, (0, 0))

    def _storage_of(self, tensor):
        """Returns which of the arguments' storages a tensor lies in; -1 for none."""
        def begin(x):
            return x.data_ptr() - x.storage_offset() * x.element_size()
        # An out= that is resized has memory that the tensor over its storage does not know of.
        known = [*enumerate(self.storages), *((place[0], each) for place, each in zip(self.case["te"], self.tensors))]
        return next((i for i, each in known if each.numel() and begin(each) == begin(tensor)), -1)


def _flat(value):
    if not isinstance(value, list):
        return [value]
    return [each for part in value for each in _flat(part)] if value and isinstance(value[0], list) else value


def _close(found, expected, rtol, atol):
    if found == expected:
        return True
    if isinstance(expected, complex):
        if not cmath.isfinite(expected):
            return not cmath.isfinite(found)
    elif not math.isfinite(expected):
        return math.isnan(expected) and math.isnan(found)
    return abs(found - expected) <= atol + rtol * abs(expected)
