"""Modules of make.py that call what TorchScript has built in: methods of strs, lists and dicts, functions of numbers."""

import math
from typing import Dict, List, Optional, Tuple

import torch
from torch import Tensor, nn


class Words(nn.Module):
    """Methods of strs."""

    def forward(self, x: Tensor, s: str, n: int) -> Tuple[List[str], List[int], List[bool], Tuple[str, str, str]]:
        texts = [s.title(), s.capitalize(), s.swapcase(), s.zfill(n), s.center(n) + "|", s.center(n, "*"), s.ljust(n, ".")]
        texts += [s.rjust(n), s.expandtabs(), s.expandtabs(n), s.lstrip(), s.rstrip("e "), s.lstrip("h "), hex(n), oct(-n), bin(n)]
        texts += [chr(n + 60), s.replace("l", "LL", 1), "-".join(s.rsplit("l", 1)), "-".join(s.rsplit()), "-".join(s.split("l", 1))]
        texts += ["-".join(s.splitlines()), "-".join(s.splitlines(True)), s[::2], s[-3:]]
        places = [s.count("l"), s.count("l", 3), s.count("l", 0, n), s.find("l", 3), s.find("l", 1, 3), s.rfind("l"), s.rfind("l", 0, 3)]
        places += [s.find("e", 0, -1), s.find("e", 0, -2), s.rfind("e", 0, -n), s.index("e"), s.rindex("e", 0)]
        kinds = [s.isdigit(), s.isalpha(), s.isalnum(), s.isspace(), s.islower(), s.isupper(), s.istitle(), s.isdecimal()]
        kinds += [s.isnumeric(), s.isidentifier(), s.isprintable(), s.startswith("l", 2), s.endswith("l", 0, 3), "el" in s]
        return texts, places, kinds, s.partition("l") if n > 5 else s.rpartition("l")


class Percents(nn.Module):
    """Formats with `%`."""

    def forward(self, x: Tensor, pattern: str, n: int, f: float) -> List[str]:
        pair = (n, f)
        return ["%d of %s, %i" % (n, pattern, f), "%s" % n, "%f and %e %%" % (f, f), "%d/%f" % pair, pattern % (n, "b"), "%c{}" % n, 'a "%s"' % n]


class Functions(nn.Module):
    """Functions of numbers."""

    def forward(self, x: Tensor, n: int, f: float) -> Tuple[List[float], List[int], List[bool], Tuple[float, int], complex]:
        floats = [math.atan2(f, n), math.atan2(n, 3), math.copysign(f, -1.0), math.ldexp(f, n), math.fmod(f, 0.3), math.fmod(n, 3)]
        floats += [math.degrees(f), math.radians(n), math.log1p(f), math.expm1(f), math.log10(f), math.log(f, 2), math.log(n)]
        floats += [math.lgamma(f), math.gamma(f), math.erf(f), math.erfc(f), math.sinh(f), math.cosh(f), math.asinh(f), math.acosh(f + 1)]
        floats += [math.atanh(f), math.asin(f), math.acos(f), math.atan(f), math.fabs(-f), math.pow(f, 2.0), math.modf(f + 2)[1], f ** n]
        floats += [round(f), divmod(f, 0.2)[1], math.remainder(f, 0.2), abs(complex(f, 2.0)), max(f, n), min([f, 2.0]), sum([f, f])]
        ints = [math.gcd(n, 12), math.gcd(-n, 18), math.factorial(n), math.frexp(f)[1], divmod(-n, 3)[0], divmod(n, 3)[1], max(n, 3)]
        kinds = [math.isnan(f), math.isinf(f), math.isfinite(f), math.isnan(math.nan), any([n > 3]), all([n, 0])]
        return floats, ints, kinds, math.frexp(f), complex(f, n) * complex(n, 1)


class Breaks(nn.Module):
    """Loops that end early, or go on early."""

    def forward(self, xs: List[int], n: int) -> List[int]:
        return [self.stop(n), self.skip(xs), self.both(xs, n), self.find(xs, n), self.pairs(xs, n)]

    def stop(self, n: int) -> int:
        k = 0
        for i in range(10):
            if i == n:
                break
            k += i
        return k

    def skip(self, xs: List[int]) -> int:
        k = 0
        for x in xs:
            if x < 0:
                continue
            k += x
        return k

    def both(self, xs: List[int], n: int) -> int:
        k = 0
        for x in xs:
            if x == n:
                continue
            if x > 100:
                break
            k += x
        return k

    def find(self, xs: List[int], n: int) -> int:
        for i, x in enumerate(xs):
            if x == n:
                return i
        return -1

    def pairs(self, xs: List[int], n: int) -> int:
        k = 0
        for a in xs:
            for b in xs:
                if a * b > n:
                    break
                k += a * b
            if k > 1000:
                return k
        return -k


class Containers(nn.Module):
    """Methods of lists and dicts."""

    def forward(self, x: Tensor, a: List[int], d: Dict[str, int]) -> Tuple[List[int], Dict[str, int], List[str], List[Tensor]]:
        a.insert(1, 7)
        a.remove(2)
        b = a.copy()
        b.clear()
        b.extend([a.index(7), a.count(3), a.pop(0)])
        a.sort(reverse=True)
        first = d.setdefault("z", 3) + d.setdefault("a", 100)
        key, value = d.popitem()
        e = d.copy()
        e.clear()
        b += [first, value, len(e)]
        words = [key, "b", "a"]
        words.sort(reverse=True)
        for i, k in enumerate(d.keys(), 5):
            b.append(i + d[k])
        for p, q in zip(a, b):
            b.append(p * q)
        total = 0
        for i in range(10, 0, -3):
            total += i
        b.append(total)
        tensors = [x[0, 0] + 3, x[0, 0], x[0, 0] + 1]
        b.append(tensors.index(x[0, 0]) + tensors.count(x[0, 0]))
        tensors.sort()
        return a + b, d, words + sorted(words), tensors + sorted(tensors)[::-1]


