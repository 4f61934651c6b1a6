"""Measures tokens of a GPT whose keys and values grow: decoding.py [--small] [--threads N] [--words N...].

boxcar imports what torch.export wrote for any number of tokens before. One loop gives its caches away, so that they grow
in place; the other keeps a reference to them, so that each token copies them. Both run in turns, each its own process.
--small is a GPT of 4 layers, 256 wide; without it, it is GPT-2 small. Needs `./dev setup models`.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "bench" / "models"
BOXCAR = ROOT / "build" / "release" / "boxcar"
TURNS, TOKENS = 5, 16

LOOP = """\
import "{name}.pt2" as m
with inference_mode() {{
    past = [(randn(1, {heads}, {words}, 64), randn(1, {heads}, {words}, 64)) for i in range({layers})]
    kept = past
    for i in range({tokens}) {{
        begin = clock()
        logits, past = m.forward(tensor([[i]]), past)
        if i > 2 {{ print((clock() - begin) * 1000) }}
        {keeps}
    }}
    print(len(kept))
}}
"""


def export(name, layers, heads):
    import torch
    import transformers as hf

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    import cases

    config = hf.GPT2Config(n_layer=layers, n_head=heads, n_embd=64 * heads, n_positions=2048)
    model = cases.NextToken(hf.GPT2LMHeadModel(config)).eval()
    past = [(torch.randn(1, heads, 128, 64), torch.randn(1, heads, 128, 64)) for _ in range(layers)]
    length = torch.export.Dim("length", min=2, max=2047)
    shapes = ({}, [({2: length}, {2: length}) for _ in range(layers)])
    with torch.no_grad():
        program = torch.export.export(model, (torch.tensor([[5]]), past), dynamic_shapes=shapes)
    torch.export.save(program, FOLDER / f"{name}.pt2")


def times(name, layers, heads, words, threads, keeps):
    text = LOOP.format(name=name, layers=layers, heads=heads, words=words, tokens=TOKENS,
                       keeps="kept = past" if keeps else "")
    script = FOLDER / "decoding.ops"
    script.write_text(text)
    out = subprocess.run([BOXCAR, "run", "--threads", str(threads), script], check=True, capture_output=True, text=True)
    return [float(line) for line in out.stdout.split()[:-1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--words", type=int, nargs="+", default=[128, 1024])
    options = parser.parse_args()
    layers, heads = (4, 4) if options.small else (12, 12)
    name = "decoding_small" if options.small else "decoding"
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (FOLDER / f"{name}.pt2").exists():
        export(name, layers, heads)
    for words in options.words:
        found = {True: [], False: []}
        for _ in range(TURNS):
            for keeps in found:
                found[keeps] += times(name, layers, heads, words, options.threads, keeps)
        copied, grown = (statistics.median(found[keeps]) for keeps in (True, False))
        print(f"{words} words, {options.threads} threads: {copied:.2f} ms a token copied, {grown:.2f} ms grown in place, "
              f"{grown / copied:.2f}; least {min(found[True]):.2f} and {min(found[False]):.2f}")


main()
