"""Fourier transforms and windows."""

import torch

from generator import ALL, COMPLEX, FLOATS, INTS, call, cases, error

kLine = "aten::fft_fft aten::fft_ifft aten::fft_irfft aten::fft_hfft"
kRealLine = "aten::fft_rfft aten::fft_ihfft"
kPlane = "aten::fft_fft2 aten::fft_ifft2 aten::fft_irfft2 aten::fft_hfft2"
kRealPlane = "aten::fft_rfft2 aten::fft_ihfft2"
kField = "aten::fft_fftn aten::fft_ifftn aten::fft_irfftn aten::fft_hfftn"
kRealField = "aten::fft_rfftn aten::fft_ihfftn"
kNorms = [None, "backward", "ortho", "forward"]
kSingle = [torch.float32, torch.float64, torch.complex64, torch.complex128]
kLoose = {torch.float32: (1e-5, 1e-4), torch.complex64: (1e-5, 1e-4)}
kLooseReason = "PyTorch computes long lines in float32 and loses digits of small sums; boxcar computes in float64"
kLength = {"forms": False, "low": -1, "high": 1, "tolerance": kLoose, "reason": kLooseReason}


def lines(make):
    yield make(7)
    yield make(2), 3
    yield make(4, 6), None, 0
    yield make(6, 4).t(), 5, -2, "ortho"
    yield make(3, 8)[:, ::2], 3, 1, "forward"
    yield make(3, 1, 4).expand(3, 5, 4), None, 1, "backward"
    yield make(2, 9, 3).permute(2, 0, 1), 12
    yield make(2, 3, 4, 5), None, 1
    yield make(5, 3), 1, 0
    yield make(0, 4)
    yield error(make())
    yield error(make(4), 0)
    yield error(make(4), -1)
    yield error(make(4), None, 1)
    yield error(make(4), None, -1, "both")
    yield error(make(3, 0))


@cases(kLine, ALL)
def line(make):
    yield from lines(make)


@cases(kRealLine, ALL)
def real_line(make):
    yield from lines(make)


def long_lines(make):
    """Lengths for each way of computing: products of small factors, of larger ones, and primes."""
    for length in [2, 3, 4, 6, 8, 15, 16, 17, 30, 49, 64, 77, 101, 210, 256, 1001, 1009, 1024, 1515]:
        for norm in kNorms[:1] if length > 20 else kNorms:
            yield make(2, length), length, -1, norm
        yield make(length, 11), length, 0


@cases("aten::fft_fft aten::fft_ifft", kSingle, **kLength)
def length(make):
    yield from long_lines(make)


@cases("aten::fft_irfft aten::fft_hfft", kSingle, **kLength)
def length_to_real(make):
    yield from long_lines(make)


@cases("aten::fft_rfft aten::fft_ihfft", [torch.float32, torch.float64], **kLength)
def length_of_real(make):
    yield from long_lines(make)


def planes(make):
    yield make(4, 5)
    yield make(2, 4, 5), [3, 6]
    yield make(5, 4).t(), None, [0, 1], "ortho"
    yield make(2, 3, 4, 5), None, [1, 3], "forward"
    yield make(2, 3, 4, 5).permute(3, 1, 0, 2), [4, -1], [2, 0], "backward"
    yield make(3, 6)[:, ::2], [3], [0]
    yield make(0, 3, 4)
    yield error(make(4))
    yield error(make(4, 5), [0, 2])
    yield error(make(4, 5), [2])
    yield error(make(4, 5), None, [0, 0])
    yield error(make(4, 5), None, [0, 2])


@cases(kPlane, ALL)
def plane(make):
    yield from planes(make)


@cases(kRealPlane, ALL)
def real_plane(make):
    yield from planes(make)


def fields(make):
    yield make(3, 4, 5)
    yield make(3, 4, 5), [2, 7]
    yield make(3, 4, 5), None, [0, 2], "ortho"
    yield make(3, 4, 5), [4, 4, 4], None, "forward"
    yield make(2, 3, 4, 5).permute(1, 3, 0, 2), [3, -1, 2], [3, 0, 1]
    yield make(3, 1, 4).expand(3, 2, 4), None, None, "backward"
    yield make(2, 0, 3), None, [0, 2]
    yield error(make(3, 4), [2, 2, 2])
    yield error(make(3, 4), [2], [0, 1])
    yield error(make(3, 4), None, [1, -1])
    yield error(make(2, 0))


@cases(kField, ALL)
def field(make):
    yield make(7)
    yield from fields(make)


@cases(kRealField, ALL)
def real_field(make):
    yield from fields(make)


# PyTorch's fft_ihfftn.out of one dimension writes nothing to its out= argument.
@cases(kRealField, ALL, forms=False)
def real_field_of_one_dimension(make):
    yield make(7)
    yield make(3, 4), [5], [0]


@cases("aten::fft_fftn aten::fft_ifftn", ALL)
def no_dimensions(make):
    yield make()
    yield make(3, 4), None, []
    yield make(3, 4), [], []


@cases("aten::fft_rfftn aten::fft_ihfftn aten::fft_irfftn aten::fft_hfftn", [torch.float32, torch.complex64])
def no_half(make):
    yield error(make())
    yield error(make(3, 4), None, [])


@cases("aten::_fft_c2c", COMPLEX)
def c2c(make):
    yield make(5), [0], 0, True
    yield make(3, 4), [1], 1, False
    yield make(3, 4), [0, 1], 2, True
    yield make(3, 4, 5).permute(2, 0, 1), [0, 2], 0, False
    yield make(3, 4).t(), [], 0, True
    yield make(0, 4), [1], 0, True


