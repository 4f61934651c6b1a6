"""Compares operators with what PyTorch answers to its own samples; `./dev opinfo` calls it.

Records the samples of torch.testing._internal (OpInfo) as cases in build/opinfo, lets numerics_tests repeat them, and
prints a table of operators: missing, and differing with the reason that opinfo_reasons.txt gives. Needs PyTorch 2.15.
"""

import argparse
import collections
import concurrent.futures
import concurrent.futures.process
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE)]
sys.dont_write_bytecode = True

import generate  # noqa: E402
from generator import opinfo, store  # noqa: E402
from generator.schemas import Operators  # noqa: E402

CHUNKS = 40
LARGEST_KEPT = 512  # elements of a case
REASONS = HERE / "opinfo_reasons.txt"
FAILURES = re.compile(r"^  (aten::\S+)\s+(\d+) of\s+(\d+) cases", re.MULTILINE)
TOTALS = re.compile(r"^(\d+) of (\d+) cases pass", re.MULTILINE)


def infos_of(pattern):
    from torch.testing._internal.common_methods_invocations import op_db
    return [info for info in op_db if pattern is None or pattern in info.name]


def record_chunk(number, chunks, folder, options, crashing):
    """Writes the cases of every [chunks]th function; returns the counts of calls and of those that boxcar lacks."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with open(folder / f"{number}.running", "w") as file:
        def running(place):
            file.seek(0)
            file.write(place.ljust(200))
            file.flush()
        made = opinfo.record(infos_of(options.only)[number::chunks], Operators(), options.seed, options.limit, running,
                             crashing)
    generate.write_family(folder / f"{number:02}.safetensors", made.cases, made.elements, {})
    return made.calls, made.missing


def record(folder, options):
    """Records all chunks, each in a process of its own, since PyTorch crashes in some calls."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.safetensors"):
        old.unlink()
    chunks = min(CHUNKS, max(1, len(infos_of(options.only))))

    def make(number):
        crashing = set()
        while True:
            with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as process:
                try:
                    return process.submit(record_chunk, number, chunks, folder, options, crashing).result(), crashing
                except concurrent.futures.process.BrokenProcessPool:
                    place = (folder / f"{number}.running").read_text().strip()
                    if place in crashing:
                        raise
                    crashing.add(place)

    calls, missing = collections.Counter(), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as threads:
        for done, ((made_calls, made_missing), crashing) in enumerate(threads.map(make, range(chunks)), 1):
            calls.update(made_calls)
            missing.update(made_missing)
            for place in sorted(crashing):
                print(f"PyTorch crashes at {place}", file=sys.stderr)
            print(f"{done} of {chunks} parts recorded", file=sys.stderr, flush=True)
    for left in folder.glob("*.running"):
        left.unlink()
    (folder / "calls.json").write_text(json.dumps({"calls": calls, "missing": missing}))


def write_sample(folder):
    """Keeps the smallest case of each operator, and the smallest that is refused, in tests/numerics/data."""
    reasons = read_reasons()
    best = {}
    for path in sorted(folder.glob("*.safetensors")):
        cases, elements = store.read(path)
        for case in cases:
            size = generate.size_of(case)
            if case["op"] in reasons or not case.get("values", True) or size > LARGEST_KEPT:
                continue
            key = (case["op"], "err" in case)
            cost = (size == 0, size, path.name)
            if key not in best or cost < best[key][0]:
                best[key] = (cost, case, elements)
    target = store.Elements()
    kept = [generate.Repacked(elements, target).case(case) for _, (_, case, elements) in sorted(best.items())]
    generate.write_family(HERE / "data" / "opinfo.safetensors", kept, target, {})
    print(f"{len(kept)} of the cases are kept in tests/numerics/data", file=sys.stderr)


def read_reasons():
    """Returns {operator: reason} of opinfo_reasons.txt, with lines such as `aten::sinc  it is rounded once`."""
    lines = [line for line in REASONS.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split(maxsplit=1) for line in lines)


def replay(folder, options):
    """Prints the table; returns whether each difference and each missing operator has its reason."""
    counts = json.loads((folder / "calls.json").read_text())
    command = [options.program, "--files", folder, "--ways", "boxed,gradients", "--max-failures", str(options.max_failures),
               "--jobs", str(options.jobs)]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, errors="replace").stdout
    (folder / "replay.log").write_text(output)
    crashed = {line.split()[1] for line in output.splitlines() if line.startswith("CRASH ")}
    reasons = read_reasons()
    passed, total = map(int, TOTALS.search(output).groups())
    differing = {name: (int(failed), int(all_of)) for name, failed, all_of in FAILURES.findall(output)}
    unexplained = [name for name in (*differing, *counts["missing"]) if name not in reasons or name in crashed]
    print(f"{sum(counts['calls'].values())} calls of {len(counts['calls'])} operators, {total} of them different and kept: "
          f"{passed} are answered as PyTorch answers them.")
    print(f"{len(counts['missing'])} operators are missing, {len(differing)} differ, {len(crashed)} crash.\n")
    print("| operator | calls | |")
    print("|---|---|---|")
    for name, count in sorted(counts["missing"].items()):
        print(f"| {name} | {count} | missing: {reasons.get(name, '**no reason**')} |")
    for name, (failed, all_of) in sorted(differing.items()):
        reason = "**crashes**" if name in crashed else reasons.get(name, "**differs, and has no reason**")
        print(f"| {name} | {failed} of {all_of} | {reason} |")
    if not options.only and options.seed == 1:
        for name in sorted(set(reasons) - set(differing) - set(counts["missing"])):
            print(f"{REASONS.name} has a reason for {name}, which does not differ with this seed", file=sys.stderr)
    return not unexplained


def main():
    parser = argparse.ArgumentParser(prog="./dev opinfo", description=__doc__.split("\n")[0])
    parser.add_argument("--only", help="only PyTorch's functions with this text in their names")
    parser.add_argument("--seed", type=int, default=1, help="of the samples' random numbers (1)")
    parser.add_argument("--limit", type=int, default=40,
                        help="of each operator and dtype in a part, keep at most so many different calls (40)")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count(), help="processes at a time")
    parser.add_argument("--max-failures", type=int, default=3, help="how many differences of an operator replay.log has")
    parser.add_argument("--replay", action="store_true", help="repeat what was recorded before")
    parser.add_argument("--update-sample", action="store_true", help="keep a part in tests/numerics/data")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "opinfo", help="where the files go")
    parser.add_argument("--program", default=ROOT / "build" / "release" / "numerics_tests", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.replay:
        record(options.out, options)
    if options.update_sample:
        write_sample(options.out)
    return 0 if replay(options.out, options) else 1


if __name__ == "__main__":
    sys.exit(main())
