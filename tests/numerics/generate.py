#!/usr/bin/python3
"""Writes the cases that tests/numerics/cases/*.py declare, with PyTorch's results, to safetensors files.

Needs PyTorch 2.15, of `./dev setup models`. With an older one, such as Debian's python3-torch (1.13.1), what that lacks
is left out. `./dev numerics` calls it; README.md beside it describes how to write cases.
"""

import argparse
import collections
import concurrent.futures
import concurrent.futures.process
import hashlib
import importlib
import json
import math
import multiprocessing
import os
import pathlib
import sys
import warnings
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE)]
sys.dont_write_bytecode = True

import torch  # noqa: E402

from generator import declare, expected, gradients, store, values  # noqa: E402
from generator.schemas import Operators  # noqa: E402


# The version that the cases are written for. An older one lacks operators, refuses more, and has faults of its own.
kVersion = (2, 15)
kIsOlder = tuple(int(part) for part in torch.__version__.split(".")[:2]) < kVersion


def resolved(value):
    """Returns tensors whose memory contains the actual values: applies the conjugation that `x.mH` defers."""
    if isinstance(value, torch.Tensor):
        return value.resolve_conj().resolve_neg()
    return [resolved(element) for element in value] if isinstance(value, (list, tuple)) else value


class Writer:
    """Makes the cases of one family."""

    def __init__(self, operators, running, crashing=()):
        self.operators = operators
        self.running = running  # a file that names the current call, in case PyTorch crashes
        self.crashing = crashing  # names of calls to leave out
        self.elements = store.Elements()
        self.cases = []
        self.differentiated = collections.Counter()  # the number of cases with gradients, of narrow dtypes
        self.unsupported = {}
        self.absent = set()
        self.problems = []

    def declare(self, declaration):
        schema = self.operators.find(declaration.name)
        if schema is None:
            self.absent.add(declaration.name)
            return
        forms = self.operators.forms(schema) if declaration.options.get("forms", True) else []
        for dtype in declaration.dtypes:
            seed = zlib.crc32(f"{declaration.name} {dtype}".encode())
            make = values.Make(dtype, seed, declaration.options.get("low"), declaration.options.get("high"))
            for index, made in enumerate(self._calls(declaration, make)):
                call = declare.as_call(made)
                place = f"{declaration.name} {dtype} call {index}"
                if place in self.crashing:
                    self.unsupported.setdefault(declaration.name, set()).add(store.dtype_name(dtype))
                    continue
                self.running.seek(0)
                self.running.write(place.ljust(120))
                self.running.flush()
                try:
                    self._add(schema, forms, dtype, index, call, {**declaration.options, **call.options})
                except Exception as error:  # the error must name the place of a mistake in a declaration
                    if kIsOlder:
                        self.unsupported.setdefault(declaration.name, set()).add(store.dtype_name(dtype))
                        continue
                    self.problems.append(f"{place}: {type(error).__name__}: {error}")

    def _calls(self, declaration, make):
        """Makes the declared calls, up to one for which an older PyTorch lacks a function."""
        try:
            yield from declaration.make_calls(make) or []
        except Exception:
            if not kIsOlder:
                raise
            self.unsupported.setdefault(declaration.name, set()).add(store.dtype_name(make.dtype))

    def _add(self, schema, forms, dtype, index, call, options):
        bound = self._bind(schema, call)
        base = self._case(schema, schema, dtype, bound, call, options)
        for form in forms:
            if form.is_inplace:
                self._case(form, schema, dtype, bound, call, options)
            elif base is not None or call.raises:
                for variant in self._outs(index, base, len(form.outs), options.get("out_dtypes", True)):
                    outs = {argument.name: out for argument, out in zip(form.outs, variant)}
                    self._case(form, schema, dtype, {**bound, **outs}, call, options, base)

    def _bind(self, schema, call):
        positional = [argument for argument in schema.inputs if not argument.kwarg_only]
        call.args = [resolved(value) for value in call.args]
        call.kwargs = {name: resolved(value) for name, value in call.kwargs.items()}
        if len(call.args) > len(positional):
            raise TypeError(f"{len(call.args)} positional arguments for {schema.text}")
        bound = {argument.name: value for argument, value in zip(positional, call.args)}
        names = {argument.name for argument in schema.arguments}
        for name, value in call.kwargs.items():
            if name not in names or name in bound:
                raise TypeError(f"no argument {name} left in {schema.text}")
            bound[name] = value
        return bound

    def _outs(self, index, base, count, other_dtypes):
        """Returns tensors for the out= arguments of a call with known results; their kind varies between calls."""
        if base is None:
            return [[torch.empty(0) for _ in range(count)]]
        is_list = count == 1 and isinstance(base.results[0], (list, tuple))
        results = [result for result in (base.results[0] if is_list else base.results) if isinstance(result, torch.Tensor)]
        if len(results) != count and not is_list:
            return []
        kinds = [lambda r: torch.ones_like(r, memory_format=torch.contiguous_format),
                 lambda r: torch.empty(0, dtype=r.dtype),
                 lambda r: torch.ones((*r.shape, 2), dtype=r.dtype)[..., 1],
                 lambda r: (torch.ones(r.shape[::-1], dtype=r.dtype).t() if r.dim() == 2 else
                             torch.ones(3, dtype=r.dtype))]
        if other_dtypes:
            kinds += [lambda r: torch.ones(r.shape, dtype=torch.promote_types(r.dtype, torch.float64)),
                      lambda r: torch.ones(r.shape, dtype=torch.int64 if r.dtype.is_floating_point else torch.float32)]
        if is_list:  # PyTorch resizes the tensors of some lists only
            kinds = kinds[0:3:2]
        made = [kinds[index % len(kinds)](result) for result in results]
        return [[made]] if is_list else [made]

    def _quirk(self, schema, bound, base_outcome):
        """Returns whether the case shows a quirk of PyTorch: some out= forms write to dtypes that others refuse."""
        results = [result for result in base_outcome.results if isinstance(result, torch.Tensor)]
        if any(isinstance(bound[argument.name], list) for argument in schema.outs):
            return False
        return any(not torch.can_cast(result.dtype, bound[argument.name].dtype)
                   for argument, result in zip(schema.outs, results))

    def _case(self, schema, base, dtype, bound, call, options, base_outcome=None):
        """Adds one case of [schema]; returns its outcome, or None if there is none."""
        function = expected.function_for(schema, base, options.get("reference"))
        written = [argument.name for argument in schema.arguments if argument.is_written]
        encoder = store.CaseEncoder(self.elements)
        if call.raises and call.unchecked:
            self.cases.append(encoder.encode_error(schema.name, dtype, bound, "(not PyTorch's)"))
            return None
        if function is None:
            raise LookupError(f"PyTorch {torch.__version__} lacks it; give a reference=")
        try:
            outcome = expected.outcome_of(function, schema, bound, options.get("upcast", True),
                                          options.get("native", True))
        except expected.Unsupported as reason:
            self.unsupported.setdefault(schema.name, set()).add(store.dtype_name(dtype))
            if options.get("unsupported") == "error" and dtype not in values.HALVES:
                self.cases.append(encoder.encode_error(schema.name, dtype, bound, str(reason)))
            return None
        except expected.Refused as reason:
            if ("Expected a value of type" in str(reason) or "OpOverload" in str(reason)) and not call.raises:
                raise TypeError(str(reason)) from reason
            if any(text in str(reason) for text in expected.kOutDtypeTexts):
                return None
            self.cases.append(encoder.encode_error(schema.name, dtype, bound, str(reason)))
            return None
        if call.raises and schema is base:
            raise AssertionError("PyTorch does not refuse it")
        if base_outcome is not None and self._quirk(schema, bound, base_outcome):
            return None
        extra = {}
        tolerance = options.get("tolerance")
        if isinstance(tolerance, dict):
            tolerance = tolerance.get(dtype)
        if tolerance:
            extra["tol"] = list(tolerance)
        elif base_outcome is not None:
            # Operators may round to the result's dtype before writing, or compute in the dtype of out=.
            computed = {result.dtype for result in base_outcome.results if isinstance(result, torch.Tensor)}
            if len(computed) == 1 and computed != {bound[argument.name].dtype for argument in schema.outs}:
                limits = expected.kTolerances.get(computed.pop())
                if limits:
                    extra["tol"] = limits
        if options.get("magnitudes"):
            extra["mag"] = True
        if options.get("strides") is False:
            extra["strides"] = False
        case = encoder.encode(schema.name, dtype, outcome, written, extra)
        self.cases.append(case)
        if options.get("reference") is None and options.get("gradients", True) and schema.torch_operator() is not None:
            self._add_gradients(case, schema, dtype, function, outcome, encoder)
        return outcome

    def _add_gradients(self, case, schema, dtype, function, outcome, encoder):
        if kIsOlder or schema.outs or dtype not in gradients.kWide + gradients.kNarrow:
            return
        if dtype in gradients.kNarrow:
            # Those that kept_sample() prefers.
            if self.differentiated[schema.name, dtype] >= gradients.kNarrowCases or not 2 <= size_of(case) <= 64:
                return
        record = gradients.record(function, schema, outcome.before, outcome.results, encoder, case.get("mag", False))
        if record is not None:
            case["grad"] = record
            self.differentiated[schema.name, dtype] += 1


