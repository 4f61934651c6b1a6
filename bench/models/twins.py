"""The models of resnet50.ops and gpt.ops in PyTorch, of the same operators, for comparison.

Each function returns a callable that runs the model once on random weights.
"""

import torch
import torch.nn.functional as F

LAYERS, HEADS, WIDTH, WORDS, CONTEXT = 12, 12, 768, 50257, 1024


def resnet50(batch, dtype, device):
    """Images of 224 x 224 pixels through ResNet-50."""

    def like(tensor):
        return tensor.to(device, dtype)

    net = {}

    def add_layer(name, inputs, outputs, window):
        kernel = torch.randn(outputs, inputs, window, window) * (2 / (inputs * window * window)) ** 0.5
        ones, zeros = torch.ones(outputs), torch.zeros(outputs)
        net[name] = [like(tensor) for tensor in (kernel, zeros, ones, ones, zeros)]

    def layer(x, name, stride, padding):
        kernel, mean, variance, weight, bias = net[name]
        return F.batch_norm(F.conv2d(x, kernel, None, stride, padding), mean, variance, weight, bias)

    blocks = []
    add_layer("stem", 3, 64, 7)
    inputs = 64
    for stage, depth in enumerate((3, 4, 6, 3)):
        width = 64 * 2**stage
        for block in range(depth):
            name = f"{stage}.{block}"
            blocks.append((name, block == 0, 2 if block == 0 and stage > 0 else 1))
            if block == 0:
                add_layer(name + ".shortcut", inputs, 4 * width, 1)
            add_layer(name + ".a", inputs, width, 1)
            add_layer(name + ".b", width, width, 3)
            add_layer(name + ".c", width, 4 * width, 1)
            inputs = 4 * width
    weight, bias = like(torch.randn(1000, 2048) * 0.02), like(torch.zeros(1000))
    images = like(torch.randn(batch, 3, 224, 224))

    def run():
        x = F.max_pool2d(layer(images, "stem", 2, 3).relu_(), 3, 2, 1)
        for name, is_first, stride in blocks:
            shortcut = layer(x, name + ".shortcut", stride, 0) if is_first else x
            x = layer(x, name + ".a", 1, 0).relu_()
            x = layer(x, name + ".b", stride, 1).relu_()
            x = layer(x, name + ".c", 1, 0).add_(shortcut).relu_()
        return F.linear(x.mean((2, 3)), weight, bias)

    return run


def gpt(length, past, dtype, device):
    """[length] tokens that follow [past] others, whose keys and values are cached, through a GPT of 12 layers."""

    def random(*sizes, deviation=1.0):
        return (torch.randn(sizes) * deviation).to(device, dtype)

    def linear_of(inputs, outputs):
        return random(outputs, inputs, deviation=0.02), random(outputs, deviation=0)

    def norm_of():
        return (WIDTH,), random(WIDTH), random(WIDTH)

    embedding, positions = random(WORDS, WIDTH, deviation=0.02), random(CONTEXT, WIDTH, deviation=0.01)
    layers = [
        (norm_of(), linear_of(WIDTH, 3 * WIDTH), linear_of(WIDTH, WIDTH), norm_of(), linear_of(WIDTH, 4 * WIDTH),
         linear_of(4 * WIDTH, WIDTH), random(1, HEADS, past, WIDTH // HEADS), random(1, HEADS, past, WIDTH // HEADS))
        for _ in range(LAYERS)
    ]
    norm = norm_of()
    tokens = torch.randint(WORDS, (1, length), device=device)

    def run():
        x = F.embedding(tokens, embedding) + positions[past : past + length]
        for norm1, attention, output, norm2, wide, narrow, keys, values in layers:
            parts = F.linear(F.layer_norm(x, *norm1), *attention).chunk(3, 2)
            q, k, v = (part.view(1, length, HEADS, -1).transpose(1, 2) for part in parts)
            if past > 0:
                k, v = torch.cat([keys, k], 2), torch.cat([values, v], 2)
            seen = F.scaled_dot_product_attention(q, k, v, is_causal=past == 0)
            x = x + F.linear(seen.transpose(1, 2).reshape(1, length, WIDTH), *output)
            x = x + F.linear(F.gelu(F.linear(F.layer_norm(x, *norm2), *wide)), *narrow)
        return F.linear(F.layer_norm(x[:, -1], *norm), embedding)

    return run
