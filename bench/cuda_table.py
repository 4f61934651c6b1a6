"""Runs boxcar_cuda_bench and, if PyTorch is installed, the same work with PyTorch, and prints both as a table.

Usage: cuda_table.py BOXCAR_CUDA_BENCH
"""

import json
import subprocess
import sys
import time

ROUNDS = 20
REPEATS = 9
LARGE = 64 << 20  # of float32: 256 MB

# Targets: boxcar's time relative to PyTorch's, or to that of a copy that moves the same number of bytes.
AIMS = {
    "add of 2 elements, queued": "0.5",
    "1,000 operators of a script": "0.5",
    "the same as a CUDA graph": "0.1 (of PyTorch's 1,000)",
    "relu 256 MB": "copy's / 0.92",
    "sum 256 MB": "half the copy's / 0.92",
    "softmax 8192 x 8192": "0.9",
    "layer_norm 8192 x 8192": "0.9",
    "mm 8192 bfloat16": "1.0",
    "conv2d 3x3 bfloat16": "1.0",
    "attention 2048 bfloat16": "1.0",
}


def median(values):
    return sorted(values)[len(values) // 2]


def times_of_boxcar(program):
    """Returns {name: microseconds}."""
    command = [program, "--benchmark_format=json", f"--benchmark_repetitions={REPEATS}"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    runs = json.loads(output)["benchmarks"]
    return {run["run_name"].split("/")[0]: run["real_time"] for run in runs if run.get("aggregate_name") == "median"}


def times_of_torch():
    """Returns {name: microseconds} with the same names; None if PyTorch or its device is missing."""
    try:
        import torch
        import torch.nn.functional as F
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    torch.manual_seed(1)
    torch.set_grad_enabled(False)

    def random(*sizes, dtype=torch.float32):
        return torch.randn(sizes, device="cuda").to(dtype)

    def whole(call, rounds=ROUNDS):
        for _ in range(3):
            call()
        torch.cuda.synchronize()
        found = []
        for _ in range(REPEATS):
            begin = time.perf_counter()
            for _ in range(rounds):
                call()
            torch.cuda.synchronize()
            found.append((time.perf_counter() - begin) / rounds * 1e6)
        return median(found)

    def queued(call, calls=500):
        found = []
        for _ in range(REPEATS + 1):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(calls):
                call()
            found.append((time.perf_counter() - begin) / calls * 1e6)
        return median(found[1:])

    def chain():
        y = random(8, 64)
        for _ in range(500):
            y = (y * 1.001).relu()

    half = torch.bfloat16
    times = {}
    a, b = random(2), random(2)
    times["add of 2 elements, queued"] = queued(lambda: a + b)
    times["1,000 operators of a script"] = times["the same as a CUDA graph"] = whole(chain, 1)
    x, y = random(LARGE), random(LARGE)
    times["copy 256 MB"] = whole(lambda: y.copy_(x))
    times["relu 256 MB"] = whole(lambda: torch.clamp_min(x, 0, out=y))
    times["sum 256 MB"] = whole(lambda: x.sum())
    del x, y
    m, w, v = random(8192, 8192), random(8192), random(8192)
    times["softmax 8192 x 8192"] = whole(lambda: m.softmax(1))
    times["layer_norm 8192 x 8192"] = whole(lambda: F.layer_norm(m, (8192,), w, v))
    p, q = random(8192, 8192, dtype=half), random(8192, 8192, dtype=half)
    times["mm 8192 bfloat16"] = whole(lambda: p @ q)
    image, kernel = random(32, 256, 56, 56, dtype=half), random(256, 256, 3, 3, dtype=half)
    times["conv2d 3x3 bfloat16"] = whole(lambda: F.conv2d(image, kernel, padding=1))
    heads = random(4, 16, 2048, 64, dtype=half)
    times["attention 2048 bfloat16"] = whole(lambda: F.scaled_dot_product_attention(heads, heads, heads))
    line = random(16 << 20)
    times["sort 16M float32"] = whole(lambda: line.sort())
    times["cumsum 16M float32"] = whole(lambda: line.cumsum(0))
    return times


def main():
    boxcar = times_of_boxcar(sys.argv[1])
    torch = times_of_torch()
    if torch is None:
        print("PyTorch with CUDA was not found: measuring only boxcar", file=sys.stderr)
    print("| | boxcar, µs | PyTorch, µs | ratio | aim |")
    print("|---|---|---|---|---|")
    for name, ours in boxcar.items():
        theirs = torch[name] if torch is not None else None
        shown = f"{theirs:.2f} | {ours / theirs:.2f}" if theirs is not None else " | "
        print(f"| {name} | {ours:.2f} | {shown} | {AIMS.get(name, '')} |")


if __name__ == "__main__":
    main()
