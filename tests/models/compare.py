"""Imports the models of export.py into boxcar, and compares what they return with PyTorch; `./dev models` calls it.

Each archive runs on the inputs that it was exported with, and on another batch and length where PyTorch keeps these
free. Prints a table in Markdown. Fails if a model without a reason in reasons.txt is not imported or not equal.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
os.environ["OMP_NUM_THREADS"] = "1"

import export  # noqa: E402
import torch  # noqa: E402
from architectures import BATCH, LENGTH  # noqa: E402
from safetensors import SafetensorError  # noqa: E402
from safetensors.torch import load_file  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE / "README.md"
TOLERANCE = 1e-4  # of the largest value
LONGEST = 300  # seconds of one process
RUNS, RUN_SECONDS, LOADS = 15, 2.0, 5  # the fastest counts, since machines are shared
ARCHIVES = {"": "as exported", ".core": "after run_decompositions"}
COLOURS = re.compile(r"\x1b\[[0-9;]*m")

DRIVER = """\
import "{archive}" as m

fn leaves(Any x, Tensor[] out) -> () {{
    if isinstance(x, Tensor) {{ out.append(x) }} elif x is not None {{
        if type(x).startswith("Dict") {{ for v in x.values() {{ leaves(v, out) }} }} else {{
            if type(x).startswith("(") or type(x).endswith("[]") {{ for v in x {{ leaves(v, out) }} }}
        }}
    }}
}}

ins = io::load("{inputs}")
found: Dict(str, Tensor) = {{}}
with no_grad() {{
{cases}
    io::save(found, "{results}")
    begin = clock()
    for _ in range({runs}) {{
        if clock() - begin > {seconds} {{ break }}
        start = clock()
        m.forward({arguments})
        print((clock() - start) * 1000)
    }}
}}
"""
CASE = """\
    {case}: Tensor[] = []
    leaves(m.forward({arguments}), {case})
    for i, x in enumerate({case}) {{ found[f"{case}.out{{i}}"] = x.contiguous().clone() }}
"""


@dataclasses.dataclass
class Result:
    """What became of one archive."""
    imports: bool = False
    equal: bool = False
    reason: str = ""
    lines: int = 0
    load: float = 0
    run: float = 0


class Failed(Exception):
    pass


def call(arguments):
    """Returns what boxcar prints, or raises its first error."""
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        raise Failed(f"takes over {LONGEST} seconds")
    if done.returncode < 0:
        raise Failed(f"ends with signal {-done.returncode}")
    if done.returncode:
        raise Failed(first_error(done.stderr))
    return done.stdout


def first_error(text):
    """The first error, or the list of what an import lacks."""
    lines = [line.strip() for line in COLOURS.sub("", text).splitlines() if line.strip()]
    for i, line in enumerate(lines):
        if line.endswith("boxcar does not have"):
            lacks = [re.sub(r" \(.*", "", each) for each in lines[i + 1:]
                     if not each.startswith(("A plugin", "import ", "^"))]
            return "does not have " + ", ".join(dict.fromkeys(lacks))
        if "error: " in line:
            return line.split("error: ", 1)[1]
    return lines[0] if lines else "fails without a message"


def arguments_of(architecture, case):
    """The call's arguments as text, with tensors from the file."""
    count = 0

    def text(value):
        nonlocal count
        if isinstance(value, torch.Tensor):
            count += 1
            return f'ins["{case}.in{count - 1}"]'
        if isinstance(value, dict):
            return "{" + ", ".join(f'"{key}": {text(each)}' for key, each in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(text, value)) + "]"
        if isinstance(value, tuple):
            return "(" + ", ".join(map(text, value)) + ",)"
        return repr(value)
    inputs = export.inputs_of(architecture)
    return ", ".join(f"{name}={text(value)}" for name, value in inputs.items() if export.tensors(value))


def difference(wanted, found):
    """The largest difference, of the largest value."""
    if wanted.dtype != found.dtype or wanted.shape != found.shape:
        return f"{found.dtype} of shape {list(found.shape)} instead of {wanted.dtype} of shape {list(wanted.shape)}"
    wanted, found = wanted.double(), found.double()
    same = (wanted == found) | (wanted.isnan() & found.isnan())
    gaps = torch.where(same, 0.0, (wanted - found).abs())
    largest = wanted[wanted.isfinite()].abs().max().item() if wanted.isfinite().any() else 0.0
    return gaps.max().item() / (largest or 1.0) if gaps.numel() else 0.0


