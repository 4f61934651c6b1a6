"""Calls the module as PyTorch is called, with the samples of PyTorch's own tests; `./dev opinfo --python` runs it.

Each function of torch.testing._internal (OpInfo) is called in PyTorch and, under the same name with the same arguments, in
boxcar: as a function, as a method, in place, with out= and with input= by name. Prints a table of what is equal, what
differs, what the module refuses and what it does not have, and writes it with the first reasons to build/opinfo-python.
Needs PyTorch.
"""

import argparse
import collections
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import sys
import warnings

import boxcar
import torch
from torch.testing._internal.common_methods_invocations import op_db

ROOT = pathlib.Path(__file__).resolve().parents[2]
DTYPES = {each: getattr(torch, each) for each in ("float32", "float64", "bfloat16", "int64", "bool", "complex64")}
FORMS = ("function", "method", "in place", "out=", "input=")
LONGEST = 60  # seconds for one of OpInfo's entries
# rtol and atol where sums may be in another order than PyTorch's. In bfloat16 it rounds between the steps of some operators,
# and boxcar once at the end; ./dev numerics compares with results that are rounded once.
LIMITS = {torch.float32: (1e-4, 1e-4), torch.complex64: (1e-4, 1e-4), torch.bfloat16: (0.1, 0.25)}


class LeftOut(Exception):
    """A call that boxcar is not asked for."""


# ---- Values ----

def to_boxcar(value):
    """Returns the same value for boxcar; tensors share their memory."""
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided or value.is_quantized or value.is_nested:
            raise LeftOut("sparse, quantised and nested tensors")
        return boxcar.from_dlpack(value.detach().resolve_conj().resolve_neg())
    if isinstance(value, torch.Size):
        return value
    if isinstance(value, (list, tuple)):
        made = [to_boxcar(each) for each in value]
        return made if isinstance(value, list) else tuple(made)
    if isinstance(value, dict):
        return {key: to_boxcar(each) for key, each in value.items()}
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        name = str(value).removeprefix("torch.")
        if not hasattr(boxcar, name):
            raise LeftOut(f"values such as {value}")
        return getattr(boxcar, name)
    if isinstance(value, torch.device):
        return boxcar.device(str(value))
    if isinstance(value, torch.Generator) or callable(value):
        raise LeftOut("generators and functions")
    return value


def copied(value):
    """Returns a copy whose tensors do not share memory with those of `value`."""
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided:
            raise LeftOut("sparse, quantised and nested tensors")
        return value.detach().clone()
    if isinstance(value, torch.Size):
        return value
    if isinstance(value, (list, tuple)):
        return type(value)(copied(each) for each in value)
    if isinstance(value, dict):
        return {key: copied(each) for key, each in value.items()}
    return value


def difference(found, expected, has_values):
    """Returns what differs, or None."""
    if isinstance(expected, torch.Tensor):
        if not isinstance(found, boxcar.Tensor):
            return f"expected a tensor, got {type(found).__name__}"
        if str(found.dtype).removeprefix("boxcar.") != str(expected.dtype).removeprefix("torch."):
            return f"expected {expected.dtype}, got {found.dtype}"
        if found.shape != tuple(expected.shape):
            return f"expected sizes {list(expected.shape)}, got {list(found.shape)}"
        if not has_values:
            return None
        theirs = torch.from_dlpack(found.detach().resolve_conj().resolve_neg())
        rtol, atol = LIMITS.get(expected.dtype, (None, None))
        try:
            torch.testing.assert_close(theirs, expected.detach(), rtol=rtol, atol=atol, equal_nan=True)
        except AssertionError as error:
            return " ".join(str(error).split())[:200]
        return None
    if isinstance(expected, (list, tuple)):
        if not isinstance(found, (list, tuple)) or len(found) != len(expected):
            return f"expected {len(expected)} results, got {found!r}"[:200]
        return next((text for one, other in zip(found, expected) if (text := difference(one, other, has_values))), None)
    if isinstance(expected, (torch.dtype, torch.device)):
        return None if str(found).split(".")[-1] == str(expected).split(".")[-1] else f"expected {expected}, got {found!r}"
    if type(found) is not type(expected):
        return f"expected {expected!r}, got {found!r}"[:200]
    if has_values and isinstance(expected, (int, float, complex)):
        try:
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4, equal_nan=True)
        except AssertionError as error:
            return " ".join(str(error).split())[:200]
    return None


# ---- Calls ----

