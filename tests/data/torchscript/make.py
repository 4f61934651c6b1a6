"""Modules that torch.jit.script takes, one for each thing that the code of an archive may have.

Writes their archives beside this file, expected.safetensors with their inputs and results, and check.ops, which imports
all of them and compares. Made by PyTorch 2.15: python make.py
"""

import io
import json
import pathlib
import zipfile

import math
from enum import Enum
from typing import Dict, Final, List, NamedTuple, Optional, Tuple, Union

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from builtin_modules import builtin_cases

HERE = pathlib.Path(__file__).parent


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x).softmax(-1)


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x: Tensor) -> Tensor:
        return self.pool(torch.relu(self.bn(self.conv(x))))


class Loops(nn.Module):
    """for over a range, a list, nested; while; break, continue."""

    def forward(self, x: Tensor, n: int) -> Tuple[Tensor, int]:
        total = 0
        for i in range(n):
            if i == 2:
                continue
            if i == 5:
                break
            total += i
            x = x + i
        while total > 3:
            total -= 2
            x = x * 2
        for k in [1, 2, 3]:
            for j in range(1, 7, 2):
                x = x - k * j
        return x, total


class EarlyReturn(nn.Module):
    def forward(self, x: Tensor, mode: int) -> Tensor:
        if mode == 0:
            return x
        for i in range(mode):
            if i == 3:
                return x * i
        if mode > 1:
            y = x + 1
            if mode > 2:
                return y
            x = y * 2
        return x - 1


class Raises(nn.Module):
    def forward(self, x: Tensor, n: int) -> Tensor:
        if n < 0:
            raise ValueError(f"n is {n}, but must not be negative")
        assert n < 10, "n is too large"
        if n == 5:
            y = x * 5
        elif n == 6:
            raise RuntimeError("six")
        else:
            y = x
        return y + n


class Lists(nn.Module):
    def forward(self, x: Tensor) -> Tuple[List[int], List[Tensor], List[float], int]:
        sizes = [s * 2 for s in x.size()]
        sizes.append(7)
        sizes.extend([1, 2])
        sizes.insert(0, 9)
        last = sizes.pop()
        sizes[1] = last + 3
        sizes.sort()
        sizes.reverse()
        empty: List[float] = []
        for s in sizes[1:4]:
            empty.append(float(s) / 2)
        parts = [p * 2 for p in torch.unbind(x, 0)]
        parts = parts + [x]
        count = 0
        if 7 in sizes:
            count = sizes.index(7) + len(sizes) + sizes.count(2)
        copy = sizes[:]
        copy[0] = -1
        del sizes[0]
        sizes.remove(1)
        return sizes + copy, parts, empty, count + max(sizes) + min([3, 1]) + sum(sizes)


class Dicts(nn.Module):
    def forward(self, x: Tensor, flags: Dict[str, int]) -> Dict[str, Tensor]:
        out: Dict[str, Tensor] = {}
        for key, value in flags.items():
            out[key] = x * value
        if "a" in flags:
            out["has"] = x + flags["a"]
        numbers = {1: 2.5, 3: 4.5}
        total = 0.0
        for n in numbers.keys():
            total += n * numbers[n]
        for v in numbers.values():
            total += v
        numbers[7] = 1.0
        fallback = flags.get("zzz", 5)
        maybe = flags.get("b")
        if maybe is not None:
            total += maybe
        out["total"] = x + total + fallback + len(numbers)
        if "drop" in out:
            out.pop("drop")
        return out


class Optionals(nn.Module):
    def __init__(self, with_bias: bool):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3))
        self.bias: Optional[nn.Parameter] = nn.Parameter(torch.randn(3)) if with_bias else None

    def forward(self, x: Tensor, mask: Optional[Tensor] = None, scale: Optional[float] = None) -> Tuple[Tensor, Optional[Tensor]]:
        y = x * self.weight
        bias = self.bias
        if bias is not None:
            y = y + bias
        if mask is not None and scale is not None:
            y = y * mask * scale
        elif mask is None or x.size(0) > 100:
            y = y - 1
        else:
            y = y + mask
        result: Optional[Tensor] = None
        if scale is not None:
            result = y * scale
        return y, result


