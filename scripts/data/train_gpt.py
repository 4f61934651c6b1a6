"""Trains the character-level transformer of ../gpt.ops and writes gpt.safetensors beside this file.

    python3 train_gpt.py              needs PyTorch (Debian: python3-torch); some minutes

A small grammar generates the training text here, so that the data is as free as the project.
"""
import pathlib
import random

import torch
from torch.nn import functional as F

from safetensors_file import write_tensors

FOLDER = pathlib.Path(__file__).parent
LAYERS, HEADS, WIDTH, CONTEXT = 2, 4, 64, 64

COLOURS = "red blue green old rusty yellow grey little".split()
CARS = ["boxcar", "tank car", "coal car", "engine", "caboose", "mail car", "night train", "freight train"]
PLACES = ["the mill", "the river", "a quiet town", "the harbour", "the hills", "an empty station", "the bridge", "the north yard"]
MOVES = ["rolls past", "stops at", "waits near", "leaves", "comes back to", "slows down before", "hurries to"]
LOADS = ["grain", "timber", "apples", "letters", "coal", "salt", "iron", "wool"]
TIMES = ["at dawn", "at night", "in the rain", "before noon", "every monday", "when the snow falls", "in summer"]
PEOPLE = ["the driver", "the guard", "a boy", "the baker", "my sister", "the old clerk"]
DEEDS = ["waves", "sings", "counts the cars", "opens the gate", "reads a book", "drinks cold tea", "lights a lamp"]


def sentence(pick):
    car = f"{pick(COLOURS)} {pick(CARS)}"
    kind = pick(range(5))
    if kind == 0:
        return f"the {car} {pick(MOVES)} {pick(PLACES)} {pick(TIMES)}."
    if kind == 1:
        return f"{pick(TIMES)}, the {car} carries {pick(LOADS)} and {pick(LOADS)} to {pick(PLACES)}."
    if kind == 2:
        return f"{pick(PEOPLE)} {pick(DEEDS)} while the {car} {pick(MOVES)} {pick(PLACES)}."
    if kind == 3:
        return f"who is there {pick(TIMES)}? {pick(PEOPLE)} {pick(DEEDS)}."
    return f"the {car} is full of {pick(LOADS)}, and {pick(PEOPLE)} {pick(DEEDS)}."


def weights(characters):
    net = {"embedding": torch.randn(characters, WIDTH) * 0.02, "positions": torch.randn(CONTEXT, WIDTH) * 0.02}
    for layer in range(LAYERS):
        for name, rows, columns in (("attention", 3 * WIDTH, WIDTH), ("output", WIDTH, WIDTH), ("wide", 4 * WIDTH, WIDTH), ("narrow", WIDTH, 4 * WIDTH)):
            net[f"{layer}.{name}.weight"] = torch.randn(rows, columns) * 0.02
            net[f"{layer}.{name}.bias"] = torch.zeros(rows)
    for norm in [f"{layer}.{name}" for layer in range(LAYERS) for name in ("norm1", "norm2")] + ["norm"]:
        net[f"{norm}.weight"], net[f"{norm}.bias"] = torch.ones(WIDTH), torch.zeros(WIDTH)
    return net


def logits(net, tokens):
    """Returns the scores of the next character at each position, [N, T, characters], for tokens: [N, T]."""
    count, length = tokens.shape
    x = net["embedding"][tokens] + net["positions"][:length]
    hidden = torch.ones(length, length).triu(1).bool()
    norm = lambda name, x: F.layer_norm(x, (WIDTH,), net[f"{name}.weight"], net[f"{name}.bias"])
    linear = lambda name, x: F.linear(x, net[f"{name}.weight"], net[f"{name}.bias"])
    for layer in range(LAYERS):
        parts = linear(f"{layer}.attention", norm(f"{layer}.norm1", x)).split(WIDTH, 2)
        q, k, v = (part.view(count, length, HEADS, -1).transpose(1, 2) for part in parts)
        scores = (q @ k.transpose(2, 3) / (WIDTH // HEADS) ** 0.5).masked_fill(hidden, -torch.inf)
        seen = (scores.softmax(3) @ v).transpose(1, 2).reshape(count, length, WIDTH)
        x = x + linear(f"{layer}.output", seen)
        x = x + linear(f"{layer}.narrow", F.gelu(linear(f"{layer}.wide", norm(f"{layer}.norm2", x))))
    return norm("norm", x) @ net["embedding"].T


def main():
    torch.manual_seed(1)
    pick = random.Random(1).choice
    text = " ".join(sentence(pick) for _ in range(4000))
    characters = sorted(set(text))
    tokens = torch.tensor([characters.index(c) for c in text])
    net = weights(len(characters))
    optimizer = torch.optim.AdamW([tensor.requires_grad_() for tensor in net.values()], lr=3e-3, weight_decay=0.01)
    steps, batch = 1500, 32
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps, pct_start=0.1)
    for step in range(steps):
        starts = torch.randint(len(tokens) - CONTEXT - 1, (batch,))
        rows = torch.stack([tokens[start : start + CONTEXT + 1] for start in starts])
        loss = F.cross_entropy(logits(net, rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            print(step, round(loss.item(), 3), flush=True)
    stored = {name: tensor.detach().half() for name, tensor in net.items()}
    stored["characters"] = torch.tensor([ord(c) for c in characters])
    write_tensors(FOLDER / "gpt.safetensors", stored)
    net = {name: tensor.float() for name, tensor in stored.items()}
    line = "the red "
    for _ in range(200):
        last = torch.tensor([[characters.index(c) for c in line[-CONTEXT:]]])
        line += characters[logits(net, last)[0, -1].argmax()]
    print(line)


if __name__ == "__main__":
    main()
