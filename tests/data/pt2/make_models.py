"""Writes small programs of torch.export beside this file, and models.safetensors with their inputs and results.

Made by PyTorch 2.15: python make_models.py; with names, only these programs are written anew.
"""

import collections
import dataclasses
import pathlib
import re
import sys

import torch
from safetensors.torch import load_file, save_file
from torch._higher_order_ops.map import map as torch_map
from torch._higher_order_ops.scan import scan
from torch.export import Dim, export
from torch.export.experimental import _export_forward_backward
from torch.export.pt2_archive._package import package_pt2
from torch.utils import _pytree as pytree

HERE = pathlib.Path(__file__).parent
TENSORS = {}


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(4)
        self.up = torch.nn.Linear(4, 8)
        self.down = torch.nn.Linear(8, 4)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Blocks(torch.nn.Module):
    """Equal blocks, a batch of any size up to 8, and a weight that two layers share."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(10, 4)
        self.blocks = torch.nn.ModuleList([Block() for _ in range(3)])
        self.head = torch.nn.Linear(4, 10, bias=False)
        self.head.weight = self.embed.weight
        self.dropout = torch.nn.Dropout(0.1)

    def forward(self, tokens):
        x = self.dropout(self.embed(tokens))
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Branch(torch.nn.Module):
    def __init__(self, inputs, outputs, stride, groups):
        super().__init__()
        self.conv = torch.nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, groups=groups)
        self.norm = torch.nn.BatchNorm2d(outputs)
        self.stride = stride

    def forward(self, x):
        x = self.norm(self.conv(x)).relu()
        return torch.nn.functional.avg_pool2d(x, 3, self.stride, 1) * 0.5


class Window(torch.nn.Module):
    """Has more numbers than a function takes."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        s = self.scale
        y = (x * s).clamp(-s, s + 1).roll(s + 2, 1) + (s + 3)
        return y.div(s + 4).pow(s + 5).sub(s + 6).relu()


class Stage(torch.nn.Module):
    def __init__(self, inputs, outputs, stride, groups):
        super().__init__()
        self.first = Branch(inputs, outputs, stride, groups)
        self.second = Branch(outputs, outputs, 1, groups)

    def forward(self, x):
        x = self.first(x)
        x = x + self.second(x)
        return x.flatten(2).softmax(-1).view(x.shape)


class Numbers(torch.nn.Module):
    """Modules that differ in numbers: a stride, groups; one in too many."""

    def __init__(self):
        super().__init__()
        self.stages = torch.nn.ModuleList([Stage(4, 16, 2, 2), Stage(16, 32, 1, 16), Stage(32, 32, 2, 4)])
        self.windows = torch.nn.ModuleList([Window(2), Window(3), Window(2)])

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        for window in self.windows:
            x = window(x)
        return x


class Layers(torch.nn.Module):
    """Layers that run_decompositions takes apart, and calls that look like them."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 4, 3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(4)
        self.deep = torch.nn.Conv2d(4, 4, 3, stride=2, dilation=2, groups=4)
        self.up = torch.nn.ConvTranspose2d(4, 4, 2, stride=2)
        self.along = torch.nn.Conv1d(4, 4, 4)
        self.after = torch.nn.LayerNorm(6)
        self.first = torch.nn.Linear(6, 5)
        self.second = torch.nn.Linear(5, 6, bias=False)
        self.both = torch.nn.LayerNorm((4, 6))
        self.head = torch.nn.Linear(24, 3)
        self.grid = torch.nn.Parameter(torch.randn(3, 3))

    def forward(self, x):
        x = torch.nn.functional.max_pool2d(self.norm(self.conv(x)).relu(), 2)
        x = self.deep(self.up(x)).flatten(2)
        x = self.after(self.along(x))
        # The transposed weight is used twice.
        y = self.second(self.first(x).softmax(-1)) + self.second.weight.t().sum()
        x = self.head(self.both(x + y).flatten(1))
        # A bias of two dimensions.
        return torch.addmm(self.grid, x.t() @ x, self.grid.t()), x, x.mm(self.grid.t())


class Control(torch.nn.Module):
    """Operators that take graphs."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x, steps):
        chosen = torch.cond(x.sum() > 0, lambda x: self.linear(x), lambda x: x * 2, (x,))
        count, grown = torch._higher_order_ops.while_loop(
            lambda i, y: i < steps.sum(), lambda i, y: (i + 1, y * 2), (torch.zeros((), dtype=torch.int64), x)
        )
        mapped = torch_map(lambda row, y: row - y, x, x.sum(0))
        last, products = scan(lambda c, row: (c + row, c * row), torch.ones(3), x, dim=0)
        with torch.no_grad():
            constant = self.linear(x)
        return chosen, count, grown, mapped, last, products, constant