class Point(NamedTuple):
    x: Tensor
    y: Tensor
    label: int


class NamedTuples(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Point:
        p = Point(a, b, 3)
        q = self.swap(p)
        x, y, label = q
        return Point(p.x + x, q.y + y, p.label + label)

    def swap(self, p: Point) -> Point:
        return Point(x=p.y, y=p.x, label=p.label + 1)


class Strings(nn.Module):
    def forward(self, x: Tensor, name: str) -> Tuple[str, List[str], int]:
        text = "{} has {} elements".format(name, x.numel())
        if name.startswith("a") and not name.endswith("z"):
            text = text.upper()
        words = text.split(" ")
        joined = "-".join(words) + "!!"
        n = len(joined)
        if "h" in joined:
            n += joined.find("h")
        return joined + f" {n}"[0:3] + str(n) + name[0], words, n + int("12")


@torch.jit.script
class Accumulator:
    def __init__(self, start: int):
        self.total = start
        self.seen: List[int] = []

    def add(self, n: int) -> int:
        self.total += n
        self.seen.append(n)
        return self.total

    def mean(self) -> float:
        return self.total / len(self.seen)


class Classes(nn.Module):
    def forward(self, x: Tensor, n: int) -> Tuple[Tensor, int, List[int]]:
        acc = Accumulator(10)
        for i in range(n):
            acc.add(i)
        other = acc
        other.total += 100
        return x * acc.mean(), acc.total, acc.seen


class Color(Enum):
    RED = 1
    GREEN = 2


class Enums(nn.Module):
    def __init__(self):
        super().__init__()
        self.color = Color.GREEN

    def forward(self, x: Tensor) -> Tensor:
        if self.color == Color.RED:
            return x
        c = Color.GREEN
        return x * c.value


class Buffers(nn.Module):
    """Writes its buffers and attributes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros(1))
        self.register_buffer("mean", torch.zeros(3))
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.steps += 1
        self.mean = self.mean * 0.5 + x.mean(0) * 0.5
        self.calls += 1
        return x - self.mean + self.calls


class ModuleLists(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.heads = nn.ModuleDict({"a": nn.Linear(4, 2), "b": nn.Linear(4, 1)})

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        for i, block in enumerate(self.blocks):
            x = block(x) + i
        out: Dict[str, Tensor] = {}
        for name, head in self.heads.items():
            out[name] = head(x)
        return out


def scaled(x: Tensor, by: float = 2.0) -> Tensor:
    return x * by


class Forks(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        future = torch.jit.fork(scaled, x, 3.0)
        y = x + 1
        return torch.jit.wait(future) + y


class Exported(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x)

    @torch.jit.export
    def twice(self, x: Tensor) -> Tensor:
        return self.forward(x) * 2


class Indexing(nn.Module):
    def forward(self, x: Tensor, i: int) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
        y = x.clone()
        y[0, 1:3] = 5
        y[i] += 1
        z = x[:, None, ..., 0]
        mask = x > 0
        y[mask] = -1.0
        picked = x[torch.tensor([0, 1])]
        return y, z, picked, x[-1, ::2]


class Numbers(nn.Module):
    def forward(self, x: Tensor, n: int, f: float) -> Tuple[float, int, bool, Tensor]:

        a = n // 3 + n % 3 - (-n) // 2 + abs(-n) + int(f) + int(round(f)) + int(n ** 2)
        b = math.sqrt(abs(n)) + math.floor(f) + math.ceil(f) + f ** 2 + n / 2 + math.exp(0.5) + math.pi + math.log(2.0)
        c = (n > 2 and f < 10) or not bool(n)
        d = n & 3 | 8 ^ n << 1 >> 1
        item = int(x.sum().item())
        return b + float(n) + 1e-5 + float("inf") * 0.0 if n < 0 else b, a + d + item, c, x.to(torch.float64) + n * f


class Devices(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        y = torch.zeros(x.size(0), 2, dtype=x.dtype, device=x.device)
        z = torch.ones_like(x, dtype=torch.int64)
        if x.dtype == torch.float32 and x.is_floating_point() and x.dim() == 2 and x.device.type == "cpu":
            y = y + torch.arange(2, device=x.device)
        w = torch.full([2], 3.5).to(x) + torch.tensor([1.0, 2.0])
        return y + w, z


class Unions(nn.Module):
    def forward(self, x: Tensor, key: Union[int, str]) -> Tensor:
        if isinstance(key, int):
            return x + key
        elif isinstance(key, str):
            return x * len(key)
        return x


class Isinstance(nn.Module):
    def forward(self, xs: List[Tensor], y: Optional[int]) -> Tensor:
        out = xs[0]
        for x in xs[1:]:
            out = torch.cat([out, x])
        if isinstance(y, int):
            out = out + y
        if torch.jit.isinstance(xs, List[Tensor]):
            out = out * 2
        return out


class Recursion(nn.Module):
    """An LSTM with its state."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5, num_layers=2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(10, 3)

    def forward(self, x: Tensor, state: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        y, state2 = self.lstm(x, state)
        z, _ = self.gru(y)
        return z, state2


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 6)
        self.hidden: Final[int] = 6

    def forward(self, xs: Tensor) -> Tensor:
        h = torch.zeros(xs.size(1), self.hidden)
        c = torch.zeros_like(h)
        out: List[Tensor] = []
        for t in range(xs.size(0)):
            h, c = self.cell(xs[t], (h, c))
            out.append(h)
        return torch.stack(out)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tuple[Tensor, Optional[Tensor]]:
        y = self.layer(x)
        return self.attention(y, y, y)


class Embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 6, padding_idx=0)
        self.norm = nn.LayerNorm(6)
        self.dropout = nn.Dropout(0.5)

    def forward(self, ids: Tensor) -> Tensor:
        return self.dropout(self.norm(self.embed(ids)))