def named(module, name):
    """Returns the function called "linalg.det" of a module; None if there is none."""
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if callable(found) else None


def function_of(info):
    """Returns boxcar's function for an entry: the one of PyTorch's name, or the method where PyTorch has only that."""
    name = info.name.removeprefix("torch.")
    if named(torch, name) is None and info.method_variant is not None:
        return getattr(boxcar.Tensor, info.method_variant.__name__, None)
    return named(boxcar, name)


def in_order_of(info, ours):
    """OpInfo calls some functions with their arguments in another order, so that the input is the first."""
    if ours is not None and info.name == "where":
        return lambda x, condition, other, **kwargs: ours(condition, x, other, **kwargs)
    if ours is not None and info.name in ("nn.functional.embedding", "nn.functional.embedding_bag"):
        return lambda weight, indices, *args, **kwargs: ours(indices, weight, *args, **kwargs)
    if ours is not None and info.name == "einsum":
        return lambda tensors, equation: ours(equation, *tensors)
    if info.name in ("T", "H", "mH", "mT"):
        return lambda x: getattr(x, info.name)
    if ours is not None and info.name in ("polygamma", "special.polygamma"):
        return lambda x, n, **kwargs: ours(n, x, **kwargs)
    return ours


def forms_of(info):
    """Yields (form, how PyTorch is called, how boxcar is called or None); both take input, args and kwargs."""
    ours = in_order_of(info, function_of(info))
    yield "function", lambda x, args, kwargs: info.op(x, *args, **kwargs), ours and (
        lambda x, args, kwargs: ours(x, *args, **kwargs))
    yield "input=", lambda x, args, kwargs: info.op(*args, input=x, **kwargs), ours and (
        lambda x, args, kwargs: ours(*args, input=x, **kwargs))
    if getattr(info.method_variant, "__name__", "<lambda>") != "<lambda>":
        method = info.method_variant.__name__
        yield "method", lambda x, args, kwargs: info.method_variant(x, *args, **kwargs), hasattr(
            boxcar.Tensor, method) and (lambda x, args, kwargs: getattr(x, method)(*args, **kwargs))
    if getattr(info.inplace_variant, "__name__", "<lambda>") != "<lambda>":
        inplace = info.inplace_variant.__name__
        ours_in_place = getattr(boxcar.Tensor, inplace, None)
        yield "in place", lambda x, args, kwargs: info.inplace_variant(x, *args, **kwargs), ours_in_place and (
            lambda x, args, kwargs: ours_in_place(x, *args, **kwargs))


def outputs_like(result):
    if isinstance(result, torch.Tensor):
        return torch.zeros_like(result)
    if isinstance(result, (list, tuple)) and result and all(isinstance(each, torch.Tensor) for each in result):
        return tuple(torch.zeros_like(each) for each in result)
    raise LeftOut("no out=")


def is_random(info, call, sample):
    """Whether two calls with different seeds differ."""
    if "empty" in info.name or "wrapper_set_seed" in getattr(getattr(info.op, "__code__", None), "co_names", ()):
        return True
    results = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        results.append(call(copied(sample.input), copied(sample.args), copied(sample.kwargs)))
    torch.manual_seed(1)
    try:
        torch.testing.assert_close(*results, equal_nan=True)
    except (AssertionError, TypeError):
        return True
    return False