class Casts(torch.nn.Module):
    """Regions of autocast; the numbers are small, so that bfloat16 has them."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.linear.weight.data = torch.arange(16.0).reshape(4, 4) - 8
        self.linear.bias.data = torch.arange(4.0)

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            y = self.linear(x)
            with torch.autocast("cpu", enabled=False):
                z = self.linear(x)
        return y, z, y + z


class Structures(torch.nn.Module):
    """Arguments and results in lists, tuples and dicts; arguments by name; what is a constant."""

    def forward(self, pair, named, *, scale=None, flag=True):
        first, second = pair
        total = first + named["a"] * named["b"]
        if scale is not None:
            total = total * scale
        return {"total": total, "parts": [first, second], "rest": (total.sum(), None, 3)}


class Statistics(torch.nn.Module):
    """State that calls change."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls.add_(1)
        return self.norm(x)


class Split(torch.nn.Module):
    """Attention whose heads are part of the batch: its sizes are products."""

    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(4, 4)

    def forward(self, x):
        batch, length, width = x.shape
        y = self.line(x).view(batch, length, 2, 2).transpose(1, 2).reshape(batch * 2, length, 2)
        y = torch.bmm(y, y.transpose(1, 2)).softmax(-1) @ y
        return x + y.view(batch, 2, length, 2).transpose(1, 2).reshape(batch, length, width)


class Flat(torch.nn.Module):
    """Takes no tensor that has the batch as a size."""

    def forward(self, x, batch):
        y = x.relu() * 2
        y = y.view(batch, -1, 4).flip(1) + 1
        return y.reshape(x.shape)


class Sizes(torch.nn.Module):
    """Sizes that modules compute from what they take, have to be given, or come from data."""

    def __init__(self):
        super().__init__()
        self.splits = torch.nn.ModuleList([Split() for _ in range(4)])
        self.flats = torch.nn.ModuleList([Flat() for _ in range(2)])

    def forward(self, x):
        for split in self.splits:
            x = split(x)
        y = x.reshape(-1, 4)
        for flat in self.flats:
            y = flat(y, x.shape[0])
        y.mul_(0.5)
        some = x[x > 0].nonzero()
        return y.view(x.shape[0], x.shape[1] * 4), x.shape[0] * 3, some.float().mean() * some.shape[0]