class Attributes(nn.Module):
    """Attributes of many types, in data.pkl."""

    names: List[str]
    table: Dict[str, List[int]]
    pair: Tuple[int, str]
    tensors: Dict[str, Tensor]

    def __init__(self):
        super().__init__()
        self.names = ["one", "two's"]
        self.table = {"a": [1, 2], "b": []}
        self.pair = (3, 'x"y')
        self.tensors = {"w": torch.arange(3.0)}
        self.ratio = 0.25
        self.missing: Optional[int] = None

    def forward(self, x: Tensor) -> Tuple[Tensor, List[str]]:
        n = self.table["a"][1] + self.pair[0]
        if self.missing is None:
            n += 1
        self.table["b"].append(n)
        return x * n + self.tensors["w"] * self.ratio + len(self.pair[1]), self.names


class Shared(nn.Module):
    """One module twice, and one weight in two modules."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = self.a
        self.c = nn.Linear(4, 4)
        self.c.weight = self.a.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.c(self.b(self.a(x)))


class NoGrad(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            y = self.fc(x)
        return y * 2


@torch.jit.interface
class Transform(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Doubling(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


class Interfaces(nn.Module):
    step: Transform

    def __init__(self):
        super().__init__()
        self.step = Doubling()

    def forward(self, x: Tensor) -> Tensor:
        return self.step.forward(x)


class Complex(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Tensor, complex]:
        z = complex(1.0, 2.0)
        f = torch.fft.fft(x)
        return torch.view_as_real(f * z), z * 2


class Masks(nn.Module):
    """Masks of attention, which PyTorch makes numbers of."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)

    def forward(self, x: Tensor, hidden: Tensor, causal: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        y = self.attention(x, x, x, key_padding_mask=hidden)[0]
        return y, self.layer(x, causal), self.layer(x, None, hidden)


class ListOfTuples(nn.Module):
    def forward(self, x: Tensor) -> List[Tuple[Tensor, int]]:
        return [(x, 1), (x + 1, 2)]


class MaybeTuple(nn.Module):
    def forward(self, x: Tensor, n: int) -> Optional[Tuple[Tensor, int]]:
        if n > 0:
            return x, n
        return None


class Grown(nn.Module):
    """Lists that `+=` extends, one of them an attribute."""

    kept: List[int]

    def __init__(self):
        super().__init__()
        self.kept = [1]

    def forward(self, x: Tensor, n: int) -> Tuple[Tensor, List[int], List[int], List[int]]:
        numbers = [3, 1]
        same = numbers
        parts: List[Tensor] = []
        for i in range(n):
            numbers += [i]
            parts += [x * i]
            self.kept += [i]
        return torch.stack(parts), same, sorted(numbers), self.kept


class Parameters(nn.Module):
    """Parameters whose names are numbers."""

    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(3)) for _ in range(2)])

    def forward(self, x: Tensor) -> Tensor:
        for weight in self.weights:
            x = x + weight
        return x


