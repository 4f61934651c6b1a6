"""Writes the package's type stubs: make.py FOLDER makes __init__.pyi and ops.pyi there.

The text of init.pyi is copied. The operators, scopes and constants are those of the module that Python imports, with
the types of their schemas. Public names that neither has get a stub in which everything is Any.
"""

import inspect
import keyword
import pathlib
import re
import sys

import boxcar
from boxcar import _core

# Parameters take more than results give, so most types differ between the two.
PARAMETERS = {
    "Tensor": "_Tensor", "int": "_b.int", "SymInt": "_b.int", "float": "_b.float", "bool": "_b.bool", "str": "_b.str",
    "Scalar": "_Number", "ScalarType": "_DtypeLike", "Layout": "_layout", "MemoryFormat": "_memory_format",
    "Device": "_device", "Generator": "_Any", "Function": "_Callable[..., _Any]", "Any": "_Any"}
RESULTS = PARAMETERS | {"Scalar": "_Any", "ScalarType": "_dtype", "Device": "device"}  # the class of a number is known only at run time


# A device may stand alone: Python and scripts allow it, and no schema says so.
ALSO = {"to": "aten::to(Tensor(a) self, Device device, *, bool non_blocking=False, bool copy=False, "
              "MemoryFormat? memory_format=None) -> Tensor(a)"}


class Argument:
    """A parameter or a result of a schema."""

    def __init__(self, text):
        declared, _, self.default = text.partition("=")
        declared = re.sub(r"\([a-z]+(!| -> \*|!? -> [a-z|*]+)?\)", lambda found: "!" if "!" in found[0] else "", declared)
        self.type, _, self.name = declared.rpartition(" ") if " " in declared else (declared, "", "")
        if self.name.endswith((")", "]")):  # a result without a name, such as Dict(str, int)
            self.type, self.name = declared, ""

    def __repr__(self):
        return f"{self.type} {self.name}"


class Schema:
    """What the text of a schema says."""

    def __init__(self, text):
        self.text = text
        name, _, rest = text.partition("(")
        parameters, results = split_at_end(rest)
        self.name, _, self.overload = name.partition(".")
        self.positional, self.by_keyword = [], []
        into = self.positional
        for part in parts(parameters):
            if part == "*":
                into = self.by_keyword
            else:
                into.append(Argument(part))
        several = results.startswith("(")
        self.results = [Argument(part) for part in parts(results[1:-1] if several else results)]


