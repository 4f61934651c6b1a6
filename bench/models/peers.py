"""Measures whole models beside PyTorch and onnxruntime; `./dev bench --models` calls it.

Each engine has a process; they take turns, so that all see the same machine. A row is a model, a batch and a number of
threads. boxcar imports what torch.export wrote. Results are compared with PyTorch's. Writes build/bench/models.json and
prints a table in Markdown; --update-readme puts it into bench/README.md.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))
import page  # noqa: E402
import sharing  # noqa: E402

FOLDER = ROOT / "build" / "bench" / "models"
PYTHON = ROOT / "build" / "models" / "bin" / "python"
BOXCAR = ROOT / "build" / "release" / "boxcar"
BATCHES, THREADS = (1, 8), (1, 2)
TURNS, SECONDS, LOADS = 5, 0.6, 5
TOLERANCE = 1e-3  # of the largest value: sums of other orders, through many layers
LONGEST = 900  # seconds of one process

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
with inference_mode() {{
    result = m.forward({arguments})
{save}
    begin = clock()
    count = 0
    while count < {least} or clock() - begin < {seconds} {{
        start = clock()
        result = m.forward({arguments})
        print((clock() - start) * 1000)
        count += 1
    }}
}}
"""
SAVE = """\
    found: Tensor[] = []
    leaves(result, found)
    named: Dict(str, Tensor) = {{}}
    for i, each in enumerate(found) {{ named[f"out{{i}}"] = each }}
    io::save_npz(named, "{results}")
"""
ONE_GEMM = """\
import json, time, torch
torch.set_num_threads(int({threads}))
a, b = torch.randn(1536, 1536), torch.randn(1536, 1536)
big, other = torch.randn(32 << 20), torch.empty(32 << 20)
def least(f, n):
    best = 1e9
    for _ in range(n):
        begin = time.perf_counter(); f(); best = min(best, time.perf_counter() - begin)
    return best
print(json.dumps([1536**3 / least(lambda: a @ b, 20), 2 * big.nbytes / least(lambda: other.copy_(big), 10)]))
"""


class Failed(Exception):
    """A process failed; str() says which, and its last line."""


def run(arguments, **options):
    """Returns the output and the seconds of a process."""
    begin = time.perf_counter()
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    try:
        out, error = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Failed(f"{arguments[0]} took longer than {LONGEST} s") from None
    if process.returncode != 0:
        raise Failed(f"{pathlib.Path(arguments[0]).name} failed: {(error.strip() or out.strip())[-500:]}")
    return out, time.perf_counter() - begin


