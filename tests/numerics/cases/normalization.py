"""Normalisation: layer, group, batch, instance and root-mean-square norm."""

import torch

from generator import FLOATS, call, cases, error

kMain = [torch.float32, torch.float64, torch.bfloat16]


@cases("aten::layer_norm", kMain)
def layer_norm(make):
    yield make(4, 8), [8], make(8), make(8)
    yield make(4, 8), [8]
    yield make(4, 8), [8], make(8)
    yield make(4, 8), [8], None, make(8)
    yield make(2, 3, 5), [3, 5], make(3, 5), make(3, 5), 1e-3
    yield make(2, 3, 5).transpose(0, 1), [5], make(5), make(5)
    yield make(3, 67), [67], make(67), make(67)
    yield make(6), [6]
    yield make(0, 6), [6], make(6), make(6)
    yield make(3, 64) + 100, [64]
    yield error(make(4, 8), [7])
    yield error(make(4, 8), [])
    yield error(make(4, 8), [8], make(7))
    yield error(make(4, 8), [8], make(8), make(4, 8))


@cases("aten::native_layer_norm", kMain)
def native_layer_norm(make):
    yield make(4, 8), [8], make(8), make(8), 1e-5
    yield make(2, 3, 5), [3, 5], None, None, 1e-5


@cases("aten::group_norm", kMain)
def group_norm(make):
    yield make(2, 6, 4), 3, make(6), make(6)
    yield make(2, 6, 4), 1
    yield make(2, 6, 3, 4), 6, make(6), None
    yield make(2, 6, 3, 4), 2, None, make(6), 1e-3
    yield make(3, 4), 2, make(4), make(4)
    yield make(2, 3, 6).transpose(1, 2), 3, make(6), make(6)
    yield make(2, 4, 3, 5).contiguous(memory_format=torch.channels_last), 2, make(4), make(4)
    yield error(make(2, 6, 4), 4)
    yield error(make(2, 6, 4), 3, make(5))
    yield error(make(6), 3)
    yield error(make(2, 6, 4), 0)


@cases("aten::native_group_norm", [torch.float32, torch.float64])
def native_group_norm(make):
    yield make(2, 6, 4), make(6), make(6), 2, 6, 4, 3, 1e-5
    yield make(2, 6, 2, 2), None, None, 2, 6, 4, 2, 1e-5


def statistics(make, channels):
    return make(channels), make(channels).abs() + 0.5


@cases("aten::batch_norm", kMain)
def batch_norm(make):
    inputs = [make(4, 3), make(2, 3, 5), make(2, 3, 4, 5), make(2, 3, 2, 2, 3), make(3, 2, 5).transpose(0, 1),
              make(2, 3, 4, 5).contiguous(memory_format=torch.channels_last), make(2, 3, 70), make(33, 3)]
    for x in inputs:
        # Training writes the running statistics, which the schema does not annotate: see normalization_test.cpp.
        yield x, make(3), make(3), None, None, True, 0.1, 1e-5, False
        mean, var = statistics(make, 3)
        yield x, make(3), make(3), mean, var, False, 0.1, 1e-5, False
        yield x, None, None, mean, var, False, 0.1, 1e-3, False
        yield x, make(3), None, None, None, True, 0.1, 1e-5, False
    mean, var = statistics(make, 3)
    yield error(make(2, 3, 4), None, None, None, None, False, 0.1, 1e-5, False)
    yield error(make(2, 4, 4), None, None, mean, var, False, 0.1, 1e-5, False)
    yield error(make(2, 3, 4), make(4), None, mean, var, False, 0.1, 1e-5, False)


@cases("aten::native_batch_norm", [torch.float32, torch.float64])
def native_batch_norm(make):
    mean, var = statistics(make, 3)
    yield make(4, 3, 5), make(3), make(3), None, None, True, 0.3, 1e-5
    yield make(4, 3, 5), make(3), make(3), mean, var, False, 0.3, 1e-5


