"""Exports functions of scripts by `boxcar export`, and compares what PyTorch makes of them; `./dev models` runs it.

Each archive is loaded by torch.export.load, and runs as it is and after run_decompositions. Fails if a result differs
by more than 1e-5 of the largest value, or has another structure. Also asks PyTorch for every operator of aten that
boxcar would write.
"""

import argparse
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import typing

sys.dont_write_bytecode = True

import torch  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
TOLERANCE = 1e-5  # of the largest value


def resnet18_weights():
    import torchvision
    model = torchvision.models.resnet18()
    # As the imported model has them: without the counts of batches.
    return {name: each for name, each in model.state_dict().items() if not name.endswith("num_batches_tracked")}


def gpt2_weights():
    import transformers
    weights = dict(transformers.GPT2LMHeadModel(transformers.GPT2Config()).state_dict())
    weights.pop("lm_head.weight", None)  # the same as transformer.wte.weight
    return {name: each.contiguous() for name, each in weights.items()}


@dataclasses.dataclass
class Case:
    """A call of a function: its script, its arguments as PyTorch's, and the weights that the script loads."""
    name: str
    script: str
    arguments: typing.Callable
    keywords: typing.Callable = dict
    function: str = "forward"
    weights: typing.Callable = None
    weights_file: str = ""
    names: tuple = ()  # some of the parameters and buffers that the archive must have
    # Whether the buffers change, so that a second call gives another result.
    has_state: bool = False


def script(name):
    return (SCRIPTS / name).read_text()


def pixels(*shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(3))


CASES = [
    Case("mlp", f'''
op digits::mlp{script("digits.ops").split("op digits::mlp")[1].split("data =")[0]}
const net = io::load("{SCRIPTS}/data/digits_mlp.safetensors")
fn forward(Tensor x) -> Tensor {{
    return digits::mlp(x, net["fc1.weight"], net["fc1.bias"], net["fc2.weight"], net["fc2.bias"])
}}
''', lambda: [pixels(5, 64)], names=("fc1.weight", "fc2.bias")),
    Case("cnn", f'''
{script("digits_cnn.ops").split("data =")[0]}
const net = io::load("{SCRIPTS}/data/digits_cnn.safetensors")
fn forward(Tensor images) -> Tensor {{ return digits::cnn(images, net) }}
''', lambda: [pixels(5, 1, 8, 8)], names=("conv1.weight", "norm1.mean", "fc.bias")),
    Case("gpt", f'''
{script("gpt.ops").split("beginning =")[0]}
fn loaded() -> Dict(str, Tensor) {{
    halves = io::load("{SCRIPTS}/data/gpt.safetensors")
    for name in halves.keys() {{ halves[name] = halves[name].to(float32) }}
    return halves
}}
const net = loaded()
fn forward(Tensor tokens) -> Tensor {{ return gpt::scores(tokens, net) }}
''', lambda: [torch.arange(20)], names=("embedding", "0.attention.weight")),
    Case("resnet18", script("models/resnet18.ops"), lambda: [pixels(1, 3, 224, 224)], weights=resnet18_weights,
         weights_file="resnet18.safetensors", names=("layer4.1.bn2.running_var", "fc.weight")),
    Case("gpt2", script("models/gpt2.ops"), lambda: [torch.arange(9).view(1, 9) * 100], weights=gpt2_weights,
         weights_file="gpt2.safetensors", names=("transformer.h.11.mlp.c_fc.weight", "transformer.wte.weight")),
    Case("structures", '''
const half = tensor([0.5, 0.25])
fn forward(Tensor x, Tensor[] xs, Any pair, int by=2, *, Dict(str, Tensor) named) -> Any {
    k = tensor([3.0, 4.0])
    k.add_(1)
    y = (x * by + xs[0] * half).relu_()
    values, indices = topk(y, 1)
    return {"a": values, "l": [y + named["k"], None, indices], "t": (pair[0] * k, 3, 2.5, True), "x": x}
}
''', lambda: [torch.tensor([1.0, -2.0]), [torch.ones(2)], (torch.ones(2), 7), 3],
         lambda: {"named": {"k": torch.full((2,), 5.0)}}, names=("half_",)),
    Case("defaults", '''
fn forward(Tensor x, float by=2.5, Tensor? other=None) -> (Tensor, Tensor) {
    y = x * by
    if other is not None { y = y + other }
    return y, y.sum()
}
''', lambda: [torch.ones(3)], lambda: {"other": torch.ones(3)}),
    Case("state", '''
const state = {"count": tensor([0]), "mean": zeros(3)}
fn forward(Tensor x) -> Tensor {
    state["count"].add_(1)
    state["mean"].mul_(0.5).add_(x.mean(0))
    return x - state["mean"] * state["count"]
}
''', lambda: [pixels(4, 3)], names=("count", "mean"), has_state=True),
    Case("kinds", '''
const tied = {"fc.weight": ones(2, 3), "fc": tensor(2.0), "out.weight": ones(1)}
const base = arange(12, dtype=float32).view(3, 4)
const turned = base.t()
fn forward(Tensor x) -> Any {
    y = x @ turned + x @ base.t()
    y = y.to(float64).clamp(min=0.5).softmax(-1, dtype=float32)
    z = y[:, [2, 0]] + full([2], inf).nan_to_num(posinf=1.0)
    p = x.contiguous(memory_format=channels_last) if x.dim() == 4 else x.permute([1, 0])
    w = linear(z, tied["fc.weight"][:, :2]) * tied["fc"]
    parts = split(x, [1, 3], 1)
    return [z, p, w, parts[1], cat([x, x], 0), where(x > 0.5, x, 0.0), x.sum(dtype=int64), pad(x, [1, 1], value=2.0),
            index_select(x, 1, tensor([0, 1])), complex(x, x).abs()]
}
''', lambda: [pixels(2, 4)], names=("fc.weight", "turned")),
    Case("training", '''
const net = {"weight": ones(3), "bias": zeros(3), "running_mean": zeros(3), "running_var": ones(3)}
fn forward(Tensor x) -> Tensor {
    return batch_norm(x, net["weight"], net["bias"], net["running_mean"], net["running_var"], True, 0.1, 1e-5, False)
}
''', lambda: [pixels(4, 3)], names=("weight", "running_mean"), has_state=True),
]