class Texts(nn.Module):
    """Strings that are no ASCII."""

    def forward(self, x: Tensor, s: str) -> Tuple[str, Tensor]:
        n = 1 if s == "naïve" else 0
        return "é" + s, x.to("cpu", non_blocking=True) + n


class Spectrum(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.view_as_real(torch.stft(x, 8, window=torch.ones(8), return_complex=True))


class Traced(nn.Module):
    """torch.jit.trace writes it."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.lstm = nn.LSTM(6, 3)
        self.fc = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.conv(x))
        y = y.view(y.size(0), -1, 6)
        y, _ = self.lstm(y)
        return self.fc(y) + torch.ones(2) * y.shape[1]


def cases():
    """Returns name -> (scripted or traced module in eval mode, list of argument tuples)."""
    torch.manual_seed(0)
    x4, x23 = torch.randn(2, 4), torch.randn(2, 3)
    image = torch.randn(2, 3, 8, 8)
    conv = Conv()
    conv.bn.running_mean.uniform_(-1, 1)
    conv.bn.running_var.uniform_(0.5, 2)
    modules = {
        "mlp": (Mlp(), [(x4,)]),
        "conv": (conv, [(image,)]),
        "loops": (Loops(), [(x4, 0), (x4, 4), (x4, 9)]),
        "early_return": (EarlyReturn(), [(x4, n) for n in range(6)]),
        "raises": (Raises(), [(x4, 1), (x4, 5), (x4, -1), (x4, 6), (x4, 11)]),
        "lists": (Lists(), [(torch.randn(3, 2),)]),
        "dicts": (Dicts(), [(x4, {"a": 2, "b": 3}), (x4, {"drop": 1})]),
        "optionals": (Optionals(True), [(x23,), (x23, torch.ones(3)), (x23, torch.ones(3), 2.0)]),
        "optionals_none": (Optionals(False), [(x23,), (x23, None, 2.0)]),
        "named_tuples": (NamedTuples(), [(x4, x4 + 1)]),
        "strings": (Strings(), [(x4, "abc"), (x4, "hash")]),
        "classes": (Classes(), [(x4, 3), (x4, 1)]),
        "enums": (Enums(), [(x4,)]),
        "buffers": (Buffers(), [(x23,), (x23,)]),
        "module_lists": (ModuleLists(), [(x4,)]),
        "forks": (Forks(), [(x4,)]),
        "exported": (Exported(), [(x4,)]),
        "indexing": (Indexing(), [(torch.randn(4, 4), 2)]),
        "numbers": (Numbers(), [(x4, 7, 2.5), (x4, -3, 0.5)]),
        "devices": (Devices(), [(x23,)]),
        "unions": (Unions(), [(x4, 3), (x4, "four")]),
        "isinstance": (Isinstance(), [([x4, x4], 3), ([x4], None)]),
        "recursion": (Recursion(), [(torch.randn(2, 3, 4),)]),
        "cell": (Cell(), [(torch.randn(3, 2, 4),)]),
        "attention": (Attention(), [(torch.randn(2, 3, 8),)]),
        "embedding": (Embedding(), [(torch.tensor([[1, 0, 3]]),)]),
        "attributes": (Attributes(), [(torch.randn(3),), (torch.randn(3),)]),
        "shared": (Shared(), [(x4,)]),
        "no_grad": (NoGrad(), [(x4,)]),
        "interfaces": (Interfaces(), [(x4,)]),
        "complex": (Complex(), [(x4,)]),
    }
    x358 = torch.randn(2, 3, 8)
    causal = torch.full((3, 3), float("-inf")).triu(1)
    modules.update({
        "masks": (Masks(), [(x358, torch.tensor([[False, False, True], [False, False, False]]), causal)]),
        "list_of_tuples": (ListOfTuples(), [(x4,)]),
        "maybe_tuple": (MaybeTuple(), [(x4, 1), (x4, 0)]),
        "grown": (Grown(), [(x4, 3)]),
        "parameters": (Parameters(), [(x23,)]),
        "texts": (Texts(), [(x4, "naïve"), (x4, "b")]),
        "spectrum": (Spectrum(), [(torch.randn(1, 32),)]),
    })
    with torch.random.fork_rng():
        modules.update(builtin_cases())
    result = {}
    for name, (module, arguments) in modules.items():
        result[name] = (torch.jit.script(module.eval()), arguments)
    result["autocast"] = (torch.jit.script(Autocast().eval()), [(torch.arange(8.0).reshape(2, 4),)])
    traced_input = torch.randn(2, 1, 8, 8)
    result["traced"] = (torch.jit.trace(Traced().eval(), traced_input), [(traced_input,)])
    return result


class Autocast(nn.Module):
    """Regions of autocast; the numbers are small, so that bfloat16 has them."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.linear.weight.data = torch.arange(16.0).reshape(4, 4) - 8
        self.linear.bias.data = torch.arange(4.0)

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor, bool]:
        with torch.amp.autocast("cpu", dtype=torch.bfloat16):
            y = self.linear(x)
            with torch.amp.autocast("cpu", enabled=False):
                z = self.linear(x)
        with torch.cuda.amp.autocast():
            w = self.linear(x)
        return y, z, w, torch.is_autocast_cpu_enabled()