@cases("aten::_fft_r2c", FLOATS[:2])
def r2c(make):
    for onesided in [True, False]:
        yield make(5), [0], 0, onesided
        yield make(3, 6), [1], 1, onesided
        yield make(3, 4), [0, 1], 2, onesided
        yield make(3, 4, 5).permute(2, 0, 1), [2, 0], 0, onesided
        yield make(2, 3, 4, 5), [1, 2], 0, onesided


@cases("aten::_fft_c2r", COMPLEX)
def c2r(make):
    yield make(5), [0], 0, 8
    yield make(5), [0], 2, 9
    yield make(3, 6), [1], 1, 10
    yield make(3, 4), [0, 1], 2, 7
    yield make(3, 4, 5).permute(2, 0, 1), [2, 0], 0, 8


@cases("aten::fft_fftshift aten::fft_ifftshift", ALL)
def shift(make):
    yield make(5)
    yield make(4, 5)
    yield make(4, 5), [1]
    yield make(3, 4, 5), [0, -1]
    yield make(5, 4).t(), [0, 0]
    yield make(3, 0)
    yield make()
    yield make(3, 4), []
    yield error(make(3), [1])


def frequency_types(make):
    for n in [1, 2, 5, 8, 0]:
        yield call(n, dtype=make.dtype)
        yield call(n, 0.25, dtype=make.dtype)
    yield error(-8, dtype=make.dtype)


@cases("aten::fft_fftfreq aten::fft_rfftfreq", ALL)
def frequencies(make):
    yield from frequency_types(make)


@cases("aten::fft_fftfreq aten::fft_rfftfreq", [torch.float32])
def frequencies_without_type(make):
    yield 5
    yield 8, 2.0


@cases("aten::fft_fftfreq.out aten::fft_rfftfreq.out", FLOATS + COMPLEX + INTS[:1])
def frequencies_out(make):
    yield call(5, 0.5, out=make(5))
    yield call(8, out=make(0))


kWindows = "aten::bartlett_window aten::blackman_window aten::hann_window aten::hamming_window aten::kaiser_window"
kSmall = {torch.float16: (4e-3, 4e-3), torch.bfloat16: (2e-2, 2e-2), torch.float32: (1e-5, 1e-6)}
kSmallReason = "PyTorch rounds each step of a window to its dtype; boxcar rounds float16 once, and has I0 in float64"
kWindow = {"forms": False, "tolerance": kSmall, "reason": kSmallReason}


@cases(kWindows, FLOATS + INTS[:1], **kWindow)
def window(make):
    for length in [0, 1, 2, 5, 16]:
        yield call(length, dtype=make.dtype)
    yield error(-1, dtype=make.dtype)


@cases(" ".join(name + ".periodic" for name in kWindows.split()), FLOATS, **kWindow)
def periodic_window(make):
    for length in [0, 1, 2, 7, 12]:
        for periodic in [True, False]:
            yield call(length, periodic, dtype=make.dtype)


@cases("aten::hamming_window.periodic_alpha aten::kaiser_window.beta", FLOATS, **kWindow)
def shaped_window(make):
    yield call(9, False, 0.25, dtype=make.dtype)
    yield call(8, True, 3.5, dtype=make.dtype)


@cases("aten::hamming_window.periodic_alpha_beta", FLOATS, **kWindow)
def hamming(make):
    yield call(9, False, 0.25, 0.5, dtype=make.dtype)
    yield call(8, True, 0.6, 0.2, dtype=make.dtype)


@cases("aten::stft", kSingle)
def stft(make):
    yield call(make(20), 8, return_complex=True)
    yield call(make(2, 21), 8, 3, 5, return_complex=True)
    yield call(make(2, 21), 8, 3, 5, make(5), True, return_complex=True)
    yield call(make(20), 8, onesided=False, return_complex=True)
    yield call(make(20), 8, onesided=False, return_complex=False)
    yield call(make(30)[::2], 7, 2, window=make(7), onesided=False, return_complex=True)
    yield error(make(20), 21, return_complex=True)
    yield error(make(20), 0, return_complex=True)
    yield error(make(20), 8, 0, return_complex=True)
    yield error(make(20), 8, 2, 9, return_complex=True)
    yield error(make(20), 8, 2, 8, make(7), return_complex=True)
    yield error(make(1, 2, 20), 8, return_complex=True)


@cases("aten::stft.center", kSingle)
def stft_center(make):
    for mode in ["reflect", "constant", "replicate"]:
        for center in [True, False]:
            yield call(make(20), 8, center=center, pad_mode=mode, onesided=False, return_complex=True)
            yield call(make(2, 21), 8, 3, 6, make(6), center, mode, onesided=False, return_complex=True)
    yield call(make(2, 21), 9, 3, return_complex=True)


@cases("aten::stft", FLOATS[:1])
def stft_needs_a_choice(make):
    yield error(make(20), 8)


@cases("aten::istft", COMPLEX)
def istft(make):
    ones = {"window": make(8, low=1, high=2).abs()}
    yield call(make(5, 6), 8)
    yield call(make(5, 6), 8, 3)
    yield call(make(2, 5, 6), 8, 2, 8, **ones)
    yield call(make(2, 5, 6), 8, 2, 8, **ones, normalized=True)
    yield call(make(5, 6), 8, center=False)
    yield call(make(5, 6), 8, length=7)
    yield call(make(5, 6), 8, center=False, length=30)
    yield call(make(8, 6), 8, onesided=False)
    yield call(make(8, 6), 8, onesided=False, return_complex=True)
    yield error(make(4, 6), 8)
    yield error(make(5, 6), 8, 9)
    yield error(make(5, 6), 8, 2, 4, center=False)
    yield error(make(5, 0), 8)
    yield error(make(5), 8)
