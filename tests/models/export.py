"""Exports the models of architectures.py with PyTorch to build/exported, before and after run_decompositions.

NAME.pt2 and NAME.core.pt2 are the archives. NAME.safetensors has the inputs and what the exported program returned in
PyTorch, for the exported sizes and, where PyTorch keeps the batch or the length free, for others. NAME.json has the
rest. What exists is not made again.
"""

import argparse
import fnmatch
import json
import logging
import os
import pathlib
import sys
import time
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"
sys.dont_write_bytecode = True
warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)

import torch  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from torch.export import Dim, export  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

import architectures  # noqa: E402
from architectures import ARCHITECTURES, BATCH, LENGTH, OTHER_SIZES  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "exported"


def tensors(values):
    return [leaf for leaf in pytree.tree_leaves(values) if isinstance(leaf, torch.Tensor)]


@torch.no_grad()
def made(architecture):
    """The model, with random numbers also where it begins with zeros, which would hide differences."""
    torch.manual_seed(0)
    model = architecture.make().eval()
    for name, value in [*model.named_parameters(), *model.named_buffers()]:
        if value.is_floating_point() and value.numel() > 1 and not value.any():
            value.normal_(0, 0.1)
    return model


def inputs_of(architecture, batch=BATCH, length=LENGTH):
    torch.manual_seed(1)
    return architecture.inputs(batch, length)


def free_sizes(inputs, others):
    """Marks the sizes that differ between two inputs as free, unless PyTorch finds that they are constants."""
    def free(value, other):
        if not isinstance(value, torch.Tensor):
            return None
        return {i: Dim.AUTO for i, size in enumerate(value.shape) if size != other.shape[i]}
    return pytree.tree_map(free, inputs, others)


def reason_of(error):
    """The first sentence of an error of PyTorch."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:200] if lines else ''}"


def write_archives(architecture, folder):
    """Returns what is known about the model, and its program as a module."""
    model, inputs = made(architecture), inputs_of(architecture)
    others = inputs_of(architecture, *OTHER_SIZES[0])
    if pytree.tree_structure(inputs) != pytree.tree_structure(others):
        others = inputs
    started = time.monotonic()
    facts = {}
    try:
        program = export(model, (), inputs, dynamic_shapes=free_sizes(inputs, others), strict=False)
    except Exception as error:
        facts["fixed"] = reason_of(error)
        program = export(made(architecture), (), inputs, strict=False)
    core = program.run_decompositions()
    torch.export.save(program, folder / f"{architecture.name}.pt2")
    torch.export.save(core, folder / f"{architecture.name}.core.pt2")
    nodes = [len(each.graph.nodes) for each in (program, core)]
    return facts | {"nodes": nodes, "seconds": round(time.monotonic() - started, 1)}, program.module()


def write(architecture, folder):
    facts, module = write_archives(architecture, folder)
    kept, sizes = {}, []

    @torch.no_grad()
    def keep(case, batch, length):
        inputs = inputs_of(architecture, batch, length)
        before = [each.clone() for each in tensors(inputs)]
        for kind, values in (("in", before), ("out", tensors(module(**inputs)))):
            for i, value in enumerate(values):
                kept[f"{case}.{kind}{i}"] = value.detach().contiguous().clone()
        sizes.append([batch, length])
    keep("first", BATCH, LENGTH)
    for size in OTHER_SIZES:
        try:
            keep("other", *size)
            break
        except Exception as error:  # PyTorch's own check of the inputs: it made these sizes constants
            facts["fixed"] = reason_of(error)
    save_file(kept, folder / f"{architecture.name}.safetensors")
    return facts | {"sizes": sizes}


def matching(pattern):
    return [each for each in ARCHITECTURES if pattern is None or fnmatch.fnmatchcase(each.name, pattern)]


def export_missing(pattern=None, force=False, folder=FOLDER):
    folder.mkdir(parents=True, exist_ok=True)
    for architecture in matching(pattern):
        page = folder / f"{architecture.name}.json"
        if page.exists() and not force:
            continue
        try:
            facts = write(architecture, folder)
            told = f"exported {architecture.name}: {facts['nodes'][0]} nodes, {facts['seconds']} s"
        except Exception as error:
            facts = {"reason": reason_of(error)}
            told = f"not exported: {architecture.name}: {facts['reason']}"
        print(told, file=sys.stderr, flush=True)
        torch._dynamo.reset()
        page.write_text(json.dumps(facts | {"versions": architectures.VERSIONS}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", metavar="PATTERN", help="only models with such names: resnet*")
    parser.add_argument("--force", action="store_true", help="export again what exists")
    options = parser.parse_args()
    export_missing(options.only, options.force)


if __name__ == "__main__":
    main()