def split_at_end(text):
    """Splits after the parenthesis that ends the parameters."""
    depth = 1
    for at, letter in outside_quotes(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return text[:at], text[at + 1:].removeprefix(" -> ")
    raise ValueError(f"the schema has no end: {text}")


def outside_quotes(text):
    quote = ""
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and text[at - 1] != "\\" else quote
        elif letter in "'\"":
            quote = letter
        else:
            yield at, letter


def parts(text):
    """What stands between the commas of a list."""
    begin = depth = 0
    found = []
    for at, letter in outside_quotes(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append(text[begin:at].strip())
            begin = at + 1
    last = text[begin:].strip()
    return found + [last] if last else found


def python_type(text, known, is_result=False):
    """The type of Python for a type of schemas."""
    text = text.replace("!", "")
    if text.endswith("?"):
        return python_type(text[:-1], known, is_result) + " | None"
    if sized := re.fullmatch(r"(.*)\[(\d*)\]", text):
        element = python_type(sized[1], known, is_result)
        if is_result:
            return f"_b.list[{element}]"
        return f"{element} | _Sequence[{element}]" if sized[2] else f"_Sequence[{element}]"
    if text.startswith("Dict("):
        key, value = parts(text[5:-1])
        return f"_b.dict[{python_type(key, known, is_result)}, {python_type(value, known, is_result)}]"
    if text.startswith("("):
        return f"tuple[{', '.join(python_type(part, known, is_result) for part in parts(text[1:-1]))}]"
    return known.get(text, "_Any")


class Writer:
    """Makes functions of schemas, and the classes of their results."""

    def __init__(self):
        self.tuples = {}

    def result(self, schema):
        types = [python_type(each.type, RESULTS, True) for each in schema.results]
        names = [each.name for each in schema.results]
        if schema.name.startswith(("aten::", "autograd::")):  # lists of tensors are tuples, as PyTorch's functions give
            types = [re.sub(r"^_b\.list\[(_Tensor( \| None)?)\]$", r"tuple[\1, ...]", each) for each in types]
        if len(types) <= 1:
            return types[0] if types else "None"
        if not all(names) or any(keyword.iskeyword(name) or name.startswith("_") for name in names):
            return f"tuple[{', '.join(types)}]"
        name = "_" + "_".join(names) + "_of_" + schema.name.split("::")[1].strip("_")
        fields = "".join(f"    {field}: {kind}\n" for field, kind in zip(names, types))
        if self.tuples.setdefault(name, fields) != fields:
            return f"tuple[{', '.join(types)}]"
        return name

    def functions(self, schema, own="", bound=False):
        """The parameters and results of a schema's forms. [own]: the name of the object itself, where the form is one of
        a method; [bound]: that object is the first argument."""
        mixes = sum(each.type == "Tensor" for each in schema.positional) > 1
        positional = schema.positional[1:] if bound else schema.positional
        listed, needed = [], False
        for each in reversed(positional):  # a parameter without a default makes those before it ones
            needed = needed or not each.default
            kind = python_type(each.type, PARAMETERS)
            if schema.name == "autograd::grad" and kind.startswith("_Sequence["):
                kind = f"_Tensor | {kind}"
            if mixes and each.type == "Tensor":
                kind += " | _Number"  # a number stands for a tensor beside another tensor
            listed.insert(0, (each.name, kind, "" if needed else " = ..."))
        unnamed = max((at + 1 for at, each in enumerate(listed) if keyword.iskeyword(each[0])), default=0)
        texts = [f"{'_' if keyword.iskeyword(name) else ''}{name}: {kind}{default}" for name, kind, default in listed]
        by_keyword = [f"{each.name}: {python_type(each.type, PARAMETERS)}{' = ...' if each.default else ''}"
                      for each in schema.by_keyword]
        if unnamed:
            texts.insert(unnamed, "/")
        begin = [own] if own else []
        yield ", ".join(begin + texts + (["*"] if by_keyword else []) + by_keyword), self.result(schema)
        # Ints that stand alone make the list that is the last parameter.
        if positional and re.fullmatch(r"(int|SymInt)\[\d*\]", positional[-1].type) and not unnamed:
            before = [re.sub(r" = \.\.\.$", "", f"_{text}") for text in texts[:-1]]
            if before:
                before.append("/")
            yield ", ".join(begin + before + [f"*{positional[-1].name}: _b.int"] + by_keyword), self.result(schema)

    def definitions(self, name, schemas, doc, own, bound=False, indent="    "):
        """The text of a function with all its overloads."""
        forms = list(dict.fromkeys(form for schema in schemas for form in self.functions(schema, own, bound)))
        lines = []
        for parameters, result in forms:
            if len(forms) > 1:
                lines.append(f"{indent}@_overload\n")
            lines.append(f"{indent}def {name}({parameters}) -> {result}:{'' if doc else ' ...'}\n")
            if doc:
                lines.append(f'{indent}    """{doc}"""\n')
                doc = ""
        return "".join(lines)

    def classes(self):
        return "".join(f"class {name}(_NamedTuple):\n{fields}" for name, fields in sorted(self.tuples.items()))


def doc_of(operator):
    """The first line below the schemas in a docstring."""
    _, _, text = operator.__doc__.partition("\n\n")
    return text.strip().split("\n")[0].replace("\\", "\\\\").replace('"""', "'''")


def schemas_of(name):
    return [Schema(text) for text in _core._operators(name).schemas]


def ops_stub(names):
    """The stub of boxcar.ops: a class for each operator, and one for each namespace."""
    writer = Writer()
    classes, namespaces = [], {}
    for name in names:
        namespace, _, short = name.partition("::")
        schemas = schemas_of(name)
        namespaces.setdefault(namespace, []).append(short)
        overloads = "".join(f"    {overload}: _Operator\n"
                            for overload in sorted({each.overload or "default" for each in schemas})
                            if not keyword.iskeyword(overload))
        classes.append(f"class _{namespace}_{short}(_Operator):\n" + overloads +
                       writer.definitions("__call__", schemas, doc_of(_core._operators(name)), "_own"))
    spaces = []
    for namespace, shorts in sorted(namespaces.items()):
        fields = "".join(f"    {short}: _{namespace}_{short}\n" for short in shorts if not keyword.iskeyword(short))
        spaces.append(f"class _namespace_{namespace}:\n    __name__: _b.str\n{fields}{namespace}: _namespace_{namespace}\n")
    head = '''# Written by make.py; the types are those of the schemas.
# mypy: disable-error-code="overload-overlap, overload-cannot-match, override"
import builtins as _b
from collections.abc import Callable as _Callable, Sequence as _Sequence
from typing import Any as _Any, NamedTuple as _NamedTuple, overload as _overload

from boxcar import (
    Operator as _Operator, Tensor as _Tensor, _device as _device, _dtype as _dtype, _DtypeLike as _DtypeLike,
    _layout as _layout, _memory_format as _memory_format, _Number as _Number, device as device)

def __getattr__(name: _b.str) -> _Any: ...  # namespaces of scripts and of operators that Python defines

'''
    return head + writer.classes() + "".join(classes) + "".join(spaces)


def methods(names):
    """The operators that are methods of tensors."""
    writer = Writer()
    lines = []
    for name in names:
        short = name.removeprefix("aten::")
        if short.startswith("__") or not isinstance(getattr(_core.Tensor, short, None), _core.Operator):
            continue
        schemas = [each for each in schemas_of(name) if each.positional and each.positional[0].type.strip("!") == "Tensor"]
        schemas += [Schema(ALSO[short])] if short in ALSO else []
        lines.append(writer.definitions(short, schemas, doc_of(_core._operators(name)), "self", bound=True))
    return "".join(lines), writer.classes()


def constants():
    lines = []
    for name, value in sorted(vars(boxcar).items()):
        for kind in (boxcar.dtype, boxcar.layout, boxcar.memory_format):
            if isinstance(value, kind):
                lines.append(f"{name}: _{kind.__name__}\n")
    return "".join(lines)


def scopes():
    """The functions that make scopes and handlers."""
    lines = []
    for text, _, _ in _core._scopes():
        schema = Schema(text)
        if schema.name == "device":
            continue
        schema.name = "boxcar::" + schema.name
        parameters, _ = next(Writer().functions(schema))
        parameters = parameters.replace("path: _b.str", "path: _Path")
        name = schema.name.split("::")[1]
        if name in ("no_grad", "enable_grad", "inference_mode"):
            lines.append(f"@_overload\ndef {name}({parameters}) -> _GradScope: ...\n"
                         f"@_overload\ndef {name}(function: _F) -> _F: ...\n")
        elif name == "set_grad_enabled":
            lines.append(f"def {name}({parameters}) -> _GradScope: ...\n")
        elif _core._operators("aten::" + name) is not None:
            lines.append(f"@_overload\ndef {name}({parameters}) -> Scope: ...\n"
                         f"@_overload\ndef {name}(input: Tensor) -> Tensor: ...\n")
        else:
            lines.append(f"def {name}({parameters}) -> Scope: ...\n")
    return "".join(lines)


def others(known):
    """Public names that are in no other part: their types are Any."""
    lines = []
    for name in sorted(set(dir(boxcar)) - known):
        if name.startswith("_") or keyword.iskeyword(name):
            continue
        try:
            value = getattr(boxcar, name)
        except ImportError:
            value = any  # its module needs a package that is not here
        if inspect.isclass(value):
            lines.append(f"class {name}:\n    def __init__(self, *args: _Any, **kwargs: _Any) -> None: ...\n"
                         f"    def __getattr__(self, name: _b.str) -> _Any: ...\n")
        elif inspect.isfunction(value):
            lines.append(f"def {name}({untyped(inspect.signature(value))}) -> _Any: ...\n")
        elif callable(value):
            lines.append(f"def {name}(*args: _Any, **kwargs: _Any) -> _Any: ...\n")
        else:
            lines.append(f"{name}: _Any\n")
    return "".join(lines)


def untyped(signature):
    """The parameters of a function of Python, without their types."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    texts, star = [], False
    for each in signature.parameters.values():
        if each.kind == inspect.Parameter.KEYWORD_ONLY and not star:
            texts.append("*")
            star = True
        star = star or each.kind == inspect.Parameter.VAR_POSITIONAL
        default = "" if each.default is inspect.Parameter.empty else " = ..."
        texts.append(f"{stars.get(each.kind, '')}{each.name}: _Any{default}")
    return ", ".join(texts)


def main_stub(names):
    template = pathlib.Path(__file__).with_name("init.pyi").read_text(encoding="utf-8")
    template = template.partition("\n\n")[2]
    defined, classes = methods(names)
    template = template.replace("    #: methods\n", defined)
    template = template.replace("#: constants\n", classes + constants()).replace("#: scopes\n", scopes())
    taken = set(re.findall(r"^(?:def |class |)(\w+)\b(?=[(:])", template, re.M)) | {"ops"}
    shorts = [name.removeprefix("aten::") for name in names if name.startswith("aten::")]
    functions = "".join(f"{short}: ops._aten_{short}\n" for short in shorts
                        if short not in taken and not keyword.iskeyword(short))
    functions += "".join(f"{name}: ops._namespace_{name}\n" for name in ("autograd", "func", "io"))
    taken |= set(shorts) | {"autograd", "func", "io"}
    template = template.replace("#: functions\n", functions).replace("#: others\n", others(taken))
    if "#: " in template:
        raise ValueError("init.pyi has a place that make.py does not know")
    return ('# Written by make.py, of init.pyi and the schemas.\n'
            '# mypy: disable-error-code="overload-overlap, overload-cannot-match, override"\n' +
            template)


def main(folder):
    names = sorted(_core._operator_names())
    for file, text in {"ops.pyi": ops_stub(names), "__init__.pyi": main_stub(names)}.items():
        text = text.replace("_Tensor", "Tensor") if file == "__init__.pyi" else text
        path = pathlib.Path(folder, file)
        partial = path.with_suffix(".partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
