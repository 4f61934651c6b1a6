"""Measures a model whose cores are shared with others; `./dev bench --models --shared` calls it.

The model alone, two of it in one process at once, and beside processes that keep each core busy, with one thread and with
as many as there are cores, in turns. Prints the medians, and their ratios to the same with one thread.
"""

import os
import pathlib
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = ROOT / "build" / "release" / "boxcar_sharing"
TURNS, SECONDS = 5, 2.0
BUSY = "while True: pass"
ENVIRONMENT = {"GOMP_SPINCOUNT": "2000", **os.environ}  # as the program sets it for itself

SCRIPT = """\
import "{archive}" as m
const ins = io::load("{inputs}")
fn forward() -> Any {{
    with inference_mode() {{ return m.forward({arguments}) }}
}}
"""


def times(script, threads, models):
    output = subprocess.run([str(PROGRAM), str(script), str(threads), str(models), str(SECONDS)], check=True,
                            capture_output=True, text=True, env=ENVIRONMENT).stdout
    return [float(line) for line in output.split()]


def measure(stem, arguments):
    """Prints the table of the model that export.py wrote to [stem].pt2."""
    script = stem.with_name("sharing.ops")
    script.write_text(SCRIPT.format(archive=f"{stem}.pt2", inputs=f"{stem}.npz", arguments=arguments))
    cores = os.cpu_count() or 1
    setups = {"alone": (1, 0), "two models in one process": (2, 0), "beside a busy process a core": (1, cores)}
    found = {(setup, threads): [] for setup in setups for threads in (1, cores)}
    for _ in range(TURNS):
        for setup, (models, others) in setups.items():
            busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(others)]
            try:
                for threads in (1, cores):
                    found[setup, threads] += times(script, threads, models)
            finally:
                for process in busy:
                    process.kill()
                    process.wait()
    lines = [f"| {stem.name.rsplit('.', 1)[0]} | one thread, ms | {cores} threads, ms | ratio |", "| --- | --: | --: | --: |"]
    for setup in setups:
        one, many = (statistics.median(found[setup, threads]) for threads in (1, cores))
        lines.append(f"| {setup} | {one:.4g} | {many:.4g} | {many / one:.2f} |")
    return "\n".join(lines)