def load_family(family):
    """Returns what cases/[family].py declares."""
    declare.declared.clear()
    importlib.import_module(f"cases.{family}")
    return list(declare.declared)


def fingerprint(family, declarations, operators, pattern):
    """Returns a hash of everything that the cases depend on."""
    digest = hashlib.sha256(torch.__version__.encode())
    for path in sorted(HERE.glob("generator/*.py")) + [HERE / "generate.py", HERE / "cases" / f"{family}.py"]:
        digest.update(path.read_bytes())
    for declaration in declarations:
        schema = operators.find(declaration.name)
        if schema is not None:
            digest.update("\n".join([schema.text] + [form.text for form in operators.forms(schema)]).encode())
    digest.update((pattern or "").encode())
    return digest.hexdigest()


def size_of(case):
    return sum(count for _, _, count in case["st"])


def kept_sample(cases):
    """Returns the cases that are kept with the sources: for each operator and dtype one with elements, one strided, and
    one that is refused."""
    best = {}
    for number, case in enumerate(cases):
        strided = any(len(sizes) > 1 and strides[-1] != 1 for _, sizes, strides, _ in case["te"])
        size = size_of(case)
        # The first small non-empty case, or else the smallest.
        cost = (size < 2, size > 64, size if size > 64 else 0, number)
        keys = [(case["op"], "err")] if "err" in case else [(case["op"], case["dtype"])] + (
            [(case["op"], "strided")] if strided else [])
        for key in keys:
            if key not in best or cost < best[key][0]:
                best[key] = (cost, number)
    return [cases[number] for number in sorted({number for _, number in best.values()})]


