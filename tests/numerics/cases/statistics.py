"""Quantiles, histograms, covariances, integrals and derivatives of samples."""

import torch

from generator import ALL, FLOATS, call, cases, error

WIDE = [torch.float32, torch.float64]
REAL = [torch.float32, torch.float64, torch.int64, torch.uint8, torch.bfloat16]


def distinct(make, *sizes):
    """Returns a tensor without equal elements, whose order is therefore unique."""
    count = 1
    for size in sizes:
        count *= size
    order = torch.randperm(count, generator=torch.Generator().manual_seed(count))
    return order.reshape(sizes).to(make.dtype)


@cases("aten::kthvalue", REAL)
def kthvalue(make):
    yield distinct(make, 4, 5), 2
    yield distinct(make, 4, 5), 4, 0, True
    yield distinct(make, 2, 3, 4).permute(2, 0, 1), 1, 1
    yield make(), 1
    yield error(make(3), 0)
    yield error(make(3), 4)
    yield error(make(3), 1, 2)


@cases("aten::mode", REAL + [torch.bool])
def mode(make):
    yield distinct(make, 1, 5)[:, :1], 0
    yield torch.tensor([[3, 1, 3, 2], [0, 0, 1, 2]]).to(make.dtype)[:, [0, 1, 3]][:, :1], 1
    yield make()
    yield error(make(3), 2)
    yield error(make(0))


@cases("aten::quantile aten::nanquantile", WIDE)
def quantile(make):
    q = torch.tensor([0.0, 0.3, 0.5, 1.0], dtype=make.dtype)
    for interpolation in ("linear", "lower", "higher", "midpoint", "nearest"):
        yield call(make(3, 7), q, 1, interpolation=interpolation)
    yield make(3, 7), q
    yield make(3, 7), q, None, True
    yield make(3, 7), q, 0, True
    yield make(2, 3, 5).permute(2, 0, 1), q, -1
    yield make(3, 7), torch.tensor(0.25, dtype=make.dtype), 0
    yield make(), q
    spoiled = make(3, 7).clone()
    spoiled[0, 2] = float("nan")
    yield spoiled, q, 1
    yield spoiled, q, 1, True
    yield error(make(0), q)
    yield error(make(3), torch.tensor([2.0], dtype=make.dtype))
    yield error(make(3), q, 2)
    yield error(make(3), torch.tensor([0.5], dtype=torch.float64 if make.dtype is torch.float32 else torch.float32))
    yield error(make(3), q, interpolation="cubic")


@cases("aten::quantile.scalar aten::nanquantile.scalar", WIDE)
def quantile_scalar(make):
    yield make(3, 7), 0.6
    yield make(3, 7), 0.5, 1
    yield make(3, 7), 0.5, 0, True
    yield error(make(3), 1.5)


@cases("aten::histc", WIDE + [torch.int64])
def histc(make):
    yield make(20), 5
    yield make(20), 5, -2, 2
    yield make(4, 5).t(), 3, 0, 1
    yield make(0), 4
    yield make(1), 4
    yield make()
    yield error(make(3), 0)
    yield error(make(3), 3, 2, 1)


@cases("aten::histogram.bins_tensor", WIDE)
def histogram_edges(make):
    edges = torch.tensor([-2.0, -1.0, 0.5, 3.0], dtype=make.dtype)
    yield make(20), edges
    yield call(make(4, 5), edges, density=True)
    yield call(make(6), edges, weight=make(6))
    yield make(0), edges
    yield error(make(3), edges.reshape(2, 2))
    yield error(make(3), edges, weight=make(2))


@cases("aten::histogram.bin_ct", WIDE)
def histogram_count(make):
    yield make(20), 4
    yield torch.full((3,), 2.5, dtype=make.dtype), 2
    yield call(make(4, 5), 4, range=[-1.0, 2.0])
    yield call(make(6), 3, weight=make(6), density=True)
    yield make(0), 3
    yield error(make(3), 0)
    yield error(make(3), 2, range=[1.0])


@cases("aten::cov", FLOATS + [torch.int64, torch.complex64], tolerance={torch.float16: (2e-2, 2e-2), torch.bfloat16: (5e-2, 5e-2)},
       reason="PyTorch rounds to the half after each of its steps", low=-2, high=2)
def cov(make):
    yield make(3, 6)
    yield make(5)
    yield call(make(3, 6), correction=0)
    yield make(6, 3).t()
    yield error(make(2, 3, 4))


@cases("aten::cov", WIDE, forms=False)
def cov_weighted(make):
    counts = torch.tensor([1, 2, 1, 0, 3])
    weights = torch.tensor([0.5, 1.0, 2.0, 1.0, 0.25], dtype=make.dtype)
    yield call(make(3, 5), fweights=counts)
    yield call(make(3, 5), aweights=weights)
    yield call(make(3, 5), fweights=counts, aweights=weights, correction=2)
    yield error(make(3, 5), fweights=weights)
    yield error(make(3, 5), aweights=weights[:3])
    yield error(make(3, 5), fweights=-counts)


@cases("aten::corrcoef", WIDE + [torch.complex64, torch.complex128])
def corrcoef(make):
    yield make(3, 6),
    yield make(5),
    yield error(make(2, 3, 4))


@cases("aten::trapezoid.x aten::trapz.x", WIDE + [torch.int64, torch.complex64])
def trapezoid_x(make):
    yield make(3, 5), make(5)
    yield make(3, 5), make(3, 5)
    yield call(make(3, 5), make(3), dim=0)
    yield make(5), make(2, 5)
    yield error(make(3, 5), make(4))


