"""Measures calls from Python beside PyTorch's, in one run; `./dev bench --python` calls it.

Both libraries run in the same Python, each in a process of its own, in turns. Figures are medians of nanoseconds a call, less
an empty call, and milliseconds of an import in a fresh process, less Python's own start. Needs ./dev setup models python.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[1]
PYTHON = ROOT / "build" / "models" / "bin" / "python"
MODULE = ROOT / "build" / "release" / "python"
BENCH = ROOT / "build" / "release" / "boxcar_bench"
TURNS, IMPORTS = 5, 10

TIMER = """
import json, statistics, sys, time
def per_call(function, calls=20000, turns=7):
    function()
    times = []
    for _ in range(turns):
        begin = time.perf_counter_ns()
        for _ in range(calls):
            function()
        times.append((time.perf_counter_ns() - begin) / calls)
    return statistics.median(times)
import numpy
array = numpy.ones(4, dtype="float32")
def nothing(): pass
"""
BOXCAR = TIMER + """
import boxcar as T
@T.op("bench::scaled(Tensor x, float by) -> Tensor")
def scaled(x, by):
    return x
a, b = T.ones(2), T.ones(2)
script = T.compile("fn second(Tensor a, Tensor b) -> Tensor { return b }")
second = script.second
def custom(): scaled(a, 2.0)
def add(): a + b
def index(): a[0]
def view(): a.view(2, 1)
def dlpack(): T.from_dlpack(array)
def lent(): array.__dlpack__(max_version=(1, 1))
def call(): second(a, b)
"""
TORCH = TIMER + """
import torch as T
T.set_num_threads(1)
@T.library.custom_op("bench::scaled", mutates_args=())
def scaled(x: T.Tensor, by: float) -> T.Tensor:
    return x.clone()
a, b = T.ones(2), T.ones(2)
def custom(): scaled(a, 2.0)
def add(): a + b
def index(): a[0]
def view(): a.view(2, 1)
def dlpack(): T.from_dlpack(array)
"""
REPORT = """
empty = per_call(nothing)
print(json.dumps({name: per_call(globals()[name]) - empty for name in NAMES}))
"""
CALLS = ("add", "index", "view", "custom", "dlpack")
# What a row is called, and how much of PyTorch's time it may take.
ROWS = {
    "add": ("`a + b` of two tensors of 2 elements", 0.2, 0.12),
    "index": ("`a[0]`", None, None),
    "view": ("`a.view(2, 1)`", None, None),
    "custom": ("an operator written in Python; PyTorch's `custom_op`", 0.15, 0.1),
    "dlpack": ("`from_dlpack` of an array of NumPy's", 0.1, 0.05),
}


def run(code):
    env = {**os.environ, "PYTHONPATH": str(MODULE), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.run([str(PYTHON), "-c", code], capture_output=True, text=True, check=False, env=env)
    if process.returncode != 0:
        sys.exit(f"./dev bench --python: a measured program failed:\n{process.stderr[-1000:]}")
    return process.stdout


def called_from_cpp():
    """Returns the nanoseconds of the same call of a script's function in C++."""
    out = subprocess.run([str(BENCH), "--benchmark_filter=^script_function_of_two_tensors/", "--benchmark_format=json"],
                         capture_output=True, text=True, check=True).stdout
    return json.loads(out)["benchmarks"][0]["cpu_time"]


def start(imports):
    """Returns the milliseconds of a process that imports this."""
    code = f"import time; begin = time.perf_counter()\n{imports}\nprint((time.perf_counter() - begin) * 1000)"
    return float(run(code))


def measured():
    figures = {"boxcar": {}, "torch": {}}
    for _ in range(TURNS):
        for name, code, calls in (("boxcar", BOXCAR, (*CALLS, "call", "lent")), ("torch", TORCH, CALLS)):
            for call, time in json.loads(run(code + REPORT.replace("NAMES", repr(calls)))).items():
                figures[name].setdefault(call, []).append(time)
        figures["boxcar"].setdefault("cpp", []).append(called_from_cpp())
    for _ in range(IMPORTS):
        figures["boxcar"].setdefault("import", []).append(start("import boxcar"))
    figures["torch"]["import"] = [start("import torch") for _ in range(3)]
    return {name: {call: statistics.median(times) for call, times in found.items()} for name, found in figures.items()}


def table(figures):
    own, theirs = figures["boxcar"], figures["torch"]
    lines = ["| call | boxcar | PyTorch | ratio | must | aim |", "| --- | --: | --: | --: | --: | --: |"]
    for name, (title, must, aim) in ROWS.items():
        goals = f"{must or ''} | {aim or ''}"
        if name == "dlpack":
            title += f", of which NumPy's own `__dlpack__` takes {own['lent']:.0f} ns"
        lines.append(f"| {title} | {own[name]:.0f} ns | {theirs[name]:.0f} ns | {own[name] / theirs[name]:.3f} | {goals} |")
    lines.append(f"| `import`, in a fresh process | {own['import']:.0f} ms | {theirs['import']:.0f} ms | "
                 f"{own['import'] / theirs['import']:.3f} | 60 ms | 25 ms |")
    lines.append(f"| a script's function with two tensors, above the {own['cpp']:.0f} ns of the call from C++ | "
                 f"{own['call'] - own['cpp']:.0f} ns | | | 250 ns | |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --python", description=__doc__.splitlines()[0])
    parser.add_argument("--update-readme", action="store_true", help="put the table into bench/README.md")
    options = parser.parse_args()
    text = table(measured())
    print(text)
    if options.update_readme:
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
        import page
        page.update({"python": text + "\n"})


if __name__ == "__main__":
    main()