# ---- Files ----

HEAD = """# Written by make.py: each module returns what PyTorch returned.
{imports}
const expected = io::load("expected.safetensors")

# Compares tensors by their paths with those that are kept, and collects texts of other values.
fn flatten(Any? x, str path, str[] others) -> () {{
    if isinstance(x, Tensor) {{
        y = expected[path]
        assert x.dtype == y.dtype and x.shape == y.shape, f"{{path}}: {{x.dtype}} {{x.shape}}, not {{y.dtype}} {{y.shape}}"
        assert allclose(x, y, 1e-4, 1e-5), f"{{path}}: {{x}} is not {{y}}"
        return
    }}
    if x is None {{
        others.append("None")
        return
    }}
    kind = type(x)
    if kind.startswith("Dict") and not kind.endswith("[]") {{
        for k in x.keys() {{ flatten(x[k], path + "." + str(k), others) }}
    }} elif kind.endswith("[]") or kind.startswith("(") {{
        i = 0
        for e in x {{
            flatten(e, path + "." + str(i), others)
            i += 1
        }}
        others.append(str(len(x)))
    }} else {{
        others.append(str(x))
    }}
}}

fn check(Any? x, str path, str[] others) -> () {{
    found: str[] = []
    flatten(x, path, found)
    assert found == others, f"{{path}}: {{found}} is not {{others}}"
}}

"""


