"""Recurrent networks and their cells."""

import torch

from generator import WIDE_FLOATS, call, cases, error

kSums = dict(low=-1, high=1, tolerance={torch.float32: (1e-4, 1e-5)}, reason="sums of many products in another order")


def gates_of(name):
    return 4 if "lstm" in name else 3 if "gru" in name else 1


def parameters(make, name, features, hidden, layers=1, directions=1, biases=True, projection=0):
    gates = gates_of(name)
    result = []
    for layer in range(layers):
        ins = features if layer == 0 else (projection or hidden) * directions
        for _ in range(directions):
            result += [make(gates * hidden, ins), make(gates * hidden, projection or hidden)]
            if biases:
                result += [make(gates * hidden), make(gates * hidden)]
            if projection:
                result.append(make(projection, hidden))
    return result


def states(make, name, count, batch, hidden, projection=0):
    if "lstm" not in name:
        return make(count, batch, hidden)
    return [make(count, batch, projection or hidden), make(count, batch, hidden)]


@cases("aten::lstm.input aten::gru.input aten::rnn_tanh.input aten::rnn_relu.input", WIDE_FLOATS, **kSums)
def network(make, name):
    def arguments(input, layers=1, directions=1, biases=True, batch_first=False, projection=0, dropout=0.0, hidden=3,
                  train=False):
        batch = input.shape[0 if batch_first else 1]
        return call(input, states(make, name, layers * directions, batch, hidden, projection),
                    parameters(make, name, input.shape[2], hidden, layers, directions, biases, projection), biases,
                    layers, dropout, train, directions == 2, batch_first)

    yield arguments(make(5, 2, 4))
    yield arguments(make(5, 2, 4), biases=False)
    yield arguments(make(5, 2, 4), layers=2, dropout=0.5)
    yield arguments(make(4, 3, 2), layers=2, directions=2)
    yield arguments(make(2, 5, 4), batch_first=True, layers=2, train=True)
    yield arguments(make(2, 4, 5).transpose(1, 2), batch_first=True, directions=2)
    yield arguments(make(1, 1, 1), hidden=1)
    yield arguments(make(3, 0, 4))
    if "lstm" in name:
        yield arguments(make(5, 2, 4), projection=2)
        yield arguments(make(5, 2, 4), projection=2, layers=2, directions=2, biases=False)

    def wrong(input, hx, params, biases=True, layers=1):
        return error(input, hx, params, biases, layers, 0.0, False, False, False)

    right = parameters(make, name, 4, 3)
    hx = states(make, name, 1, 2, 3)
    yield wrong(make(5, 2, 3), hx, right)
    yield wrong(make(5, 2, 4), states(make, name, 2, 2, 3), right)
    yield wrong(make(5, 2, 4), states(make, name, 1, 2, 4), right)
    yield wrong(make(5, 2, 4), hx, right[:3])
    yield wrong(make(5, 2, 4), hx, right, layers=2)
    yield wrong(make(5, 2, 4), hx, right, biases=False)


@cases("aten::lstm.data aten::gru.data aten::rnn_tanh.data aten::rnn_relu.data", WIDE_FLOATS, **kSums)
def packed(make, name):
    for layers, directions in [(1, 1), (2, 2)]:
        for sizes in [[3, 3, 2, 1, 1], [2], [2, 2]]:
            yield (make(sum(sizes), 4), torch.tensor(sizes), states(make, name, layers * directions, sizes[0], 3),
                   parameters(make, name, 4, 3, layers, directions), True, layers, 0.0, False, directions == 2)
    hx = states(make, name, 1, 2, 3)
    for sizes in [[2, 2], [1, 2], [2, 2, 2], []]:
        yield error(make(3, 4), torch.tensor(sizes, dtype=torch.int64), hx, parameters(make, name, 4, 3), True, 1, 0.0,
                    False, False, unchecked=True)


@cases("aten::lstm_cell aten::gru_cell aten::rnn_tanh_cell aten::rnn_relu_cell", WIDE_FLOATS, **kSums)
def cell(make, name):
    def state(*sizes):
        return [make(*sizes), make(*sizes)] if "lstm" in name else make(*sizes)

    weights = parameters(make, name, 4, 3)
    yield make(2, 4), state(2, 3), *weights
    yield make(2, 4), state(2, 3), *weights[:2]
    yield make(0, 4), state(0, 3), *weights
    yield error(make(2, 5), state(2, 3), *weights)
    yield error(make(2, 4), state(3, 3), *weights)
    yield error(make(2, 4), state(2, 2), *weights)


@cases("aten::pad_sequence", WIDE_FLOATS + [torch.int64])
def pad_sequence(make):
    for batch_first in (False, True):
        for side in ("right", "left"):
            yield [make(2, 3), make(4, 3), make(1, 3)], batch_first, 0.5, side
    yield [make(2), make(4)],
    yield [make(0, 3), make(2, 3)],
    yield [make(0)],
    yield [make(2, 3, 2).transpose(1, 2), make(3, 2, 3)], True
    yield error([])
    yield error([make(2, 3)], False, 0.0, "middle")
    yield error([make(2, 3), make(2, 4)])
    yield error([make()])


@cases("aten::_pack_padded_sequence", WIDE_FLOATS + [torch.int64])
def pack_padded(make):
    for lengths in ([5, 3, 1], [5, 5, 5], [4, 2, 2]):
        yield make(5, 3, 2), torch.tensor(lengths), False
        yield make(3, 5, 2), torch.tensor(lengths), True
    yield make(4, 2), torch.tensor([4, 2]), False
    yield error(make(0, 2, 3), torch.tensor([1, 1]), False)
    yield error(make(5, 2, 3), torch.tensor([2]), False)
    yield error(make(5, 2, 3), torch.tensor([2, 3]), False)
    yield error(make(5, 2, 3), torch.tensor([2, 0]), False)
    yield error(make(5, 2, 3), torch.tensor([6, 1]), False, unchecked=True)
    yield error(make(5, 2, 3), torch.tensor([2, 1], dtype=torch.int32), False)


@cases("aten::_pad_packed_sequence", WIDE_FLOATS + [torch.int64])
def pad_packed(make):
    for sizes in ([3, 2, 2, 1, 1], [2, 2], [1]):
        for batch_first in (False, True):
            yield make(sum(sizes), 3), torch.tensor(sizes), batch_first, 2, 0
            yield make(sum(sizes), 3), torch.tensor(sizes), batch_first, 0.0, 7
    yield make(3), torch.tensor([2, 1]), False, 0, -1
    yield error(make(3, 2), torch.tensor([2, 1]), False, 0, 1)
    yield error(make(4, 2), torch.tensor([2, 1]), False, 0, 0, unchecked=True)
    yield error(make(3, 2), torch.tensor([1, 2]), False, 0, 0, unchecked=True)