def check_equal(wanted, found):
    wanted = {name: value for name, value in wanted.items() if ".out" in name}
    if wanted.keys() != found.keys():
        raise Failed(f"returns {len(found)} tensors instead of {len(wanted)}")
    for name in sorted(wanted):
        gap = difference(wanted[name], found[name])
        if isinstance(gap, str):
            raise Failed(f"{name} is {gap}")
        if not gap <= TOLERANCE:
            raise Failed(f"{name} differs by {gap:.1g} of the largest value")


def seconds_of(arguments):
    times = []
    for _ in range(LOADS):
        begin = time.monotonic()
        call(arguments)
        times.append(time.monotonic() - begin)
    return min(times)


def compare_archive(boxcar, architecture, tag, sizes):
    result, folder = Result(), export.FOLDER
    stem = folder / f"{architecture.name}{tag}"
    text, driver, results = stem.with_name(stem.name + ".ops"), stem.with_name(stem.name + ".run.ops"), \
        stem.with_name(stem.name + ".found.safetensors")
    results.unlink(missing_ok=True)
    archive, kept = f"{stem.name}.pt2", folder / f"{architecture.name}.safetensors"
    try:
        call([boxcar, "import", f"{stem}.pt2", "-o", text, "--in-place"])
        result.lines = len(text.read_text().splitlines())
        call([boxcar, "check", text])
        result.imports = True
        cases = "".join(CASE.format(case=case, arguments=arguments_of(architecture, case))
                        for case, _ in zip(("first", "other"), sizes))
        driver.write_text(DRIVER.format(archive=archive, inputs=kept.name, results=results.name, cases=cases, runs=RUNS,
                                        seconds=RUN_SECONDS, arguments=arguments_of(architecture, "first")))
        times = call(["env", "-C", folder, boxcar, "run", "--threads", "1", driver.name])
        result.run = min(map(float, times.split()))
        check_equal(load_file(kept), load_file(results))
        result.equal = True
        loads, empty = folder / "load.ops", folder / "empty.ops"
        loads.write_text(f'import "{archive}" as m\n')
        empty.write_text("")
        run = [boxcar, "run", "--threads", "1"]
        result.load = max(0.0, seconds_of([*run, loads]) - seconds_of([*run, empty])) * 1000
    except (Failed, SafetensorError) as error:
        result.reason = str(error)
    finally:
        results.unlink(missing_ok=True)
    return result


@torch.no_grad()
def time_of_pytorch(architecture):
    model, inputs, times = export.made(architecture), export.inputs_of(architecture), []
    model(**inputs)
    begin = time.monotonic()
    while len(times) < RUNS and time.monotonic() - begin < RUN_SECONDS:
        start = time.monotonic()
        model(**inputs)
        times.append(time.monotonic() - start)
    return min(times) * 1000


def free_sizes_of(architecture, sizes):
    """Which sizes PyTorch keeps free, in words."""
    if len(sizes) < 2:
        return ""
    def shapes(batch, length):
        return [each.shape for each in export.tensors(export.inputs_of(architecture, batch, length))]
    batch, length = sizes[1]
    names = {"batch": batch != BATCH, "length": length != LENGTH and shapes(BATCH, length) != shapes(BATCH, LENGTH)}
    return ", ".join(name for name, differs in names.items() if differs)


def pair(values):
    """One cell for both archives."""
    first, second = map(str, values)
    return first if first == second else f"{first}, {second}"


def number(value):
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def row_of(architecture, facts, results, pytorch):
    def times(name):
        return pair(number(getattr(each, name)) if each.equal else "-" for each in results)
    def answers(name):
        return pair("yes" if getattr(each, name) else "no" for each in results)
    return [architecture.name, pair(facts["nodes"]), free_sizes_of(architecture, facts["sizes"]), answers("imports"),
            answers("equal"), pair(each.lines or "-" for each in results), times("load"), times("run"), number(pytorch)]


def table_of(head, rows, left=1):
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [
        head, ["---" if i < left else "--:" for i in range(len(head))], *rows])


def read_reasons(file=HERE / "reasons.txt"):
    """Returns {model: reason} of a file with lines such as `falcon  it calls an operator that is missing`."""
    lines = file.read_text().splitlines()
    return dict(line.split(None, 1) for line in lines if line.strip() and not line.startswith("#"))