class Dense(torch.nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.norm = torch.nn.BatchNorm2d(inputs)
        self.conv = torch.nn.Conv2d(inputs, 2, 3, padding=1)

    def forward(self, features):
        x = torch.cat(features, 1)
        return self.conv(self.norm(x).relu()).sigmoid()


class Growing(torch.nn.Module):
    """Modules that each take what all before them gave."""

    def __init__(self):
        super().__init__()
        self.dense = torch.nn.ModuleList([Dense(2 + 2 * i) for i in range(5)])
        self.last = torch.nn.ModuleList([Dense(12 + 2 * i) for i in range(3)])

    def forward(self, x):
        features = [x]
        for dense in self.dense:
            features.append(dense(features))
        x = torch.cat(features, 1)
        features = [x]
        for dense in self.last:
            features.append(dense(features))
        return torch.cat(features, 1) + features[-1].mean()


class Written(torch.nn.Module):
    """Writes its argument, which it also returns a function of."""

    def forward(self, x):
        y = x.relu() * 2
        x.add_(y)
        return y.sum()


class Scaled(torch.nn.Module):
    def __init__(self, by):
        super().__init__()
        self.register_buffer("by", torch.tensor(float(by)))

    def forward(self, x):
        return x * self.by


class Loss(torch.nn.Module):
    """Made into a training step: its gradients are results."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, x, y):
        return torch.nn.functional.mse_loss(self.linear(x).relu(), y)


class Expressions(torch.nn.Module):
    """A result that begins with a parenthesis, an out= form, and an operator with the name of a function of nn.ops."""

    def forward(self, x, y):
        square = torch.empty(x.shape)
        torch.pow(x, 2, out=square)
        loss = torch.nn.functional.binary_cross_entropy(x.sigmoid(), y)
        return (square + loss - x).clamp(min=0.5)


class Checked(torch.nn.Module):
    """Operators with effects, which are ordered by tokens when they are decomposed."""

    def forward(self, x):
        return torch.linalg.inv(x), torch._is_all_true(x > 0), torch._is_any_true(x > 0)


class Placed(torch.nn.Module):
    """A conversion that names the device that all its tensors are on, and a tensor made of none."""

    def forward(self, x, mask):
        return torch.where(mask.to(device=x.device, dtype=torch.bool), x, torch.arange(x.size(1), device=x.device))


class Transposed(torch.nn.Module):
    """Decomposed, it views what lies otherwise than PyTorch traced; PyTorch itself cannot run it."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4)
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.linear(self.norm(x.transpose(1, 2)).transpose(1, 2))


Pair = collections.namedtuple("Pair", "first second")
pytree._register_namedtuple(Pair, serialized_type_name="Pair")


@dataclasses.dataclass
class Record:
    left: torch.Tensor
    right: torch.Tensor
    absent: torch.Tensor | None = None


torch.export.register_dataclass(Record, serialized_type_name="Record")


class Named(torch.nn.Module):
    """Named tuples, dataclasses, a str, and sizes of tensors in a dict that must be equal."""

    def forward(self, pair, record, rows, mode):
        total = pair.first + pair.second + record.left * record.right
        y = rows["a"] + rows["b"] if mode == "add" else rows["a"]
        return Record(total, y), Pair(y, total)


def without_folders(program):
    """Where the program came from on this machine is nobody's business: the names of files are kept."""
    for module in program.graph_module.modules():
        for node in getattr(module, "graph", torch.fx.Graph()).nodes:
            if "stack_trace" in node.meta:
                node.meta["stack_trace"] = re.sub(r'"[^"]*/', '"', node.meta["stack_trace"])
    return program


def is_wanted(name):
    return len(sys.argv) == 1 or name in sys.argv[1:]


def write(name, model, args=(), kwargs=None, dynamic_shapes=None, decomposes=False):
    kwargs = kwargs or {}
    program = export(model, args, kwargs, dynamic_shapes=dynamic_shapes)
    module = program.module()  # PyTorch cannot run all that it decomposes
    if decomposes:
        program = program.run_decompositions()
    if is_wanted(name):
        torch.export.save(without_folders(program), HERE / f"{name}.pt2")
    for kind, values in (("in", (args, kwargs)), ("out", module(*args, **kwargs))):
        leaves = [leaf for leaf in pytree.tree_leaves(values) if isinstance(leaf, torch.Tensor)]
        for i, leaf in enumerate(leaves):
            TENSORS[f"{name}.{kind}{i}"] = leaf.detach().clone().contiguous()


def write_several(name, models, args):
    """Writes several programs into one archive."""
    programs = {key: without_folders(export(model, args)) for key, model in models.items()}
    if is_wanted(name):
        package_pt2(HERE / f"{name}.pt2", exported_programs=programs)


def write_gradients(name, model, args):
    """Writes the program of a loss and its gradients, with both as results."""
    program = _export_forward_backward(export(model, args))
    if is_wanted(name):
        torch.export.save(without_folders(program), HERE / f"{name}.pt2")
    loss = model(*args)
    loss.backward()
    for i, leaf in enumerate(args):
        TENSORS[f"{name}.in{i}"] = leaf
    TENSORS[f"{name}.out0"] = loss.detach()
    for key, weight in model.named_parameters():
        TENSORS[f"{name}.{key}.grad"] = weight.grad


def main():
    torch.manual_seed(0)
    tokens = torch.randint(0, 10, (2, 5))
    shapes = ({0: Dim("batch", max=8)},)
    write("blocks", Blocks().eval(), (tokens,), dynamic_shapes=shapes)
    write("blocks_core", Blocks().eval(), (tokens,), dynamic_shapes=shapes, decomposes=True)
    write("control", Control().eval(), (torch.randn(2, 3), torch.ones(3, dtype=torch.int64)))
    pair = (torch.randn(2), torch.randn(2))
    named = {"a": torch.randn(2), "b": torch.randn(2)}
    write("structures", Structures(), (pair, named), {"scale": None, "flag": True})
    write("statistics", Statistics().train(), (torch.randn(4, 3),))
    x = torch.randn(2, 3)
    TENSORS["written.before"] = x.clone()
    write("written", Written(), (x,))
    write_several("several", {"double": Scaled(2), "triple": Scaled(3)}, (torch.randn(2),))
    write_gradients("gradients", Loss(), (torch.randn(4, 3), torch.randn(4, 2)))
    write("expressions", Expressions(), (torch.randn(2, 3), torch.rand(2, 3)))
    write("checked_core", Checked(), (torch.tensor([[2.0, -1.0], [0.0, 4.0]]),), decomposes=True)
    rows = {"a": torch.randn(2, 3), "b": torch.randn(2, 3)}
    shapes = torch.export.ShapesCollection()
    shapes[rows["a"]] = shapes[rows["b"]] = {0: Dim("rows", min=2, max=8)}
    write("named", Named(), (Pair(*pair), Record(torch.randn(2), torch.randn(2)), rows, "add"), dynamic_shapes=shapes)
    write("transposed_core", Transposed().eval(), (torch.randn(2, 3, 4),), decomposes=True)
    write("numbers", Numbers().eval(), (torch.randn(1, 4, 12, 12),))
    shapes = ({0: Dim("batch")},)
    write("layers_core", Layers().eval(), (torch.randn(2, 2, 10, 10),), dynamic_shapes=shapes, decomposes=True)
    shapes = ({0: Dim("batch"), 1: Dim("length")},)
    write("sizes", Sizes().eval(), (torch.randn(2, 3, 4),), dynamic_shapes=shapes)
    write("sizes_core", Sizes().eval(), (torch.randn(2, 3, 4),), dynamic_shapes=shapes, decomposes=True)
    write("placed", Placed(), (torch.randn(2, 3), torch.tensor([[1, 0, 1], [0, 0, 1]])))
    write("growing", Growing().eval(), (torch.randn(1, 2, 4, 4),))
    write("casts", Casts().eval(), (torch.arange(8.0).reshape(2, 4),))
    path = HERE / "models.safetensors"
    if len(sys.argv) > 1:
        kept = {name: value for name, value in load_file(path).items() if not is_wanted(name.split(".")[0])}
        TENSORS.update(kept)
    save_file(TENSORS, path)


if __name__ == "__main__":
    main()