class Repacked:
    """Copies the elements of some cases into new rows."""

    def __init__(self, source, target=None):
        self.rows = {store.dtype_name(dtype): b"".join(parts) for dtype, parts in source.parts.items()}
        self.dtypes = {store.dtype_name(dtype): dtype for dtype in source.parts}
        self.target = store.Elements() if target is None else target

    def place(self, name, first, count):
        if count == 0:
            return 0
        dtype = self.dtypes[name]
        size = torch.empty(0, dtype=dtype).element_size()
        data = self.rows[name][first * size:(first + count) * size]
        row = torch.frombuffer(bytearray(data), dtype=dtype)
        return self.target.place(row)

    def value(self, value):
        if isinstance(value, list):
            return [self.value(element) for element in value]
        if isinstance(value, dict) and "x" in value:
            return {"x": self.expectation(value["x"])}
        return value

    def expectation(self, x):
        count = 1
        for size in x[1]:
            count *= size
        return [x[0], x[1], x[2], self.place(x[0], x[3], count), x[4]]

    def case(self, case):
        made = dict(case)
        made["st"] = [[name, self.place(name, first, count), count] for name, first, count in case["st"]]
        if "res" in case:
            made["res"] = [self.value(value) for value in case["res"]]
        if "after" in case:
            made["after"] = {key: self.expectation(x) for key, x in case["after"].items()}
        if "in" in case.get("grad", {}):
            made["grad"] = {**case["grad"], "in": {key: self.gradient(case, int(key), place)
                                                   for key, place in case["grad"]["in"].items()}}
        return made

    def gradient(self, case, index, place):
        if place is None:
            return None
        storage, sizes = case["te"][index][:2]
        return self.place(case["st"][storage][0], place, math.prod(sizes))


