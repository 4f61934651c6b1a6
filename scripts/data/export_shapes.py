"""Writes shapes.pt2: a small network that tells squares, crosses and rings apart, exported by PyTorch 2.15.

finetune.ops trains it further, on the digits. python export_shapes.py
"""

import pathlib
import re

import torch


class Block(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = torch.nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.norm = torch.nn.GroupNorm(4, outputs)

    def forward(self, x):
        return torch.nn.functional.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)


class Shapes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block1 = Block(1, 16)
        self.block2 = Block(16, 32)
        self.head = torch.nn.Linear(128, 3)

    def features(self, x):
        return self.block2(self.block1(x)).flatten(1)

    def forward(self, images):
        features = self.features(images)
        return {"scores": self.head(features), "features": features}


def drawn(count):
    """Images of 8 by 8 pixels with noise, and which of the three shapes each shows."""
    labels = torch.randint(0, 3, (count,))
    images = 0.2 * torch.rand(count, 1, 8, 8)
    for image, label in zip(images[:, 0], labels):
        size = int(torch.randint(4, 7, ()))
        y, x = torch.randint(0, 9 - size, (2,)).tolist()
        part = image[y : y + size, x : x + size]
        if label == 0:
            part += 0.7
        elif label == 1:
            part += 0.7 * (torch.eye(size) + torch.eye(size).flip(0)).clamp(max=1)
        else:
            part += 0.7
            part[1:-1, 1:-1] -= 0.7
    return images, labels


def main():
    torch.manual_seed(0)
    model = Shapes()
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(200):
        images, labels = drawn(64)
        loss = torch.nn.functional.cross_entropy(model(images)["scores"], labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    images, labels = drawn(300)
    print("correct", int((model(images)["scores"].argmax(1) == labels).sum()), "of 300")
    program = torch.export.export(model.eval(), (images[:2],), dynamic_shapes=({0: torch.export.Dim("batch")},))
    # The names of files are kept, and not their folders.
    for node in program.graph.nodes:
        if "stack_trace" in node.meta:
            node.meta["stack_trace"] = re.sub(r'"[^"]*/', '"', node.meta["stack_trace"])
    torch.export.save(program, pathlib.Path(__file__).parent / "shapes.pt2")


if __name__ == "__main__":
    main()
