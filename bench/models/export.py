"""Writes the models of cases.py to a folder: export.py FOLDER NAME.... peers.py calls it.

For each batch: NAME.BATCH.pt2 (torch.export), NAME.BATCH.onnx, the inputs in NAME.BATCH.npz, and in NAME.BATCH.json the
multiply-adds and the bytes of weights of a call. What exists is not made again.
"""

import json
import logging
import pathlib
import sys
import warnings

sys.dont_write_bytecode = True
warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)

import numpy  # noqa: E402
import torch  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

import cases  # noqa: E402

BATCHES = (1, 8)


def written(value, places):
    """Returns an argument as a script has it, of the arrays in `ins`."""
    if isinstance(value, (list, tuple)):
        inner = ", ".join(written(each, places) for each in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    return f'ins["in{next(places)}"]'


@torch.no_grad()
def write(case, batch, folder):
    stem = folder / f"{case.name}.{batch}"
    done = stem.with_name(stem.name + ".json")
    if done.exists():
        return
    model, inputs = cases.made(case), cases.inputs_of(case, batch)
    recurrent = []  # multiply-adds that FlopCounterMode does not know

    def note(layer, arguments, _):
        steps = arguments[0].shape[0] * arguments[0].shape[1]
        recurrent.append(steps * sum(weight.numel() for weight in layer.parameters() if weight.dim() == 2))

    hooks = [layer.register_forward_hook(note) for layer in model.modules() if isinstance(layer, torch.nn.RNNBase)]
    with FlopCounterMode(display=False) as counter:
        model(*inputs)
    for hook in hooks:
        hook.remove()
    program = torch.export.export(model, inputs)
    torch.export.save(program, f"{stem}.pt2")
    problem = ""
    try:
        torch.onnx.export(program, (), f"{stem}.onnx", dynamo=True, verbose=False)
    except Exception as fault:  # the table says which models ONNX does not get
        problem = str(fault).strip().splitlines()[0][:200]
    leaves = tree_leaves(inputs)
    numpy.savez(f"{stem}.npz", **{f"in{i}": leaf.numpy() for i, leaf in enumerate(leaves)})
    places = iter(range(len(leaves)))
    arguments = ", ".join(written(each, places) for each in inputs)
    weights = sum(p.numel() * p.element_size() for p in {p.data_ptr(): p for p in model.parameters()}.values())
    done.write_text(json.dumps({"arguments": arguments, "multiply_adds": counter.get_total_flops() / 2 + sum(recurrent),
                                "weights": weights, "onnx": problem}))


def main():
    folder, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases.CASES:
        if case.name not in names:
            continue
        for batch in BATCHES:
            write(case, batch, folder)


main()