class Engine:
    """A process of engine.py that measures when it is told to."""

    def __init__(self, engine, case, batch, threads):
        self.name, self.kilobytes, self.times = engine, 0, []
        self.process = subprocess.Popen(
            [str(PYTHON), str(HERE / "engine.py"), engine, case, str(batch), str(threads), str(FOLDER)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ready = self.read()
        self.load, self.first = ready["load"], ready["first"]

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            _, error = self.process.communicate()
            raise Failed(f"{self.name}: {(error.strip().splitlines() or ['it ended'])[-1][:300]}")
        return json.loads(line)

    def turn(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        got = self.read()
        self.times += got["times"]
        self.kilobytes = got["kilobytes"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


class Boxcar:
    """Turns are processes: they load in milliseconds."""

    name = "boxcar"

    def __init__(self, case, batch, threads, details):
        self.threads, self.times, self.kilobytes = threads, [], 0
        self.stem = FOLDER / f"{case}.{batch}"
        self.arguments = details["arguments"]
        self.results = FOLDER / f"{case}.{batch}.boxcar.npz"
        self.results.unlink(missing_ok=True)
        empty = min(self.seconds("\n") for _ in range(LOADS))
        self.load = (min(self.seconds(f'import "{self.stem}.pt2" as m\n') for _ in range(LOADS)) - empty) * 1e3
        self.first = (self.seconds(self.script(least=0, seconds=-1, save="")) - empty) * 1e3 - self.load
        self.empty_kilobytes = self.memory("\n")

    def script(self, least, seconds, save):
        return DRIVER.format(archive=f"{self.stem}.pt2", inputs=f"{self.stem}.npz", arguments=self.arguments,
                             least=least, seconds=seconds, save=save)

    def command(self, text):
        path = FOLDER / "driver.ops"
        path.write_text(text)
        return [str(BOXCAR), "run", "--threads", str(self.threads), str(path)]

    def seconds(self, text):
        return run(self.command(text))[1]

    def memory(self, text):
        return peak_of(self.command(text))[1]

    def turn(self, seconds):
        save = "" if self.results.exists() else SAVE.format(results=self.results)
        out, kilobytes = peak_of(self.command(self.script(2, seconds, save)))
        self.times += [float(line) for line in out.split()]
        self.kilobytes = max(self.kilobytes, kilobytes - self.empty_kilobytes)

    def close(self):
        pass


def peak_of(command):
    """Returns the output and the peak memory, in KB, of a process."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 1)
        os.execv(command[0], command)
    os.close(write)
    with os.fdopen(read) as pipe:
        out = pipe.read()
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise Failed(f"boxcar failed; run {' '.join(command)}")
    return out, usage.ru_maxrss


def difference(case, batch, engine):
    """Returns the largest difference from PyTorch's results, relative to the largest value of each; None without them."""
    import numpy
    own, theirs = (FOLDER / f"{case}.{batch}.{name}.npz" for name in (engine, "torch"))
    if not own.exists() or not theirs.exists():
        return None
    own, theirs = numpy.load(own), numpy.load(theirs)
    if len(own.files) != len(theirs.files):
        return float("inf")
    worst = 0.0
    for name in theirs.files:
        a, b = own[name], theirs[name]
        if a.shape != b.shape:
            return float("inf")
        if b.size:
            worst = max(worst, float(numpy.abs(a - b).max() / max(numpy.abs(b).max(), 1e-30)))
    return worst


def measure(case, batch, threads, machine):
    details = json.loads((FOLDER / f"{case}.{batch}.json").read_text())
    row = {"model": case, "batch": batch, "threads": threads, "onnx": details["onnx"], "engines": {}, "failed": {}}
    engines = []
    wanted = ["torch"] + (["onnxruntime"] if not details["onnx"] else [])
    if (batch, threads) == (1, 1):
        wanted += ["compiled", "exported"]
    for name in ["boxcar", *wanted]:
        try:
            engines.append(Boxcar(case, batch, threads, details) if name == "boxcar" else Engine(name, case, batch, threads))
        except Failed as fault:
            row["failed"][name] = str(fault)
    for _ in range(TURNS):
        for engine in list(engines):
            try:
                engine.turn(SECONDS)
            except Failed as fault:
                row["failed"][engine.name] = str(fault)
                engines.remove(engine)
    for engine in engines:
        engine.close()
        row["engines"][engine.name] = {
            "median": statistics.median(engine.times), "least": min(engine.times), "load": engine.load,
            "first": engine.first, "kilobytes": engine.kilobytes,
            "difference": difference(case, batch, engine.name),
        }
    rate, bytes_rate = machine[str(threads)]
    row["bound"] = max(details["multiply_adds"] / rate, details["weights"] / bytes_rate) * 1e3
    return row


def processor():
    names = re.findall(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    wide = " with AVX-512" if " avx512f" in pathlib.Path("/proc/cpuinfo").read_text() else ""
    return (names[0].strip() if names else platform.machine()) + wide


def ratio(row, engine, key="median"):
    ours, theirs = row["engines"].get("boxcar"), row["engines"].get(engine)
    if ours is None or theirs is None or theirs[key] <= 0:
        return None
    return ours[key] / theirs[key]


def shown(value, digits=2):
    return "" if value is None else f"{value:.{digits}f}" if abs(value) < 100 else f"{value:.0f}"


def table(rows):
    lines = ["| model | batch | threads | boxcar ms | torch | compile | onnxruntime | bound | memory | load ms | to the "
             "first result |", "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |"]
    for row in rows:
        ours = row["engines"].get("boxcar")
        median = ours["median"] if ours else None
        first = None
        theirs = row["engines"].get("onnxruntime")
        if ours and theirs:
            first = (ours["load"] + ours["first"]) / (theirs["load"] + theirs["first"])
        cells = [row["model"], str(row["batch"]), str(row["threads"]), f"{median:.4g}" if median else "",
                 shown(ratio(row, "torch")), shown(ratio(row, "compiled")), shown(ratio(row, "onnxruntime")),
                 shown(median / row["bound"] if median else None), shown(ratio(row, "torch", "kilobytes")),
                 shown(ours["load"] if ours else None, 1), shown(first)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def problems(rows):
    for row in rows:
        where = f"{row['model']}, batch {row['batch']}, {row['threads']} threads"
        for engine, fault in row["failed"].items():
            yield f"{where}: {engine} failed: {fault}"
        for engine, result in row["engines"].items():
            if engine in ("boxcar", "onnxruntime") and (result["difference"] is None or result["difference"] > TOLERANCE):
                yield f"{where}: {engine}'s results differ from PyTorch's by {result['difference']} of the largest value"


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --models", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="*", help="models with such names: 'resnet*'")
    parser.add_argument("--batch", type=int, choices=BATCHES, help="only this batch")
    parser.add_argument("--threads", type=int, choices=THREADS, help="only this number of threads")
    parser.add_argument("--kernels", type=int, nargs="?", const=200, metavar="COUNT",
                        help="measure the COUNT (200) calls of operators that take most of these models' time instead")
    parser.add_argument("--shared", action="store_true", help="measure boxcar beside busy processes, and two models at once")
    parser.add_argument("--update-readme", action="store_true",
                        help="put the table into bench/README.md; with --kernels, into bench/model_kernels.md")
    options = parser.parse_args()
    text = (HERE / "cases.py").read_text()
    names = re.findall(r'(?:Case|vision)\("(\w+)"', text)
    chosen = [name for name in names if fnmatch.fnmatch(name, options.only)]
    if not chosen:
        sys.exit(f"there is no model '{options.only}'; the models are {', '.join(names)}")
    for case in chosen:
        run([str(PYTHON), str(HERE / "export.py"), str(FOLDER), case])
    if options.kernels is not None:
        import kernels  # needs PyTorch
        batches = BATCHES if options.batch is None else (options.batch,)
        kernels.measure([FOLDER / f"{case}.{batch}.pt2" for case in chosen for batch in batches], options.kernels,
                        options.update_readme)
        return 0
    if options.shared:
        parts = []
        for case in chosen:
            stem = FOLDER / f"{case}.{options.batch or 1}"
            parts.append(sharing.measure(stem, json.loads(stem.with_name(stem.name + ".json").read_text())["arguments"]))
            print(parts[-1] + "\n", flush=True)
        if options.update_readme:
            page.update({"sharing": "\n\n".join(parts) + "\n"})
        return 0
    machine = {str(n): json.loads(run([str(PYTHON), "-c", ONE_GEMM.format(threads=n)])[0]) for n in THREADS}
    rows = []
    for case in chosen:
        for batch in BATCHES if options.batch is None else (options.batch,):
            for threads in THREADS if options.threads is None else (options.threads,):
                rows.append(measure(case, batch, threads, machine))
                print(table(rows[-1:]).splitlines()[-1], flush=True)
    (FOLDER.parent / "models.json").write_text(json.dumps({"machine": machine, "rows": rows}, indent=1))
    print("\n" + table(rows))
    faults = list(problems(rows))
    for fault in faults:
        print(fault, file=sys.stderr)
    if options.update_readme:
        rates = ", ".join(f"{machine[str(n)][0] / 1e9:.0f} billion multiply-adds and {machine[str(n)][1] / 1e9:.1f} GB a "
                          f"second with {n} thread{'s' if n > 1 else ''}" for n in THREADS)
        page.update({"models": f"On {os.cpu_count()} cores of an {processor()}, which does {rates}.\n\n{table(rows)}\n"})
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as fault:
        sys.exit(f"./dev bench --models: {fault}")
