"""Measures the operators of whole models beside PyTorch, shape by shape; `./dev bench --models --kernels` calls it.

From the programs that export.py wrote come all calls that compute something, each with its shapes once. Those that take
most of a model's time in PyTorch are measured: PyTorch calls the operator, boxcar a program of that one operator, imported
and prepared as models are, in turns. Writes build/bench/model_kernels.json and bench/model_kernels.md.
"""

import collections
import json
import pathlib
import statistics
import subprocess
import sys
import time
import warnings

sys.dont_write_bytecode = True
warnings.filterwarnings("ignore")

import numpy  # noqa: E402
import torch  # noqa: E402
from torch.utils._pytree import tree_flatten, tree_unflatten  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODELS = ROOT / "build" / "bench" / "models"
FOLDER = ROOT / "build" / "bench" / "model_kernels"
PAGE = ROOT / "bench" / "model_kernels.md"
BOXCAR = ROOT / "build" / "release" / "boxcar"
TURNS, SECONDS, LEAST = 3, 0.05, 2
# In prepared models these get and give images in channels_last.
OF_IMAGES = ("conv2d", "batch_norm", "max_pool2d", "adaptive_avg_pool2d", "avg_pool2d")

DRIVER = """\
import "{archive}" as m
{arguments}
with inference_mode() {{
    result = m.forward({names})
    begin = clock()
    count = 0
    while count < {least} or clock() - begin < {seconds} {{
        start = clock()
        result = m.forward({names})
        print((clock() - start) * 1000000)
        count += 1
    }}
}}
"""


class One(torch.nn.Module):
    """A call of an operator: a leaf of [arguments] is a tensor's place among the inputs, a weight's name, or a constant."""

    def __init__(self, operator, leaves, spec, weights):
        super().__init__()
        self.operator, self.leaves, self.spec = operator, leaves, spec
        for name, weight in weights.items():
            self.register_buffer(name, weight)

    def forward(self, *tensors):
        args, kwargs = tree_unflatten(
            [tensors[leaf.place] if isinstance(leaf, Input) else getattr(self, leaf.name) if isinstance(leaf, Weight)
             else leaf for leaf in self.leaves], self.spec)
        result = self.operator(*args, **kwargs)
        return result if isinstance(result, (list, tuple)) else (result,)


class Input:
    def __init__(self, place):
        self.place = place


class Weight:
    def __init__(self, name):
        self.name = name


class Unsuitable(Exception):
    """A call that is not measured."""


def order_of(value):
    """Returns the order of dimensions in which a tensor's elements lie without gaps."""
    order = sorted(range(value.dim()), key=lambda d: (-value.stride(d), d))
    expected = 1
    for dim in reversed(order):
        if value.shape[dim] != 1:
            if value.stride(dim) != expected:
                raise Unsuitable("it has gaps")
            expected *= value.shape[dim]
    return order


def made(value, operator, place):
    """Returns a tensor like [value], with numbers that the operator can take."""
    order = order_of(value)
    shape = [value.shape[d] for d in order]
    if value.dtype.is_floating_point:
        data = torch.randn(shape, dtype=value.dtype)
        if "batch_norm" in operator and place == 4:
            data = data.abs() + 0.5  # a variance
    elif value.dtype == torch.bool:
        data = torch.rand(shape) < 0.5 if "where" in operator or "masked" in operator else torch.ones(shape, dtype=torch.bool)
    elif "embedding" in operator or "index_select" in operator:
        data = torch.randint(0, 2, shape, dtype=value.dtype)
    else:
        raise Unsuitable("its integers may be anything")
    return data.permute([order.index(d) for d in range(value.dim())])


def computes(node):
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    if not node.target.name().startswith("aten::") or not isinstance(node.meta.get("val"), (torch.Tensor, tuple, list)):
        return False
    returns = node.target._schema.returns
    is_view = any(each.alias_info is not None and not each.alias_info.is_write for each in returns)
    return not is_view and "dropout" not in node.target.name()


