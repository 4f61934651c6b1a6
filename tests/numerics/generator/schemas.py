"""Reads the operators that boxcar declares, with PyTorch's own parser, from the list that the build makes."""

import pathlib
import re
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Argument:
    def __init__(self, argument):
        self.name = argument.name
        self.type = str(argument.type)
        self.kwarg_only = argument.kwarg_only
        self.is_out = argument.is_out
        self.is_written = bool(argument.alias_info and argument.alias_info.is_write)
        self.has_default = argument.has_default_value()
        self.default = argument.default_value

    def takes_like(self, other):
        """Returns whether both have the same name and type; the alias set does not count."""
        return (self.name, self.type) == (other.name, other.type)


class Schema:
    """One operator, such as aten::add.Tensor."""

    def __init__(self, text):
        parsed = torch._C.parse_schema(text)
        self.text = text
        self.namespace, self.base = parsed.name.split("::")
        self.overload = parsed.overload_name
        self.name = parsed.name + ("." + self.overload if self.overload else "")
        self.arguments = [Argument(argument) for argument in parsed.arguments]
        self.return_count = len(parsed.returns)
        self.outs = [argument for argument in self.arguments if argument.is_out]
        self.inputs = [argument for argument in self.arguments if not argument.is_out]
        self.is_inplace = self.base.endswith("_") and not self.base.endswith("__") and any(
            argument.is_written for argument in self.inputs)

    def torch_operator(self):
        """Returns PyTorch's own operator of this name; None if this version lacks it."""
        packet = getattr(getattr(torch.ops, self.namespace), self.base, None)
        return getattr(packet, self.overload or "default", None) if packet is not None else None


def read_schemas():
    """Returns all operators by name."""
    path = ROOT / "build" / "release" / "generated" / "schemas.txt"
    if not path.exists():
        sys.exit(f"{path.relative_to(ROOT)} is missing: ./dev build release boxcar_ops makes it")
    # PyTorch's schemas have no functions.
    lines = [line for line in path.read_text().splitlines() if not re.search(r"\bFunction\b", line)]
    schemas = [Schema(line) for line in lines]
    return {schema.name: schema for schema in schemas}


class Operators:
    """The operators, and which of them are forms of one another."""

    def __init__(self):
        self.by_name = read_schemas()
        self.by_base = {}
        for schema in self.by_name.values():
            self.by_base.setdefault((schema.namespace, schema.base), []).append(schema)

    def find(self, name):
        return self.by_name.get(name.removesuffix(".default"))

    def forms(self, schema):
        """Returns the in-place and out= forms of [schema] that take the same arguments."""
        found = []
        for base in (schema.base + "_", schema.base):
            for other in self.by_base.get((schema.namespace, base), []):
                if other is schema or not (other.outs or other.is_inplace):
                    continue
                if base != schema.base and not other.is_inplace:
                    continue
                if len(other.inputs) == len(schema.inputs) and all(
                        a.takes_like(b) for a, b in zip(schema.inputs, other.inputs)):
                    found.append(other)
        return found