def flatten(value, path, tensors, others):
    """Puts the tensors of a value into tensors by their paths, and texts of the rest into others."""
    if isinstance(value, Tensor):
        tensors[path] = value.detach().clone().contiguous()
    elif isinstance(value, dict):
        for key in value:
            flatten(value[key], f"{path}.{key}", tensors, others)
    elif isinstance(value, (list, tuple)):
        for i, element in enumerate(value):
            flatten(element, f"{path}.{i}", tensors, others)
        others.append(str(len(value)))
    else:
        others.append(str(value))


def literal(value, path, tensors):
    """Returns an argument as a script has it; its tensors are in tensors."""
    if isinstance(value, Tensor):
        tensors[path] = value.clone().contiguous()
        return f'expected["{path}"]'
    if isinstance(value, list):
        return "[" + ", ".join(literal(each, f"{path}.{i}", tensors) for i, each in enumerate(value)) + "]"
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {literal(each, f'{path}.{key}', tensors)}" for key, each in value.items()]
        return "{" + ", ".join(items) + "}"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def without_paths(pickled):
    """Replaces this machine's paths in a pickle by `net.py`; a str of a pickle has its length before it."""
    for file in ("builtin_modules.py", "make.py"):
        texts = [str(HERE / file).encode(), b"/home/me/net.py"]
        old, new = [b"X" + len(text).to_bytes(4, "little") + text for text in texts]
        pickled = pickled.replace(old, new)
    return pickled


def save(module, path):
    """Saves a module; but for one, without what names the lines of this machine's files."""
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    with zipfile.ZipFile(buffer) as read, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as write:
        for name in sorted(read.namelist()):
            if not name.endswith(".debug_pkl") or path.stem == "located":
                inner = path.stem + name[name.index("/"):]
                data = without_paths(read.read(name)) if name.endswith(".debug_pkl") else read.read(name)
                write.writestr(zipfile.ZipInfo(inner, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)


def make_older(path):
    """Makes an archive one of version 3 of the format, and returns it as PyTorch loads it."""
    with zipfile.ZipFile(path) as read:
        members = {name: read.read(name) for name in read.namelist()}
    with zipfile.ZipFile(path, "w") as write:
        for name, data in members.items():
            if name.endswith("/version"):
                data = b"3\n"
            if name.endswith("builtin_modules.py"):
                for old, new in [(b"linspace(0, 1, 5", b"linspace(0, 1, None"), (b"logspace(0, f, 5", b"logspace(0, f, None")]:
                    assert old in data
                    data = data.replace(old, new)
            write.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return torch.jit.load(path)


def main():
    tensors, lines, names = {}, [], []
    for name, (module, calls) in cases().items():
        save(module, HERE / f"{name}.pt")
        if name == "older":
            module = make_older(HERE / f"{name}.pt")
        names.append(name)
        for i, arguments in enumerate(calls):
            path = f"{name}.{i}"
            text = ", ".join(literal(each, f"{path}.argument.{j}", tensors) for j, each in enumerate(arguments))
            try:
                with torch.set_grad_enabled(name == "gradients"):
                    result = module(*arguments)
            except Exception:  # what is raised is in the test of the command
                continue
            others = []
            flatten(result, path, tensors, others)
            scope = "with enable_grad() { " if name == "gradients" else ""
            lines.append(f"{scope}check({name}_module.forward({text}), \"{path}\", {json.dumps(others)})" + (" }" if scope else ""))
    imports = "\n".join(f'import "{name}.pt" as {name}_module' for name in names)
    (HERE / "check.ops").write_text(HEAD.format(imports=imports) + "with no_grad() {\n" + "\n".join(lines) + f'\n}}\nprint("{len(names)} modules are equal")\n')
    save_file(tensors, HERE / "expected.safetensors")


if __name__ == "__main__":
    main()
