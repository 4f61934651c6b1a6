"""Runs boxcar_cuda_bench and, if PyTorch is installed, the same work with PyTorch, and prints both as a table.

Usage: cuda_table.py BOXCAR_CUDA_BENCH

The table's bound is the least time of a row: that of its bytes, by the bandwidth of the row that copies, or that of its
multiplications and additions, by the largest rate of the device's tensor cores.
"""

import json
import pathlib
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
    "the same as a CUDA graph": "0.1",
    "relu 256 MB": "copy's / 0.92",
    "sum 256 MB": "half the copy's / 0.92",
    "softmax 8192 x 8192": "0.9",
    "layer_norm 8192 x 8192": "0.9",
    "mm 8192 bfloat16": "1.0",
    "conv2d 3x3 bfloat16": "1.0",
    "attention 2048 bfloat16": "1.0",
    "ResNet-50, batch 1": "0.8",
    "ResNet-50, batch 64": "1.0",
    "GPT of 12 layers, a prompt of 1,024": "1.0",
    "GPT of 12 layers, a token after 512": "0.8",
}
MODELS = pathlib.Path(__file__).parent / "models"
GRAPH = ", as a CUDA graph"
CHAIN_GRAPH = "the same as a CUDA graph"
COPY = "copy 256 MB"

# What the rows move at least, in bytes, and compute, in operations of bfloat16.
MB = 1 << 20
GPT_WEIGHTS = 12 * 12 * 768 * 768  # without those of the words
WORK = {
    COPY: (512 * MB, 0),
    "relu 256 MB": (512 * MB, 0),
    "sum 256 MB": (256 * MB, 0),
    "softmax 8192 x 8192": (512 * MB, 0),
    "layer_norm 8192 x 8192": (512 * MB, 0),
    "mm 8192 bfloat16": (3 * 128 * MB, 2 * 8192**3),
    "conv2d 3x3 bfloat16": (2 * 49 * MB, 2 * 32 * 56 * 56 * 256 * 256 * 9),
    "attention 2048 bfloat16": (4 * 16 * MB, 4 * 4 * 16 * 2048 * 2048 * 64),
    "sort 16M float32": (4 * 64 * MB, 0),
    "cumsum 16M float32": (2 * 64 * MB, 0),
    "ResNet-50, batch 1": (2 * 25_557_032, 8.2e9),
    "ResNet-50, batch 64": (2 * 25_557_032, 64 * 8.2e9),
    "GPT of 12 layers, a prompt of 1,024": (2 * (GPT_WEIGHTS + 50257 * 768), 2 * 1024 * GPT_WEIGHTS),
    "GPT of 12 layers, a token after 512": (2 * (GPT_WEIGHTS + 50257 * 768), 0),
}
# Operations of bfloat16 that a multiprocessor's tensor cores do in a cycle, without sparsity, by compute capability.
OPERATIONS_A_CYCLE = {(8, 0): 2048, (9, 0): 4096, (10, 0): 8192}


def largest_rate(torch):
    """Returns the operations of bfloat16 that the device does in a microsecond at most; None if that is unknown."""
    properties = torch.cuda.get_device_properties(0)
    operations = OPERATIONS_A_CYCLE.get((properties.major, properties.minor))
    query = ["nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits", "--id=0"]
    megahertz = float(subprocess.run(query, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return operations and operations * properties.multi_processor_count * megahertz


def bound_of(name, copy_time, rate):
    """Returns the least microseconds of a row as text; nothing if they are unknown."""
    moved, computed = WORK.get(name.removesuffix(GRAPH), (0, 0))
    times = [moved / (WORK[COPY][0] / copy_time)] if moved else []
    if computed and rate:
        times.append(computed / rate)
    return f"{max(times):.1f}" if times else ""


def median(values):
    return sorted(values)[len(values) // 2]


def times_of_boxcar(program):
    """Returns {name: microseconds}."""
    command = [program, str(MODELS), "--benchmark_format=json", f"--benchmark_repetitions={REPEATS}"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    runs = json.loads(output)["benchmarks"]
    return {run["run_name"].partition("/iterations")[0]: run["real_time"] for run in runs if run.get("aggregate_name") == "median"}


def torch_with_device():
    """Returns the module torch; None if PyTorch or its device is missing."""
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def times_of_torch(torch):
    """Returns {name: microseconds} with the same names; for rows of CUDA graphs, those of PyTorch's own graphs."""
    sys.path.insert(0, str(MODELS))
    import twins

    F = torch.nn.functional
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

    def graph_of(call):
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):  # as torch.cuda.graph asks for
            call()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call()
        return graph

    start = random(8, 64)

    def chain():
        y = start
        for _ in range(500):
            y = (y * 1.001).relu()

    half = torch.bfloat16
    times = {}
    a, b = random(2), random(2)
    times["add of 2 elements, queued"] = queued(lambda: a + b)
    times["an empty kernel, queued"] = queued(lambda: torch.cuda._sleep(0))
    times["1,000 operators of a script"] = whole(chain, 1)
    times[CHAIN_GRAPH] = whole(graph_of(chain).replay, 1)
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
    models = {f"ResNet-50, batch {batch}": twins.resnet50(batch, half, "cuda") for batch in (1, 64)}
    models["GPT of 12 layers, a prompt of 1,024"] = twins.gpt(1024, 0, half, "cuda")
    models["GPT of 12 layers, a token after 512"] = twins.gpt(1, 512, half, "cuda")
    for name, model in models.items():
        times[name] = whole(model, 10)
        times[name + GRAPH] = whole(graph_of(model).replay, 10)
    return times


def main():
    boxcar = times_of_boxcar(sys.argv[1])
    torch = torch_with_device()
    theirs = {}
    rate = None
    if torch is None:
        print("PyTorch with CUDA was not found: measuring only boxcar", file=sys.stderr)
    else:
        theirs = times_of_torch(torch)
        rate = largest_rate(torch)
        print(f"PyTorch {torch.__version__}\n")
    # Graphs are compared with PyTorch's eager calls, and beside them stand PyTorch's own graphs.
    print("| | bound, µs | boxcar, µs | PyTorch, µs | ratio | aim | PyTorch's graph, µs |")
    print("|---|---|---|---|---|---|---|")
    for name, ours in boxcar.items():
        eager = "1,000 operators of a script" if name == CHAIN_GRAPH else name.removesuffix(GRAPH)
        other = theirs.get(eager)
        own_graph = theirs.get(name) if eager != name else None
        cells = [name, bound_of(name, boxcar[COPY], rate), f"{ours:.2f}", f"{other:.2f}" if other else "",
                 f"{ours / other:.2f}" if other else "", AIMS.get(name, ""), f"{own_graph:.2f}" if own_graph else ""]
        print(f"| {' | '.join(cells)} |")
    if theirs:
        print(f"| an empty kernel, queued | | | {theirs['an empty kernel, queued']:.2f} | | | |")


if __name__ == "__main__":
    main()
