"""Prints the contents of PyTorch's tables for chosen and random registrations of one operator: pytorch_tables.txt.

    python3 tests/dispatcher/registry/pytorch_tables.py > tests/data/pytorch_tables.txt

The first line has the entry of each compared key without kernels: `through` for a fallthrough, or `-`. Each other line
has the keys that kernels are registered for, a colon, and the compared keys whose entry differs from the first line,
each with the key that its kernel was registered for, or `ambiguous`. Functionalize is left out, because the behaviour
of composite kernels there changed between versions.
"""

import itertools
import random

import torch

ALIASES = ["Autograd", "CompositeImplicitAutograd", "FuncTorchBatchedDecomposition",
           "CompositeImplicitAutogradNestedTensor", "CompositeExplicitAutograd",
           "CompositeExplicitAutogradNonFunctional"]
BACKENDS = ["CPU", "XLA", "Lazy", "SparseCPU", "QuantizedCPU", "NestedTensorCPU", "FPGA",
            "SparseCsrCPU"]
AUTOGRAD = ["AutogradCPU", "AutogradXLA", "AutogradLazy", "AutogradOther", "AutogradNestedTensor"]
COMPARED = ["Undefined", *BACKENDS, *AUTOGRAD, "FuncTorchVmapMode", "VmapMode", "BackendSelect", "ADInplaceOrView"]
REGISTERED = ALIASES + BACKENDS + AUTOGRAD


def library_at(line):
    """Returns a library whose registrations can be identified by the line that made it."""
    scope = {}
    exec(compile("\n" * (line - 1) + "import torch; made = torch.library.Library('tables', 'FRAGMENT')", "k.py", "exec"),
         scope)
    return scope["made"]


def cell(text):
    tag = text[text.rindex("[") + 1:text.rindex("]")]
    if tag == "ambiguous autogradother":
        return "ambiguous"
    if tag == "backend fallback":
        return "through" if "fallthrough" in text or "VariableFallbackKernel" in text else "-"
    return REGISTERED[int(text[:text.rindex(" [")].rsplit(":", 1)[1]) - 1]


def main():
    torch.library.Library("tables", "DEF").define("unused(Tensor x) -> Tensor")
    libraries = {key: library_at(line) for line, key in enumerate(REGISTERED, 1)}
    chosen = [(), *((key,) for key in REGISTERED), *itertools.combinations(ALIASES, 2)]
    draw = random.Random(28)
    chosen += [tuple(sorted(draw.sample(ALIASES, draw.randint(1, 3)) + draw.sample(BACKENDS, draw.randint(0, 2)) +
                            draw.sample(AUTOGRAD, draw.randint(0, 1)))) for _ in range(60)]
    print(f"# What torch {torch.__version__.split('+')[0]} holds in its tables; made by pytorch_tables.py, "
          "which says how to read it.")
    for number, keys in enumerate(dict.fromkeys(chosen)):
        libraries["CPU"].define(f"op{number}(Tensor x) -> Tensor")
        for key in keys:
            libraries[key].impl(f"op{number}", lambda x: x, key)
        dumped = dict(line.split(": ", 1) for line in torch._C._dispatch_dump_table(f"tables::op{number}").splitlines())
        cells = {key: cell(dumped[key]) if key in dumped else "-" for key in COMPARED}
        if not keys:
            defaults = cells
        print(*keys, ":", *(f"{key}={held}" for key, held in cells.items() if not keys or held != defaults[key]))


main()
