"""Trains the convolutional network of ../digits_cnn.ops and writes digits_cnn.safetensors beside this file.

    python3 train_digits_cnn.py       needs PyTorch (Debian: python3-torch); about a minute
"""
import pathlib

import torch
from torch.nn import functional as F

from safetensors_file import read_tensors, write_tensors

FOLDER = pathlib.Path(__file__).parent


def logits(net, x, training):
    """Returns the logits for x: [N, 1, 8, 8]. In training, batch normalisation uses the batch's statistics and updates
    the running ones."""
    for name in ("conv1", "conv2"):
        x = F.conv2d(x, net[f"{name}.weight"], None, padding=1)
        norm = f"norm{name[-1]}"
        x = F.batch_norm(x, net[f"{norm}.mean"], net[f"{norm}.var"], net[f"{norm}.weight"], net[f"{norm}.bias"], training)
        x = F.max_pool2d(F.relu(x), 2)
    x = F.dropout(x.flatten(1), 0.2, training)
    return F.linear(x, net["fc.weight"], net["fc.bias"])


def main():
    torch.manual_seed(1)
    data = read_tensors(FOLDER / "digits.safetensors")
    images = data["train.images"].float().view(-1, 1, 8, 8) / 16
    labels = data["train.labels"]
    net = {
        "conv1.weight": torch.randn(16, 1, 3, 3) / 3,
        "conv2.weight": torch.randn(32, 16, 3, 3) / 12,
        "fc.weight": torch.randn(10, 128) / 128**0.5,
        "fc.bias": torch.zeros(10),
    }
    for norm, channels in (("norm1", 16), ("norm2", 32)):
        net |= {f"{norm}.weight": torch.ones(channels), f"{norm}.bias": torch.zeros(channels)}
        net |= {f"{norm}.mean": torch.zeros(channels), f"{norm}.var": torch.ones(channels)}
    learnt = [tensor.requires_grad_() for name, tensor in net.items() if not name.endswith((".mean", ".var"))]
    epochs, batch = 40, 50
    optimizer = torch.optim.Adam(learnt, lr=2e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for _ in range(epochs):
        for rows in torch.randperm(len(images)).split(batch):
            # Shifts each image by up to one pixel in each direction.
            down, right = torch.randint(-1, 2, (2,)).tolist()
            moved = F.pad(images[rows], (1, 1, 1, 1))[:, :, 1 + down : 9 + down, 1 + right : 9 + right]
            loss = F.cross_entropy(logits(net, moved, True), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    with torch.no_grad():
        test = data["test.images"].float().view(-1, 1, 8, 8) / 16
        hits = (logits(net, test, False).argmax(1) == data["test.labels"]).sum().item()
    print("correct", hits, "of", len(test))
    write_tensors(FOLDER / "digits_cnn.safetensors", {name: tensor.detach() for name, tensor in net.items()})


if __name__ == "__main__":
    main()