def machine():
    """The kind of machine in words."""
    info = pathlib.Path("/proc/cpuinfo")
    name = re.search(r"^model name\s*: (.*)", info.read_text() if info.exists() else "", re.MULTILINE)
    kind = re.sub(r"\(R\)|\(TM\)| CPU| Processor|@.*", "", name[1] if name else platform.machine())
    return f"one thread of {' '.join(kind.split())}, {os.cpu_count()} cores"


def versions_of(boxcar):
    import architectures
    own = call([boxcar, "--version"]).split("\n")[0].split(" (")[0]
    return ", ".join([own, *(f"{name} {version.split('+')[0]}" for name, version in architectures.VERSIONS.items())])


HEAD = ["model", "nodes", "free sizes", "imports", "equal", "lines", "load ms", "run ms", "PyTorch ms"]


def report(boxcar, compared, refused):
    """The table, and what failed and why."""
    families, parts = {}, []
    for architecture, row, _ in compared:
        families.setdefault(architecture.family, []).append(row)
    for family, rows in families.items():
        parts += [f"**{family}**", "", table_of(HEAD, rows), ""]
    archives = [each for *_, results in compared for each in results]
    count = {name: sum(getattr(each, name) for each in archives) for name in ("imports", "equal")}
    whole = sum(all(each.equal for each in results) for *_, results in compared)
    told = (f"{whole} of {len(compared)} models are equal in both forms: of {len(archives)} archives, "
            f"{count['imports']} are imported and {count['equal']} are equal.")
    failed = [(architecture.name, form, result.reason) for architecture, _, results in compared
              for form, result in zip(ARCHIVES.values(), results) if not result.equal]
    made = f"Made by `./dev models --page` with {machine()}, on a shared machine: {versions_of(boxcar)}."
    parts = [made, "", told, "", *parts]
    if failed:
        reasons, forms = read_reasons(), {}
        for name, form, reason in failed:
            forms.setdefault((name, reason), []).append(form)
        rows = [[name, "both" if len(each) == 2 else each[0], reason.replace("|", "\\|"), reasons.get(name, "")]
                for (name, reason), each in forms.items()]
        parts += ["Not imported, or not equal:", "", table_of(["model", "form", "boxcar says", "why"], rows, 4), ""]
    if refused:
        rows = [[architecture.name, reason.replace("|", "\\|")] for architecture, reason in refused]
        parts += ["Not exported by PyTorch:", "", table_of(["model", "PyTorch says"], rows, 2), ""]
    return "\n".join(parts).rstrip() + "\n", [name for name, *_ in failed if name not in read_reasons()]


def main():
    parser = argparse.ArgumentParser(prog="./dev models", description=__doc__.split("\n")[0])
    parser.add_argument("--only", metavar="PATTERN", help="only models with such names: 'resnet*'")
    parser.add_argument("--force", action="store_true", help="export again what exists in build/exported")
    parser.add_argument("--page", action="store_true", help="write the table to tests/models/README.md")
    parser.add_argument("--boxcar", default=export.ROOT / "build" / "release" / "boxcar", help="the program")
    options = parser.parse_args()
    if options.page and options.only:
        parser.error("--page is of all models; leave out --only")
    torch.set_num_threads(1)
    export.export_missing(options.only, options.force)
    compared, refused = [], []
    for architecture in export.matching(options.only):
        facts = json.loads((export.FOLDER / f"{architecture.name}.json").read_text())
        if "reason" in facts:
            refused.append((architecture, facts["reason"]))
            continue
        results = [compare_archive(options.boxcar, architecture, tag, facts["sizes"]) for tag in ARCHIVES]
        for form, result in zip(ARCHIVES.values(), results):
            if not result.equal:
                print(f"{architecture.name}, {form}: {result.reason}", file=sys.stderr, flush=True)
        compared.append((architecture, row_of(architecture, facts, results, time_of_pytorch(architecture)), results))
        print("compared", " ".join(compared[-1][1]), file=sys.stderr, flush=True)
    if not compared and not refused:
        parser.error(f"no model is called {options.only}")
    text, unexplained = report(options.boxcar, compared, refused)
    if options.page:
        begin = "<!-- begin table -->\n"
        before, _, _ = PAGE.read_text().partition(begin)
        PAGE.write_text(f"{before}{begin}\n{text}")
    else:
        print(text)
    if unexplained:
        sys.exit(f"reasons.txt has no reason for {', '.join(dict.fromkeys(unexplained))}")


if __name__ == "__main__":
    main()
