"""Makes the table of sizes in bench/README.md, as measured by the tests that check them."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measured  # noqa: E402
import report  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests" / "cost"


def found(pattern, text):
    """Returns the numbers in the only line of a test's [text] that matches [pattern]."""
    match = re.search(pattern, text, re.M)
    if not match:
        raise measured.Malformed(f"a test of tests/cost printed no line like '{pattern}': {text}")
    return [float(number) for number in match.groups()]


def table(sizes, start, peak):
    """Returns the Markdown table of the output of the tests size, start_cost and peak_memory."""
    (program,), (library,) = found(r"^boxcar: (\d+) bytes", sizes), found(r"^libboxcar.so: (\d+) bytes", sizes)
    both, most = found(r"^together: (\d+) bytes \(at most (\d+)\)", sizes)
    initialisation, most_of_it = found(r"^static initialisation: (\d+) instructions \(at most (\d+)\)", start)
    empty, most_of_empty = found(r"empty script: (\d+) instructions \(at most (\d+)\)", start)
    digits, most_of_digits = found(r"^at most ([\d.]+) MB in memory at once \(([\d.]+) are allowed\)", peak)
    rows = [
        ("`libboxcar.so` without CUDA, stripped", f"{library / 1e6:.2f} MB", "", ""),
        ("`boxcar`, stripped", f"{program / 1e6:.2f} MB", "", ""),
        ("both together", f"{both / 1e6:.2f} MB", f"{most / 1e6:g} MB", "`size`"),
        ("static initialisation, what programs pay before `main`", f"{initialisation / 1e3:.0f} thousand instructions",
         f"{most_of_it / 1e3:.0f} thousand", "`start_cost`"),
        ("`boxcar run` of an empty script", f"{empty / 1e6:.1f} million instructions", f"{most_of_empty / 1e6:.0f} million", "`start_cost`"),
        ("peak memory of `scripts/digits.ops`", f"{digits:.1f} MB", f"{most_of_digits:g} MB", "`peak_memory`"),
    ]
    head = ["| | | at most | held by the test |", "|---|---|---|---|"]
    return "\n".join(head + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def bounds():
    """Returns the limits that the build passes to the tests size and peak_memory: bytes, and MB."""
    text = (ROOT / "tests" / "CMakeLists.txt").read_text()
    return found(r"size_test\.sh (\d+) ", text)[0], found(r"peak_memory_test\.py (\d+) ", text)[0]


def part(build):
    """Returns the table of the programs in the folder [build]."""
    bytes_at_most, megabytes_at_most = bounds()
    program = build / "boxcar"
    sizes = report.run([TESTS / "size_test.sh", f"{bytes_at_most:.0f}", program, build / "libboxcar.so"])
    start = report.run([TESTS / "start_cost_test.sh", build / "empty_program", program])
    peak = report.run([sys.executable, TESTS / "peak_memory_test.py", f"{megabytes_at_most:g}", program, "run", ROOT / "scripts" / "digits.ops"])
    return table(sizes, start, peak)