def text_of(value):
    if isinstance(value, torch.fx.Node):
        value = value.meta["val"]
    if isinstance(value, torch.Tensor):
        return "×".join(map(str, value.shape)) or "a number"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(text_of, value)) + "]"
    return str(value).removeprefix("torch.")


def arguments_text(node):
    return ", ".join([text_of(each) for each in node.args] + [f"{name}={text_of(each)}" for name, each in node.kwargs.items()])


def calls_of(archive):
    """Returns the calls of an archive by what tells them apart: how often, the operator, and its arguments."""
    program = torch.export.load(archive)
    weights = {**program.graph_signature.inputs_to_parameters, **program.graph_signature.inputs_to_buffers}
    found = {}
    for node in program.graph.nodes:
        if not computes(node):
            continue
        leaves, spec = tree_flatten((node.args, dict(node.kwargs)))
        values = [each.meta["val"] if isinstance(each, torch.fx.Node) else each for each in leaves]
        fixed = [isinstance(each, torch.fx.Node) and each.name in weights for each in leaves]
        if any(isinstance(each, (torch.SymInt, torch.SymFloat, torch.SymBool)) for each in values):
            continue
        key = (str(node.target), tuple(
            (tuple(v.shape), v.stride(), str(v.dtype), f) if isinstance(v, torch.Tensor) else repr(v)
            for v, f in zip(values, fixed)))
        count = found[key][0] if key in found else 0
        found[key] = (count + 1, node.target, values, fixed, spec, arguments_text(node))
    return found


def instance(operator, values, fixed, spec):
    inputs, weights, leaves = [], {}, []
    for place, (value, is_weight) in enumerate(zip(values, fixed)):
        if not isinstance(value, torch.Tensor):
            leaves.append(value)
        elif is_weight:
            weights[f"w{place}"] = made(value, operator.name(), place)
            leaves.append(Weight(f"w{place}"))
        else:
            leaves.append(Input(len(inputs)))
            inputs.append(made(value, operator.name(), place))
    return One(operator, leaves, spec, weights), inputs


def least_seconds(function, count=3):
    best = float("inf")
    for _ in range(count):
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
    return best


def collected(archives, most):
    """Returns the calls that take most of a model's time: dicts with operator, arguments, models, One and inputs."""
    torch.set_num_threads(1)
    calls = {}
    for archive in archives:
        found, seconds = calls_of(archive), {}
        for key, (count, operator, values, fixed, spec, text) in found.items():
            if key in calls:
                one, inputs = calls[key]["one"], calls[key]["inputs"]
            else:
                try:
                    one, inputs = instance(operator, values, fixed, spec)
                    one(*inputs)
                except (Unsuitable, RuntimeError, IndexError):
                    continue
                calls[key] = {"operator": operator.name().removeprefix("aten::").split(".")[0],
                              "arguments": text, "one": one, "inputs": inputs, "models": {}, "share": 0.0}
            seconds[key] = least_seconds(lambda: one(*inputs)) * count
        total = sum(seconds.values())
        for key, spent in seconds.items():
            calls[key]["models"][archive.stem] = found[key][0]
            calls[key]["share"] = max(calls[key]["share"], spent / total)
    return sorted(calls.values(), key=lambda call: -call["share"])[:most]


def written(call, index):
    """Writes a call's archive and its inputs; returns the script that measures it in boxcar."""
    stem = FOLDER / f"{index}"
    torch.export.save(torch.export.export(call["one"], tuple(call["inputs"])), f"{stem}.pt2")
    lines, names = [], []
    for i, value in enumerate(call["inputs"]):
        order = order_of(value)
        numpy.save(f"{stem}.in{i}.npy", value.permute(order).numpy())
        line = f'x{i} = io::load_npy("{stem}.in{i}.npy").permute({[order.index(d) for d in range(value.dim())]})'
        if value.dim() == 4 and call["operator"] in OF_IMAGES:
            line += '.contiguous(memory_format=channels_last)'
        lines.append(line)
        names.append(f"x{i}")
    return DRIVER.format(archive=f"{stem}.pt2", arguments="\n".join(lines), names=", ".join(names), least=LEAST,
                         seconds=SECONDS)