def dtypes_left_out(name, dtypes, checked):
    return {dtype for dtype in dtypes if (name, dtype) not in checked}


def write_family(path, cases, elements, mark):
    text = json.dumps(cases, separators=(",", ":"), allow_nan=False)
    store.write(path, {"cases": text, "gradients": gradients.kVersion, **mark}, elements)


def generate_family(family, folder, sample, pattern, force, crashing):
    """Writes the family's files if they are out of date; returns the messages to print."""
    torch.set_num_threads(1)
    # What oneDNN supports depends on the CPU: with AVX-512 it refuses transposed convolutions of bfloat16.
    torch.backends.mkldnn.set_flags(False)
    warnings.simplefilter("ignore")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # hides C++ warnings that cases cause on purpose; errors are results
    operators = Operators()
    declarations = load_family(family)
    if pattern:
        declarations = [declaration for declaration in declarations if pattern in declaration.name]
        if not declarations:
            return ""
    mark = fingerprint(family, declarations, operators, pattern)
    path = folder / f"{family}.safetensors"
    if not force and not sample and store.read_metadata(path).get("fingerprint") == mark:
        return ""
    running = folder / f"{family}.running"
    folder.mkdir(parents=True, exist_ok=True)
    with open(running, "w") as file:
        writer = Writer(operators, file, crashing)
        for declaration in declarations:
            writer.declare(declaration)
    running.unlink()
    write_family(path, writer.cases, writer.elements, {"fingerprint": mark})
    lines = [f"{family}: {len(writer.cases)} cases of {len({case['op'] for case in writer.cases})} operators"]
    if sample:
        repacked = Repacked(writer.elements)
        kept = [repacked.case(case) for case in kept_sample(writer.cases)]
        write_family(HERE / "data" / f"{family}.safetensors", kept, repacked.target, {})
        lines.append(f"  {len(kept)} of them kept in tests/numerics/data")
    checked = {(case["op"], case["dtype"]) for case in writer.cases}
    for name, dtypes in sorted(writer.unsupported.items()):
        shown = sorted(dtypes_left_out(name, dtypes, checked))
        if shown:
            lines.append(f"  not in PyTorch {torch.__version__}, so not checked: {name} of {' '.join(shown)}")
    if writer.absent:
        lines.append(f"  not among boxcar's operators: {' '.join(sorted(writer.absent))}")
    lines += [f"  PROBLEM {problem}" for problem in writer.problems]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "numerics", help="where the files go")
    parser.add_argument("--family", action="append", help="only this file of cases; may be given more than once")
    parser.add_argument("--only", help="only operators with this text in their names, into files of their own")
    parser.add_argument("--sample", action="store_true", help="write the kept sample, too")
    parser.add_argument("--force", action="store_true", help="also where nothing has changed")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    arguments = parser.parse_args()
    families = arguments.family or sorted(path.stem for path in (HERE / "cases").glob("*.py"))
    # Longest first, so that the processes end at about the same time.
    families.sort(key=lambda family: -(HERE / "cases" / f"{family}.py").stat().st_size)
    failed = False

    def make(family):
        # A separate process, because PyTorch crashes in some calls. An older one starts again without these.
        crashing = set()
        while True:
            with concurrent.futures.ProcessPoolExecutor(1) as process:
                made = process.submit(generate_family, family, arguments.out, arguments.sample, arguments.only,
                                      arguments.force, crashing)
                try:
                    return made.result()
                except concurrent.futures.process.BrokenProcessPool:
                    running = (arguments.out / f"{family}.running").read_text().strip()
            if not kIsOlder or running in crashing:
                return (f"{family}:\n  PROBLEM PyTorch crashes at {running}: "
                        "make it error(..., unchecked=True), or leave it out")
            crashing.add(running)

    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.jobs)) as threads:
        for text in threads.map(make, families):
            failed = failed or "  PROBLEM " in text
            if text:
                print(text, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
