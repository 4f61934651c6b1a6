#!/usr/bin/env python3
"""Writes the checkpoints in this folder, which tests/backends/io/checkpoint_test.cpp reads. Needs PyTorch and NumPy.

Usage: make.py FOLDER SUFFIX. The files *_now are of PyTorch 2.15, *_old of PyTorch 1.13.
"""
import argparse
import collections
import os
import sys

import numpy
import torch

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
          "complex128"]


def state_dict():
    """Returns what a module's state_dict() looks like, with views that share a storage."""
    base = torch.arange(24, dtype=torch.float32)
    state = collections.OrderedDict()
    state["weight"] = torch.nn.Parameter(base.reshape(4, 6))
    state["transposed"] = base.reshape(4, 6).t()
    state["offset"] = base[5:11:2]
    state["expanded"] = torch.tensor([1.5]).expand(3, 2)
    state["scalar"] = torch.tensor(7)
    state["empty"] = torch.zeros(2, 0, 3)
    for name in DTYPES:
        state[name] = (torch.arange(5) % 2).to(getattr(torch, name))
    state._metadata = {"": {"version": 1}}
    return state


def training():
    """Returns what a training keeps."""
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.5, momentum=0.75)
    weight.sum().backward()
    optimizer.step()
    return {
        "epoch": 3, "best": numpy.float64(0.25), "count": numpy.int64(-5), "flag": True, "none": None, "name": "größe",
        "bytes": b"\x00\xff", "list": [1, 2.5, "x", [True]], "tuple": (1, (2, 3)), "size": torch.Size([2, 3]),
        "dtype": torch.float32, "device": torch.device("cpu"), "set": {1}, "complex": 1 + 2j, "int": -2**63,
        "counter": collections.Counter([1, 1, 2]), "default": collections.defaultdict(list, {1: [2]}),
        "model": {"w": weight}, "optimizer": optimizer.state_dict()["state"], 3: "key", (1, 2): "key",
    }


def main():
    folder, suffix = sys.argv[1:]
    kinds = {
        "state_dict": state_dict(),
        "training": training(),
        "tensor": torch.arange(3),
        "module": torch.nn.Linear(2, 1),
        "namespace": {"args": argparse.Namespace(lr=0.5)},
    }
    for name, value in kinds.items():
        torch.save(value, os.path.join(folder, f"{name}_{suffix}.pt"))
        torch.save(value, os.path.join(folder, f"{name}_{suffix}_legacy.pt"), _use_new_zipfile_serialization=False)


main()