@cases("aten::trapezoid.dx aten::cumulative_trapezoid.dx", WIDE + [torch.int64, torch.complex64])
def trapezoid_dx(make):
    yield make(3, 5),
    yield call(make(3, 5), dx=0.5, dim=0)
    yield call(make(3, 5), dx=2)
    yield make(3, 1),


@cases("aten::trapz.dx", WIDE)
def trapz_dx(make):
    yield make(3, 5),
    yield call(make(3, 5), dx=0.5, dim=0)


@cases("aten::cumulative_trapezoid.x", WIDE + [torch.int64])
def cumulative_trapezoid_x(make):
    yield make(3, 5), make(5)
    yield make(3, 5), make(3, 5)
    yield call(make(3, 5), make(3), dim=0)


@cases("aten::gradient.scalarint", WIDE + [torch.int64, torch.complex64])
def gradient(make):
    yield make(4, 5),
    yield call(make(4, 5), dim=1)
    yield call(make(4, 5), spacing=0.5, dim=-1, edge_order=2)
    yield call(make(4, 5), spacing=2)
    yield error(make(1, 5), dim=0)
    yield error(make(4, 5), edge_order=3)


@cases("aten::gradient.scalararray", WIDE)
def gradient_scalar_dims(make):
    yield call(make(4, 5, 3), spacing=0.5, dim=[0, 2])
    yield error(make(4, 5), spacing=1, dim=[0, 0])


@cases("aten::gradient.array", WIDE)
def gradient_dims(make):
    yield call(make(4, 5, 3), dim=[1, -1], edge_order=2)


@cases("aten::gradient.tensorarray", WIDE)
def gradient_places(make):
    rows, columns = torch.tensor([0.0, 1.0, 1.5, 4.0], dtype=make.dtype), torch.tensor([0.0, 0.5, 2.0], dtype=make.dtype)
    yield call(make(4, 3), spacing=[rows, columns], dim=[0, 1])
    yield call(make(4, 3), spacing=[rows, columns], dim=[0, 1], edge_order=2)
    yield error(make(4, 3), spacing=[rows], dim=[0, 1])
    yield error(make(4, 3), spacing=[columns, rows], dim=[0, 1], unchecked=True)


@cases("aten::gradient.tensorarrayint", WIDE)
def gradient_places_of_all(make):
    rows, columns = torch.tensor([0.0, 1.0, 1.5, 4.0], dtype=make.dtype), torch.tensor([0.0, 0.5, 2.0], dtype=make.dtype)
    yield call(make(4, 3), spacing=[rows, columns])


@cases("aten::gradient.scalarrayint aten::gradient.scalarrayarray", WIDE)
def gradient_distances(make, name):
    dims = {"dim": [0, 1]} if name.endswith("array") else {}
    yield call(make(4, 3), spacing=[0.5, 2], **dims)


@cases("aten::dist", WIDE + [torch.complex64])
def dist(make):
    yield make(3, 4), make(3, 4)
    yield make(3, 4), make(4), 1
    yield make(3), make(3), float("inf")
    yield make(3), make(3), 0


@cases("aten::renorm", WIDE + [torch.complex64])
def renorm(make):
    yield make(3, 4), 2, 0, 1
    yield make(3, 4), 1, 1, 0.5
    yield make(2, 3, 4).permute(2, 0, 1), 2, -1, 2
    yield error(make(3), 2, 0, 1)
    yield error(make(3, 4), 0, 0, 1)
    yield error(make(3, 4), 2, 0, -1)


@cases("aten::histogramdd aten::histogramdd.int_bins", WIDE)
def histogramdd(make, name):
    bins = 3 if name.endswith("int_bins") else [3, 2]
    yield make(6, 2), bins
    yield call(make(2, 3, 2), bins, range=[-1.0, 2.0, -2.0, 2.0])
    yield call(make(5, 2), bins, weight=make(5), density=True)
    yield error(make(5), bins)


# PyTorch returns the edges themselves, which its schema does not allow.
def _histogramdd(points, bins):
    counts, edges = torch.histogramdd(points, bins)
    return counts, [edge.clone() for edge in edges]


@cases("aten::histogramdd.TensorList_bins", WIDE, reference=_histogramdd)
def histogramdd_edges(make):
    edges = [torch.tensor([-2.0, 0.0, 3.0], dtype=make.dtype), torch.tensor([-1.0, 1.0], dtype=make.dtype)]
    yield make(6, 2), edges
    yield error(make(6, 3), edges)


@cases("aten::_histogramdd_bin_edges aten::_histogramdd_from_bin_cts", WIDE)
def histogramdd_parts(make):
    yield make(6, 2), [3, 2]
    yield call(make(2, 3, 2), [3, 2], range=[-1.0, 2.0, -2.0, 2.0])
    yield call(make(5, 2), [3, 2], weight=make(5), density=True)
    yield error(make(5), [3, 2])
    yield error(make(5, 3), [3, 2])
    yield error(make(5, 2), [3, 0], unchecked=True)  # PyTorch makes an edge without an interval


@cases("aten::_histogramdd_from_bin_tensors", WIDE)
def histogramdd_of_edges(make):
    edges = [torch.tensor([-2.0, 0.0, 3.0], dtype=make.dtype), torch.tensor([-1.0, 1.0], dtype=make.dtype)]
    yield make(6, 2), edges
    yield call(make(5, 2), edges, weight=make(5), density=True)
    yield error(make(6, 3), edges)
