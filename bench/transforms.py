"""The gradients of each sample that transforms.ops measures, in PyTorch: build/models/bin/python bench/transforms.py"""

import pathlib
import statistics
import time

import torch
from safetensors.torch import load_file

torch.set_num_threads(1)
NET = load_file(pathlib.Path(__file__).parents[1] / "scripts/data/digits_mlp.safetensors")


def loss(net, image, label):
    h = torch.relu(torch.nn.functional.linear(image, net["fc1.weight"], net["fc1.bias"]))
    return torch.nn.functional.cross_entropy(torch.nn.functional.linear(h, net["fc2.weight"], net["fc2.bias"]), label)


def main():
    gradients = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))
    images, labels = torch.rand(64, 64), torch.randint(10, (64,))
    times = []
    for _ in range(101):
        start = time.perf_counter()
        gradients(NET, images, labels)
        times.append(time.perf_counter() - start)
    print(f"gradients of 64 samples: {statistics.median(times) * 1e6:.1f} us (PyTorch {torch.__version__})")


main()
