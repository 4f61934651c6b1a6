"""Measures the training of networks beside libtorch, in turns: `training.py BOXCAR_TRAINING TORCH_TRAINING`.

bench/report.py adds what measure() returns to its results. As a program, it prints the ratios: of one row, too, and
with `--count` the instructions.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

# Measure, row of program.h, threads, and whether a second thread waits. Networks are measured with two threads, too.
ROWS = [
    ("mul_that_requires_grad", "mul", 1, False),
    ("backward_of_a_node", "backward", 1, False),
    ("backward_of_a_node_beside_a_thread", "backward", 1, True),
    ("train_linear_8x8", "linear", 1, False),
    *[(f"train_{net}{suffix}", net, threads, False) for net in ("mlp", "conv", "transformer") for threads, suffix in ((1, ""), (2, "_2_threads"))],
]
NETS = ("mlp", "conv", "transformer")
COUNTED = {"mul": "instructions/mul_that_requires_grad", "backward": "instructions/backward_of_a_node"}
TURNS = 15


class Running:
    """A measuring program that waits for its turn."""

    def __init__(self, command):
        self.command = [str(word) for word in command]
        # Threads that spin while they wait, as libgomp's do, would take the processor from others on a shared machine.
        environment = dict(os.environ, OMP_WAIT_POLICY="passive")
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self.command)} failed ({self.process.wait()})")
        return line.strip()

    def turn(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.answer())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def times(programs, row, threads, has_second, turns=TURNS):
    """Returns {who: measurement} of a row; the programs take turns."""
    arguments = ["time", row, threads, *(["idle"] if has_second else [])]
    running = {who: Running([program, *arguments]) for who, program in programs.items()}
    taken = {who: [] for who in running}
    for _ in range(turns):
        for who, each in running.items():
            taken[who].append(each.turn())
    for each in running.values():
        each.end()
    return {who: {"median": statistics.median(all_), "low": min(all_), "high": max(all_)} for who, all_ in taken.items()}


def memory(programs, row):
    """Returns {who: measurement} of the bytes that a forward pass leaves for the backward pass."""
    kept = {}
    for who, program in programs.items():
        done = subprocess.run([str(program), "memory", row], stdout=subprocess.PIPE, text=True, check=True)
        count = int(done.stdout.split()[0])
        kept[who] = {"median": count, "low": count, "high": count}
    return kept


def instructions(program, row, folder):
    """Returns the instructions of a part of the row, which callgrind counts."""
    out = pathlib.Path(folder) / f"training.callgrind.{row}"
    for old in out.parent.glob(out.name + "*"):
        old.unlink()
    done = subprocess.run(["valgrind", "--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no", f"--callgrind-out-file={out}",
                           str(program), "count", row], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    dump = pathlib.Path(f"{out}.1")
    total = re.search(r"^totals: (\d+)", dump.read_text() if dump.exists() else "", re.M)
    if done.returncode != 0 or not total:
        raise RuntimeError(f"{program} under callgrind failed ({done.returncode}): {done.stderr[-500:]}")
    count = round(int(total[1]) / int(done.stdout))
    return {"median": count, "low": count, "high": count}


def measure(programs, turns=TURNS):
    """Returns {measure: {who: measurement}} of times and bytes; [programs] are those of "boxcar" and of its peer."""
    results = {measure: times(programs, row, threads, has_second, turns) for measure, row, threads, has_second in ROWS}
    results.update({f"bytes/saved_by_{net}": memory(programs, net) for net in NETS})
    return results


def count(programs, folder):
    return {measure: {who: instructions(program, row, folder) for who, program in programs.items()} for row, measure in COUNTED.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("boxcar", type=pathlib.Path)
    parser.add_argument("torch", type=pathlib.Path)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--count", action="store_true", help="count instructions, by callgrind, instead")
    options = parser.parse_args()
    programs = {"boxcar": options.boxcar.resolve(), "libtorch": options.torch.resolve()}

    def show(measure, by):
        own, peer = by["boxcar"], by["libtorch"]
        spread = sum((figure["high"] - figure["low"]) / 2 / figure["median"] for figure in by.values())
        print(f"{measure:40} {own['median']:14,.1f} {peer['median']:14,.1f}   {own['median'] / peer['median']:.3f} ±{100 * spread:.0f} %"
              f"   of the quickest {own['low'] / peer['low']:.3f}", flush=True)

    if options.count:
        with tempfile.TemporaryDirectory() as folder:
            for measure, by in count(programs, folder).items():
                show(measure, by)
        return
    for measure, row, threads, has_second in ROWS:
        if options.only in measure:
            show(measure, times(programs, row, threads, has_second, options.turns))
    for net in NETS:
        if options.only in f"saved_by_{net}":
            show(f"bytes/saved_by_{net}", memory(programs, net))


if __name__ == "__main__":
    sys.exit(main())
