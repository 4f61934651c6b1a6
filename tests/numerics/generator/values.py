"""Tensors for cases: seeded values of a dtype, in the layouts that kernels must handle."""

import math

import torch

WIDE_FLOATS = [torch.float32, torch.float64]
HALVES = [torch.float16, torch.bfloat16]
FLOATS = WIDE_FLOATS + HALVES
INTS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
BOOL = [torch.bool]
COMPLEX = [torch.complex64, torch.complex128]
REALS = FLOATS + INTS
ALL = REALS + BOOL + COMPLEX


class Make:
    """Makes tensors of one dtype. `make(2, 3)` is a contiguous tensor of random values; make.dtype is the dtype.

    Values are in [low, high): by default [-4, 4) for floating point and complex parts, [-9, 10) for signed and [0, 10)
    for unsigned integers. The results are torch tensors, so that views are made as in PyTorch: `make(4, 6)[:, ::2]`.
    """

    def __init__(self, dtype, seed, low=None, high=None):
        self.dtype = dtype
        self.low = low
        self.high = high
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, *sizes, dtype=None, low=None, high=None):
        return self.tensor(sizes, dtype, low, high)

    def tensor(self, sizes, dtype=None, low=None, high=None):
        dtype = dtype or self.dtype
        low = self.low if low is None else low
        high = self.high if high is None else high
        if dtype == torch.bool:
            return torch.randint(0, 2, sizes, generator=self.generator).bool()
        if dtype.is_complex:
            parts = self.tensor((*sizes, 2), torch.float64, low, high)
            return torch.view_as_complex(parts).to(dtype)
        if dtype.is_floating_point:
            low, high = (-4 if low is None else low), (4 if high is None else high)
            return (torch.rand(sizes, generator=self.generator, dtype=torch.float64) * (high - low) + low).to(dtype)
        if dtype == torch.uint8:
            low = max(low or 0, 0)
        low, high = (-9 if low is None else math.ceil(low)), (10 if high is None else max(math.ceil(high), 1))
        return torch.randint(low, max(high, low + 1), sizes, generator=self.generator).to(dtype)

    def indices(self, *sizes, below, dtype=torch.int64, negative=False):
        """Returns indices in [0, below), or in [-below, below) if [negative]."""
        return torch.randint(-below if negative else 0, below, sizes, generator=self.generator).to(dtype)

    def permutation(self, count):
        return torch.randperm(count, generator=self.generator)

    def mask(self, *sizes):
        return self.tensor(sizes, torch.bool)

    def integer(self, low, high):
        return int(torch.randint(low, high, (), generator=self.generator))

    def scalar(self):
        """Returns a Python number of the dtype's kind."""
        return self.tensor(()).item()

    def special(self):
        """Returns the special values of a floating point, integer or complex dtype, where functions may go wrong."""
        if self.dtype == torch.bool:
            return torch.tensor([True, False])
        if self.dtype.is_complex:
            return torch.tensor([0, -0.0, 1, -1, 1j, -1j, 2 - 3j, 0.5 + 1e-3j, 1e4 + 1j], dtype=self.dtype)
        if self.dtype.is_floating_point:
            info = torch.finfo(self.dtype)
            return torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, math.inf, -math.inf, math.nan,
                                 info.max, info.min, info.tiny, -info.tiny, info.eps, 1 + info.eps, 30.0, -30.0, 100.0],
                                dtype=torch.float64).to(self.dtype)
        info = torch.iinfo(self.dtype)
        values = [0, 1, info.max, info.min, info.max - 1, info.min + 1, 2, 100]
        return torch.tensor(values, dtype=torch.int64).to(self.dtype)

    def moderate(self):
        """Returns special() without values so large or small that PyTorch's vectorised functions fail."""
        values = self.special()
        if not self.dtype.is_floating_point:
            return values
        magnitudes = values.double().abs()
        return values[~((magnitudes > 1e3) & (magnitudes < torch.inf)) & ~((magnitudes > 0) & (magnitudes < 1e-3))]

    def symmetric(self, *sizes):
        """Returns symmetric (Hermitian) positive definite matrices."""
        a = self.tensor(sizes, torch.complex128 if self.dtype.is_complex else torch.float64, -1, 1)
        return (a @ a.mH + sizes[-1] * torch.eye(sizes[-1], dtype=a.dtype)).to(self.dtype)


def layouts(make, full=True):
    """Yields one tensor in each layout: of the whole list, or only of the most important ones."""
    yield make(2, 3)
    yield make()
    yield make(0, 3)
    yield make(4, 6)[1:, ::2]
    yield make(3, 4).t()
    if not full:
        return
    yield make(1)
    yield make(2, 1, 3).expand(2, 4, 3)
    yield make(10)[3:]
    yield make(2, 3, 4, 5).permute(2, 0, 3, 1)
    yield make(2, 3, 4, 2).contiguous(memory_format=torch.channels_last)
    yield make(7, 5)[:, 1:4].unsqueeze(1)
    yield make(1037)