def compare(form, theirs, ours, sample, info):
    """Returns (outcome, detail) of one call; None if PyTorch refuses it."""
    try:
        their_args = [copied(each) for each in (sample.input, sample.args, sample.kwargs)]
        our_args = [copied(each) for each in (sample.input, sample.args, sample.kwargs)]
        expected = theirs(*their_args)
        has_values = not is_random(info, theirs, sample)
        if form == "out=":
            sample_out = outputs_like(expected)
            their_args[2]["out"], our_args[2]["out"] = sample_out, copied(sample_out)
            expected = theirs(*their_args)
    except LeftOut:
        return None
    except Exception:  # PyTorch refuses the form, or the sample
        return None
    try:
        converted = [to_boxcar(each) for each in our_args]
        if form in ("method", "in place") and not isinstance(converted[0], boxcar.Tensor):
            return None
        if not ours:
            return "missing", ""
        found = ours(*converted)
        if expected is NotImplemented or isinstance(expected, torch.Tensor) and expected.layout != torch.strided:
            return None
        text = difference(found, expected, has_values)
        if text is None and form == "out=" and not isinstance(found, (list, tuple)) and found is not converted[2]["out"]:
            text = "the result is not the tensor of out="
        return ("different", text) if text else ("equal", "")
    except LeftOut:
        return None
    except TypeError as error:
        return "refused", str(error).splitlines()[0]
    except Exception as error:
        return "different", f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def compare_all(info, limit):
    """Returns {form: {outcome: number}} of an entry and its first details."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    counts = {form: collections.Counter() for form in FORMS}
    details = []
    forms = list(forms_of(info))
    if info.supports_out:
        forms.append(("out=", *forms[0][1:]))
    for dtype_name, dtype in DTYPES.items():
        if dtype not in info.dtypes:
            continue
        torch.manual_seed(1)
        try:
            samples = []
            for sample in info.sample_inputs("cpu", dtype, requires_grad=False):
                samples.append(sample)
                if len(samples) == limit:
                    break
        except Exception:
            continue
        for form, theirs, ours in forms:
            for sample in samples:
                outcome = compare(form, theirs, ours, sample, info)
                if outcome is None:
                    continue
                counts[form][outcome[0]] += 1
                if outcome[0] != "equal" and len(details) < 12 and [form, *outcome] not in [each[1:] for each in details]:
                    details.append([dtype_name, form, *outcome])
    return {form: dict(count) for form, count in counts.items()}, details


def run(info, limit):
    """compare_all() in a process of its own, which may crash."""
    receiving, sending = multiprocessing.Pipe(duplex=False)

    def work():
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sending.send(compare_all(info, limit))

    process = multiprocessing.get_context("fork").Process(target=work, daemon=True)
    process.start()
    sending.close()
    try:
        if receiving.poll(LONGEST):
            return receiving.recv()
        return {}, [["", "", "crash", f"no answer in {LONGEST} s"]]
    except EOFError:
        process.join()
        return {}, [["", "", "crash", f"ended with {process.exitcode}"]]
    finally:
        process.kill()
        process.join()


# ---- The table ----

def kind_of(counts, details):
    """Returns what an entry is in the summary: the worst that its function, or method, is."""
    if any(each[2] == "crash" for each in details):
        return "crash"
    main = counts["function"] if counts["function"] else counts["method"]
    for kind in ("different", "refused", "missing", "equal"):
        if main.get(kind):
            return kind
    return "left out"


def main():
    parser = argparse.ArgumentParser(prog="./dev opinfo --python", description=__doc__.split("\n")[0])
    parser.add_argument("--only", help="only PyTorch's functions with this text in their names")
    parser.add_argument("--limit", type=int, default=20, help="samples of each function and dtype (20)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "opinfo-python", help="where the table goes")
    options = parser.parse_args()
    infos = [info for info in op_db if options.only is None or options.only in info.name]
    names = [f"{info.name} {info.variant_test_name}".strip() for info in infos]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as threads:
        answers = list(threads.map(lambda info: run(info, options.limit), infos))
    kinds = [kind_of(*answer) if answer[0] else "crash" for answer in answers]
    totals = {form: collections.Counter() for form in FORMS}
    for counts, _ in answers:
        for form, count in counts.items():
            totals[form].update(count)
    outcomes = ("equal", "different", "refused", "missing")
    lines = ["| form | " + " | ".join(outcomes) + " |", "|---|" + "---|" * len(outcomes)]
    lines += [f"| {form} | " + " | ".join(str(totals[form][each]) for each in outcomes) + " |" for form in FORMS]
    number = collections.Counter(kinds)
    summary = [f"{len(infos)} functions of PyTorch's tests: " + ", ".join(f"{count} {kind}"
                                                                         for kind, count in number.most_common()), ""]
    table = ["", "| function | outcome | calls | first reason |", "|---|---|---|---|"]
    for name, kind, (counts, details) in sorted(zip(names, kinds, answers), key=lambda each: each[:2]):
        if kind not in ("equal", "left out") or details:
            calls = collections.Counter()
            for count in counts.values():
                calls.update(count)
            first = next((each for each in details if each[2] == kind), details[0] if details else ["", "", "", ""])
            reason = f"{first[0]} {first[1]}: {first[3]}".replace("|", "/")
            table.append(f"| {name} | {kind} | {dict(calls)} | {reason} |")
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "table.md").write_text("\n".join(summary + lines + table) + "\n")
    (options.out / "details.json").write_text(json.dumps(dict(zip(names, answers)), indent=1))
    print("\n".join(summary + lines))
    print(f"\n{options.out}/table.md has what is not equal, details.json all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