@cases("aten::instance_norm", [torch.float32, torch.float64])
def instance_norm(make):
    mean, var = statistics(make, 3)
    yield make(2, 3, 5), make(3), make(3), None, None, True, 0.1, 1e-5, False
    yield make(2, 3, 5, 4), make(3), make(3), mean.clone(), var.clone(), False, 0.1, 1e-5, False
    yield error(make(2, 3, 5), None, None, None, None, False, 0.1, 1e-5, False)


@cases("aten::rms_norm", kMain + [torch.float16])
def rms_norms(make):
    yield make(4, 8), [8], make(8), 1e-5
    yield make(4, 8), [8]
    yield make(2, 3, 5), [3, 5], make(3, 5)
    yield error(make(4, 8), [7])


@cases("aten::_fused_rms_norm", kMain)
def fused_rms_norm(make):
    yield make(4, 8), [8], make(8), 1e-5
    yield make(4, 8), [8], None, None
    yield make(2, 3, 5), [3, 5], make(3, 5), 1e-3
    yield error(make(4, 8), [7], None, None, unchecked=True)  # PyTorch uses the number of sizes alone


kSingles = [torch.float32, torch.float64]


@cases("aten::_native_batch_norm_legit", kSingles)
def native_batch_norm_legit(make):
    for training in (False, True):
        yield make(4, 3, 5), make(3), make(3), *statistics(make, 3), training, 0.3, 1e-5
        yield make(4, 3), None, None, *statistics(make, 3), training, 0.1, 1e-3
    # PyTorch does not check the parameters of these operators.
    yield error(make(4, 3), None, None, *statistics(make, 4), True, 0.1, 1e-3, unchecked=True)


@cases("aten::_native_batch_norm_legit_functional", kSingles)
def native_batch_norm_legit_functional(make):
    for training in (False, True):
        yield make(4, 3, 5), make(3), make(3), *statistics(make, 3), training, 0.3, 1e-5
        yield make(4, 3), None, None, *statistics(make, 3), training, 0.1, 1e-3
        last = make(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
        yield last, make(3), None, *statistics(make, 3), training, 0.1, 1e-3
    yield error(make(4, 3), None, None, *statistics(make, 4), True, 0.1, 1e-3, unchecked=True)


@cases("aten::_batch_norm_with_update_functional", kSingles)
def batch_norm_with_update_functional(make):
    yield make(4, 3, 5), make(3), make(3), *statistics(make, 3), 0.3, 1e-5
    yield make(4, 3), None, None, *statistics(make, 3), 0.1, 1e-3
    yield error(make(4, 3), None, None, *statistics(make, 4), 0.1, 1e-3, unchecked=True)


@cases("aten::_native_batch_norm_legit.no_stats", kSingles)
def native_batch_norm_no_stats(make):
    yield make(4, 3, 5), make(3), make(3), True, 0.3, 1e-5
    yield make(4, 3, 5), None, None, True, 0.3, 1e-5
    yield error(make(4, 3, 5), None, None, False, 0.3, 1e-5)


@cases("aten::_native_batch_norm_legit_no_training aten::_batch_norm_with_update aten::_batch_norm_no_update", kSingles)
def native_batch_norm_with_statistics(make):
    yield make(4, 3, 5), make(3), make(3), *statistics(make, 3), 0.3, 1e-5
    yield make(4, 3), None, None, *statistics(make, 3), 0.1, 1e-3
    yield error(make(4, 3), make(4), None, *statistics(make, 3), 0.1, 1e-3, unchecked=True)


@cases("aten::_batch_norm_impl_index", kSingles)
def batch_norm_impl_index(make):
    yield make(4, 3, 5), make(3), make(3), None, None, True, 0.3, 1e-5, False
    yield make(4, 3, 5), make(3), make(3), *statistics(make, 3), False, 0.3, 1e-5, False
    yield error(make(4, 3, 5), None, None, None, None, False, 0.3, 1e-5, False)
