"""Checks that device code contains what nvcc has left out silently before, which a simulated device does not show.

The operators of std::complex compile to nothing (functors/complex_functions.h has replacements). A requires-expression
in a kernel was taken for false, and with it the test for a division by zero.
Usage: device_code_test.py NVCC KERNELS GENERATED_KERNELS [OPTION ...]
"""

import pathlib
import re
import subprocess
import sys
import tempfile

nvcc, *folders = sys.argv[1:4]
options = sys.argv[4:]
ARITHMETIC = re.compile(r"\b(?:add|sub|mul|fma|div)\.(?:[a-z]+\.)*f(?:32|64)")
# Words in the names of kernels that compare and do not compute.
COMPARES = ("CountNonzero",)
# Kernels that refuse a divisor of zero, by the letters of the integer types; they note it behind a fence.
DIVIDES = re.compile(r"(?:DivTrunc|FloorDivide|Remainder|Fmod)I[hasil]E")
FENCE = re.compile(r"\b(?:membar|fence)\.")

failed = False
with tempfile.TemporaryDirectory() as folder:
    for name in ("pointwise_arithmetic", "reduce_sums", "reduce_moments", "sequence"):
        code = pathlib.Path(folder, name + ".ptx")
        source = next(path for path in (pathlib.Path(place, name + ".cu") for place in folders) if path.exists())
        subprocess.run([nvcc, "-std=c++20", "-O3", "-ptx", *options, "-x", "cu", source, "-o", code], check=True)
        entries = re.split(r"\.entry ", code.read_text())[1:]
        of_complex = [entry for entry in entries if "complex" in entry.partition("(")[0]]
        lacking = [
            entry.partition("(")[0]
            for entry in of_complex
            if not ARITHMETIC.search(entry) and not any(word in entry.partition("(")[0] for word in COMPARES)
        ]
        print(f"{name}: {len(of_complex)} kernels of complex numbers")
        for entry in lacking:
            print(f"  no arithmetic in {entry}")
        failed = failed or bool(lacking) or not of_complex
        if name != "pointwise_arithmetic":
            continue
        dividing = [entry for entry in entries if DIVIDES.search(entry.partition("(")[0])]
        heedless = [entry.partition("(")[0] for entry in dividing if not FENCE.search(entry)]
        print(f"{name}: {len(dividing)} kernels that divide integers")
        for entry in heedless:
            print(f"  no test of the divisor in {entry}")
        failed = failed or bool(heedless) or not dividing
sys.exit(failed)