def run(*arguments, folder):
    done = subprocess.run([str(each) for each in arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))}\n{done.stderr}")
    return done.stdout


def text_of(value, tensors):
    """A value as an expression of a script; its tensors go to a file."""
    if isinstance(value, torch.Tensor):
        tensors[f"in{len(tensors)}"] = value.contiguous()
        return f'io::load("in.safetensors")["in{len(tensors) - 1}"]'
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}": {text_of(each, tensors)}' for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(text_of(each, tensors) for each in value) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(text_of(each, tensors) for each in value) + ",)"
    return repr(value)


def named_leaves(value, name="result"):
    """The tensors and numbers of a result, as `boxcar call -o` calls them."""
    if isinstance(value, torch.Tensor):
        return {name: value.detach()}
    if isinstance(value, (dict, list, tuple)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        found = {}
        for key, each in items:
            found |= named_leaves(each, str(key) if name == "result" else f"{name}.{key}")
        return found
    return {} if value is None else {name: torch.tensor(value)}


def check_equal(wanted, found, what):
    if wanted.keys() != found.keys():
        raise RuntimeError(f"{what} returns {sorted(found)} instead of {sorted(wanted)}")
    for name, value in wanted.items():
        if value.dtype != found[name].dtype or value.shape != found[name].shape:
            raise RuntimeError(f"{what}: {name} is {found[name].dtype} {list(found[name].shape)} instead of "
                               f"{value.dtype} {list(value.shape)}")
        largest = value.double().abs().max().item() if value.numel() else 0
        gap = (value.double() - found[name].double()).abs().max().item() if value.numel() else 0
        if not gap <= TOLERANCE * max(largest, 1e-30):
            raise RuntimeError(f"{what}: {name} differs by {gap:.3g}; the largest value is {largest:.3g}")


def check(case, boxcar, folder):
    (folder / "script.ops").write_text(case.script)
    if case.weights is not None:
        save_file(case.weights(), folder / case.weights_file)
    arguments, keywords, tensors = case.arguments(), case.keywords(), {}
    words = [text_of(each, tensors) for each in arguments]
    words += [f"{name}={text_of(each, tensors)}" for name, each in keywords.items()]
    save_file(tensors, folder / "in.safetensors")
    run(boxcar, "call", "script.ops", case.function, *words, "-o", "wanted.safetensors", folder=folder)
    wanted = load_file(folder / "wanted.safetensors")
    run(boxcar, "export", "script.ops", case.function, *words, "-o", "model.pt2", folder=folder)

    # A program and its modules share buffers, so each begins with the archive.
    def load():
        return torch.export.load(folder / "model.pt2")
    program = load()
    held = {name for name, _ in [*program.named_parameters(), *program.named_buffers()]}
    if not held.issuperset(case.names):
        raise RuntimeError(f"the archive has {sorted(held)}, without {sorted(set(case.names) - held)}")
    for what, each in [("the archive", program), ("the decomposed program", load().run_decompositions())]:
        module = each.module()
        check_equal(wanted, named_leaves(module(*arguments, **keywords)), what)
        again = named_leaves(module(*arguments, **keywords))
        if not case.has_state:
            check_equal(wanted, again, f"{what}, called again,")
    if not case.has_state:
        check_equal(wanted, named_leaves(torch.export.unflatten(load())(*arguments, **keywords)), "the unflattened module")
    # And back: boxcar imports what it exported, and what PyTorch made of that.
    torch.export.save(load(), folder / "again.pt2")
    for archive in ("model.pt2", "again.pt2"):
        run(boxcar, "call", archive, *words, "-o", "found.safetensors", folder=folder)
        check_equal(wanted, load_file(folder / "found.safetensors"), f"{archive}, imported,")


def check_operators(boxcar):
    """Every operator of aten that `boxcar export` writes exists in PyTorch, with the same arguments before others."""
    source = (ROOT / "interpreter/export/exported_graph.cpp").read_text()
    refused = set(re.findall(r'"(aten::\w+)"', re.search(r"kNotInPyTorch =(.*?);", source, re.DOTALL)[1]))
    theirs = {(each.name, each.overload_name): each for each in torch._C._jit_get_all_schemas()}
    wrong = []
    for line in run(boxcar, "ops", folder=ROOT).splitlines():
        text = line.strip()
        if not text.startswith("aten::") or re.split(r"[.(]", text)[0] in refused:
            continue
        ours = torch._C.parse_schema(text)
        other = theirs.get((ours.name, ours.overload_name))
        def shape(arguments):
            return [(each.name, str(each.type), each.kwarg_only, str(each.default_value)) for each in arguments]
        def compared(schema):
            positional = [each for each in schema.arguments if not each.kwarg_only]
            return shape(positional), {each[0]: each for each in shape(schema.arguments)}
        if other is None:
            wrong.append(text)
            continue
        (our_order, our_all), (their_order, their_all) = compared(ours), compared(other)
        if their_order[:len(our_order)] != our_order or any(their_all.get(name) != each for name, each in our_all.items()):
            wrong.append(f"{text}\n  where PyTorch has {other}")
    if wrong:
        raise RuntimeError("PyTorch does not have\n" + "\n".join(wrong))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", metavar="NAME", help="only this function")
    parser.add_argument("--boxcar", default=ROOT / "build" / "release" / "boxcar", type=pathlib.Path, help="the program")
    options = parser.parse_args()
    torch.manual_seed(1)
    failed = []
    cases = [case for case in CASES if options.only in (None, case.name)]
    checks = [(case.name, lambda folder, case=case: check(case, options.boxcar.resolve(), folder)) for case in cases]
    if options.only is None:
        checks.append(("operators", lambda folder: check_operators(options.boxcar.resolve())))
    for name, each in checks:
        folder = pathlib.Path(tempfile.mkdtemp())
        try:
            each(folder)
            print(f"exported {name}", flush=True)
        except Exception as error:  # one failure must not hide the others
            failed.append(name)
            print(f"{name}: {error}", file=sys.stderr, flush=True)
        finally:
            shutil.rmtree(folder)
    if failed:
        sys.exit(f"wrong: {', '.join(failed)}")


if __name__ == "__main__":
    main()
