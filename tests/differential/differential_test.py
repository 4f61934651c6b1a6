#!/usr/bin/env python3
"""Runs random programs with boxcar and with Python, and compares their output and where they fail."""

import argparse
import sys
import tempfile
import time
import warnings

import python_side
from boxcar_side import Boxcar, difference, pythonOutcome
from programs import makeProgram
from reduction import reduced
from tree import Lines

kBatch = 150
# Programs end where they fail, so too many failing programs would test little.
kShareOfFailures = 0.2


def seedOf(seed, number):
    return seed * 1_000_000_000 + number


def textOf(program):
    lines = Lines()
    lines.program(program)
    return "\n".join(lines.ops)


class Comparison:
    def __init__(self, boxcar, seed):
        self.boxcar, self.seed = boxcar, seed
        self.number = 0  # of the next program
        self.compared = self.failures = self.discarded = 0

    def nextProgram(self):
        """Returns the next program to compare: (number, program, Python's outcome)."""
        while True:
            number = self.number
            self.number += 1
            program = makeProgram(seedOf(self.seed, number))
            try:
                outcome = pythonOutcome(program)
            except python_side.Discarded:
                self.discarded += 1
                continue
            if outcome.kind == "failed":
                if self.failures > kShareOfFailures * (self.compared + 1):
                    continue
                self.failures += 1
            self.compared += 1
            return number, program, outcome

    def differing(self, count):
        """Compares [count] programs; yields (number, program) of those that differ."""
        while count > 0:
            batch = [self.nextProgram() for _ in range(min(count, kBatch))]
            count -= len(batch)
            together = [(number, program) for number, program, wanted in batch if wanted.kind == "ok"]
            outcomes = self.boxcar.runTogether(together)
            for number, program, wanted in batch:
                found = outcomes[number] if wanted.kind == "ok" else self.boxcar.run(program)
                kind = difference(wanted, found)
                if kind:
                    yield number, program, found

    def report(self, number, program, found):
        """Reduces a program as far as possible and prints how it differs."""
        wanted = pythonOutcome(program)
        alone = self.boxcar.run(program)
        kind = difference(wanted, alone)
        print(f"--- seed {self.seed}, program {number}: boxcar {kind or 'differs, but only beside other programs'}")
        if kind is None:
            print(
                textOf(program),
                "--- Python prints:",
                wanted.output,
                f"--- boxcar prints ({found.kind} {found.message}):",
                found.output,
                sep="\n",
            )
            return

        def stillDiffers(smaller):
            try:
                return difference(pythonOutcome(smaller), self.boxcar.run(smaller)) == kind
            except (python_side.Discarded, NameError, SyntaxError, IndexError):
                return False  # no longer a program, or not comparable

        small = reduced(program, stillDiffers)
        wanted, found = pythonOutcome(small), self.boxcar.run(small)
        print(textOf(small))
        for who, outcome in (("Python", wanted), ("boxcar", found)):
            ending = f" and fails in line {outcome.line}: {outcome.message}" if outcome.kind != "ok" else ""
            print(f"--- {who} prints{ending}:", outcome.output, sep="\n", end="")
        print()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boxcar", required=True, help="the program boxcar")
    parser.add_argument("--count", type=int, default=400, help="how many programs to compare")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", type=int, help="compare this program of the seed only")
    parser.add_argument("--differences", type=int, default=1, help="stop after so many")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    warnings.simplefilter("ignore", SyntaxWarning)  # `5 is None`
    began = time.monotonic()
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(Boxcar(arguments.boxcar, folder), arguments.seed)
        if arguments.program is not None:
            comparison.number = arguments.program
            arguments.count = 1
        for number, program, outcome in comparison.differing(arguments.count):
            comparison.report(number, program, outcome)
            sys.stdout.flush()
            found += 1
            if found >= arguments.differences:
                break
    seconds = time.monotonic() - began
    print(
        f"{comparison.compared} programs of seed {arguments.seed} compared, of which {comparison.failures} fail; "
        f"{comparison.discarded} discarded; {found} differ; {seconds:.1f} s"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