def boxcar_times(script, threads):
    path = FOLDER / "driver.ops"
    path.write_text(script)
    process = subprocess.run([str(BOXCAR), "run", "--threads", str(threads), str(path)], capture_output=True, text=True,
                             check=False)
    if process.returncode != 0:
        raise Unsuitable(f"boxcar failed: {process.stderr.strip()[-300:]}")
    return [float(line) for line in process.stdout.split()]


def torch_times(call, threads):
    torch.set_num_threads(threads)
    one, inputs, times = call["one"], call["inputs"], []
    args, kwargs = tree_unflatten(
        [inputs[leaf.place] if isinstance(leaf, Input) else getattr(one, leaf.name) if isinstance(leaf, Weight) else leaf
         for leaf in one.leaves], one.spec)
    one.operator(*args, **kwargs)
    begin = time.perf_counter()
    while len(times) < LEAST or time.perf_counter() - begin < SECONDS:
        start = time.perf_counter()
        one.operator(*args, **kwargs)
        times.append((time.perf_counter() - start) * 1e6)
    return times


@torch.inference_mode()
def measured(call, script):
    """Returns microseconds in boxcar and in PyTorch, for each number of threads."""
    result = {}
    for threads in (1, 2):
        own, theirs = [], []
        for _ in range(TURNS):
            own += boxcar_times(script, threads)
            theirs += torch_times(call, threads)
        result[threads] = {"boxcar": statistics.median(own), "torch": statistics.median(theirs)}
    return result


def line_of(row):
    one, two = (row["times"][threads]["boxcar"] / row["times"][threads]["torch"] for threads in (1, 2))
    return (f"| `{row['operator']}` | {row['arguments']} | {row['models']} | {row['times'][1]['torch']:.4g} | {one:.2f} | "
            f"{two:.2f} |")


def page(rows):
    ratios = {threads: [row["times"][threads]["boxcar"] / row["times"][threads]["torch"] for row in rows] for threads in (1, 2)}
    counted = "; ".join(
        f"with {threads} thread{'s' if threads > 1 else ''}, {sum(r <= 1 for r in found)} of {len(found)} take at most "
        f"PyTorch's time, the median ratio is {statistics.median(found):.2f}, the largest {max(found):.2f}"
        for threads, found in ratios.items())
    rows = sorted(rows, key=lambda row: -max(t["boxcar"] / t["torch"] for t in row["times"].values()))
    return f"""# Operators of whole models beside PyTorch

The {len(rows)} calls of operators, by shape, that take most of the time of the [models](README.md#whole-models), one image or
sequence and eight of them, as `./dev bench --models --kernels` measured them beside PyTorch 2.15; the slowest come first.
Times are medians of calls in turns. Weights are fixed, and boxcar's program of one operator is prepared, as a model's is.
Images are in channels_last in boxcar, as in prepared models; in PyTorch they are as its modules have them.

In one run, {counted}.

| operator | arguments | models | PyTorch µs, one thread | ratio | ratio, two threads |
| --- | --- | --- | --: | --: | --: |
""" + "\n".join(map(line_of, rows)) + "\n"


def measure(archives, most, update):
    FOLDER.mkdir(parents=True, exist_ok=True)
    # Not in inference mode, whose tensors an in-place operator could not write to when its program is exported.
    with torch.no_grad():
        calls = collected(archives, most)
    rows = []
    for index, call in enumerate(calls):
        models = collections.defaultdict(list)
        for stem in call["models"]:
            name, batch = stem.rsplit(".", 1)
            models[name].append(batch)
        row = {"operator": call["operator"], "arguments": call["arguments"], "models": ", ".join(models)}
        try:
            row["times"] = measured(call, written(call, index))
        except Unsuitable as fault:
            print(f"{row['operator']} of {row['arguments']}: {fault}", file=sys.stderr)
            continue
        rows.append(row)
        print(line_of(row), flush=True)
    (FOLDER.parent / "model_kernels.json").write_text(json.dumps(rows, indent=1))
    if update:
        PAGE.write_text(page(rows))