class Questions(nn.Module):
    """What tensors, dtypes and devices are."""

    def forward(self, x: Tensor, n: Optional[int]) -> Tuple[List[int], Tensor, bool, str]:
        half = x.to(torch.float16)
        whole = x.to(torch.int32)
        sizes = [x.element_size(), half.element_size(), x.itemsize, x.nbytes, x.get_device(), x.stride(0), x.t().storage_offset()]
        sizes += x.t().stride()
        sizes.append(torch.jit._unwrap_optional(n))
        dtype = torch.promote_types(half.dtype, x.dtype)
        with torch.profiler.record_function("sum"):
            y = torch.zeros(2, dtype=dtype) + torch.zeros(2, dtype=torch.result_type(whole, 2.5))
            for i in range(3):
                with torch.autograd.profiler.record_function("step"):
                    y = y + i
        torch.manual_seed(3)
        y = y + x.to(torch.get_autocast_dtype("cpu"))[0, :2] * 0
        is_plain = x.is_contiguous() and not x.t().is_contiguous() and not torch.is_autocast_enabled()
        return sizes, y, is_plain and x.device.index is None, x.device.type


class Padded(nn.Module):
    """A mask of the places that are padding: PyTorch makes a nested tensor, and zeros of them."""

    def __init__(self):
        super().__init__()
        self.first = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 2, nn.LayerNorm(8))
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, norm_first=True)
        self.second = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def forward(self, x: Tensor, hidden: Optional[Tensor]) -> Tuple[Tensor, Tensor]:
        return self.first(x, src_key_padding_mask=hidden), self.second(x, src_key_padding_mask=hidden)


@torch.jit.script
class Item:
    def __init__(self, key: int, name: str):
        self.key = key
        self.name = name

    def __lt__(self, other: "Item") -> bool:
        return self.key < other.key


class SortedObjects(nn.Module):
    """Objects with an order of their own."""

    def forward(self, x: Tensor, n: int) -> Tuple[List[str], bool]:
        items = [Item(3, "c"), Item(1, "a"), Item(n, "b"), Item(-n, "z"), Item(0, "y")]
        names: List[str] = []
        for item in sorted(items):
            names.append(item.name)
        items.sort(reverse=True)
        for item in items:
            names.append(item.name)
        return names, items[0] < items[1]


class Gradients(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Tensor, Optional[Tensor]]:
        y = x.detach().requires_grad_(True)
        first = torch.autograd.grad([(y * y * y).sum()], [y], create_graph=True)[0]
        assert first is not None
        second = torch.autograd.grad([first.sum()], [y, x.detach().requires_grad_(True)], allow_unused=True)
        last = second[0]
        assert last is not None
        return last, second[1]


class Located(nn.Module):
    """Its archive has the lines of Python."""

    def forward(self, x: Tensor, n: int) -> Tensor:
        y = x + n
        z = torch.sigmoid(torch.relu(y) * 2)
        return z - 1


class Older(nn.Module):
    """make.py says that the archive is of version 3 of the format, in which some operators meant something else."""

    def forward(self, x: Tensor, n: int, f: float) -> Tuple[Tensor, List[Tensor]]:
        whole = x.to(torch.int64)
        quotients = [x / n, whole / n, whole / f, torch.div(whole, whole + 2), torch.div(x, whole), -whole / (whole + 2)]
        quotients.append(torch.div(whole, n, rounding_mode="floor"))
        y = whole.clone()
        y.div_(n)
        z = -y - 7
        z.div_(whole + 2)
        out = torch.div(whole, whole + 4, out=torch.zeros(2, 3))
        spaces = [torch.linspace(0, 1, 5), torch.logspace(0, f, 5), torch.linspace(n, 9, 3), torch.nn.functional.gelu(x)]
        return torch.full([2], n), quotients + spaces + [y, z, out, torch.full([2], True), torch.full([1], 3, dtype=torch.int64)]


def padded_arguments():
    x = torch.randn(2, 4, 8)
    lengths = torch.tensor([[False, False, False, True], [False, True, True, True]])
    return [(x, lengths), (x, lengths.flip(1)), (x, lengths[:1].repeat(2, 1)), (x, None)]


def builtin_cases():
    """Returns name -> (module, list of argument tuples), as cases() of make.py."""
    x23 = torch.arange(6.0).view(2, 3) + 0.5
    return {
        "words": (Words(), [(x23, "hello el", 12), (x23, " A\tle\nl e", 5), (x23, "lele", 3)]),
        "percents": (Percents(), [(x23, "%s and %s", 65, 2.75)]),
        "functions": (Functions(), [(x23, 5, 0.75), (x23, 7, 0.5)]),
        "containers": (Containers(), [(x23, [1, 2, 3], {"a": 1, "b": 2}), (x23, [3, 5, 2], {"q": 4})]),
        "questions": (Questions(), [(x23, 4)]),
        "padded": (Padded(), padded_arguments()),
        "sorted_objects": (SortedObjects(), [(x23, 2)]),
        "gradients": (Gradients(), [(x23,)]),
        "located": (Located(), [(x23, 1)]),
        "older": (Older(), [(x23 * 4, 3, 2.5)]),
        "breaks": (Breaks(), [([1, 5, -7, 200, 3], 5), ([], 1), ([4, 50, 60], 3000), ([2], 0)]),
    }
